//! What the server says.

use std::collections::BTreeMap;

use super::ask::Ask;
use super::feed::{FeedState, Item};
use super::flow::{ChangeView, EdgeView, FlowHead, FlowState, ImprovementView, NodeView, RoleView};
use super::row::{Decided, FlowRow, InboxState};
use super::wire;

wire! {
    /// One message of the server; one text frame.
    #[serde(tag = "t", rename_all = "snake_case")]
    pub(crate) enum Down {
        /// The first one.
        Hello {
            /// The version of the protocol.
            proto: u32,
            /// The version of the program.
            build: String,
            /// This run of the server. The inbox counts anew with each.
            epoch: String,
            /// The workspace.
            workspace: String,
            /// What time it is here.
            now: String,
            /// Whether what is shown is happening.
            mode: Mode,
        },
        /// All there is to know, when the browser's cursor does not help.
        Snap {
            /// The subscription.
            id: u64,
            /// Up to which record.
            seq: u64,
            /// The epoch of the topic.
            epoch: String,
            /// What.
            state: State,
        },
        /// What changed.
        Ev {
            /// The subscription.
            id: u64,
            /// After which record.
            from: u64,
            /// Up to and with which record.
            to: u64,
            /// When the last of them was recorded.
            at: String,
            /// What.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[cfg_attr(test, ts(optional))]
            put: Option<Put>,
        },
        /// Everything that was recorded when the subscription began is sent.
        CaughtUp {
            /// The subscription.
            id: u64,
            /// Up to which record.
            seq: u64,
            /// The last record there is.
            head: u64,
        },
        /// Text that streams.
        Delta {
            /// The subscription.
            id: u64,
            /// The item it belongs to.
            item: String,
            /// How many bytes of its text come before.
            offset: u64,
            /// The text.
            text: String,
        },
        /// The result of a command.
        Ack(Ack),
        /// A subscription is over.
        Gone {
            /// Which.
            id: u64,
            /// Why.
            why: String,
        },
        /// The answer to a ping.
        Pong {
            /// What was sent.
            n: u64,
        },
    }

    /// Whether what is shown is happening.
    #[derive(Copy)]
    #[serde(rename_all = "snake_case")]
    pub enum Mode {
        /// It is.
        Live,
        /// It is played back.
        Replay,
        /// It is read from one file.
        File,
    }

    /// All there is to know of a topic.
    #[serde(untagged)]
    pub(crate) enum State {
        /// Of the inbox.
        Inbox(Box<InboxState>),
        /// Of a flow.
        Flow(Box<FlowState>),
        /// Of a feed.
        Feed(Box<FeedState>),
    }

    /// What changed.
    #[serde(untagged)]
    pub(crate) enum Put {
        /// Items of a feed: each takes the place of the one with its id, or comes last.
        Items(Vec<Item>),
        /// Parts by key: each takes the place of what the key had; `null` removes it.
        Parts(BTreeMap<String, Option<Part>>),
    }

    /// A part of a state.
    #[serde(untagged)]
    pub(crate) enum Part {
        /// `flow/{project}/{flow}` of the inbox.
        Row(Box<FlowRow>),
        /// `ask/{id}`.
        Ask(Box<Ask>),
        /// `flow` of a flow.
        Head(Box<FlowHead>),
        /// `order` of a flow.
        Order(Vec<String>),
        /// `node/{id}`.
        Node(Box<NodeView>),
        /// `edge/{from}/{to}`.
        Edge(Box<EdgeView>),
        /// `role/{instance}`.
        Role(Box<RoleView>),
        /// `improvement`.
        Improvement(Box<ImprovementView>),
        /// `change/{id}`.
        Change(Box<ChangeView>),
        /// `decided` of the inbox.
        Decided(Vec<Decided>),
    }

    /// An error, in the operator's words.
    pub struct Fault {
        /// The kind.
        pub code: String,
        /// What happened.
        pub what: String,
        /// Why.
        pub why: String,
        /// What to try.
        pub r#try: String,
    }
}

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) enum Ack {
    /// It was done, and is durable.
    Done {
        /// The browser's name for it.
        cmd: String,
        /// Always true.
        #[cfg_attr(test, ts(type = "true"))]
        ok: True,
        /// The last record of the flow.
        seq: u64,
        /// How many facts followed; none if it had counted before.
        facts: u64,
        /// The flow that a fork began.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        flow: Option<super::row::FlowRef>,
        /// What of it did not come about, in words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        note: Option<Fault>,
    },
    /// It was not.
    Failed {
        /// The browser's name for it.
        cmd: String,
        /// Always false.
        #[cfg_attr(test, ts(type = "false"))]
        ok: False,
        /// Why.
        error: Fault,
    },
}

macro_rules! constant {
    ($(#[$doc:meta])+ $name:ident = $value:literal) => {
        $(#[$doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $name;

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_bool($value)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let said = <bool as serde::Deserialize>::deserialize(from)?;
                if said == $value {
                    return Ok(Self);
                }
                Err(serde::de::Error::custom(concat!("expected ", $value)))
            }
        }
    };
}

constant!(
    /// `true`, and nothing else.
    True = true
);
constant!(
    /// `false`, and nothing else.
    False = false
);
