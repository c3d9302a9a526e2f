//! What a browser says.

use super::command::Command;
use super::row::FlowRef;
use super::wire;

wire! {
    /// One message of a browser; one text frame.
    #[serde(tag = "t", rename_all = "snake_case")]
    pub(crate) enum Up {
        /// It wants to follow something.
        Sub {
            /// The browser's number for this.
            id: u64,
            /// What.
            topic: Topic,
            /// The last record it knows, if it knows any.
            since: Option<u64>,
            /// In which epoch that was.
            epoch: Option<String>,
            /// How many of the newest items a feed begins with.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[cfg_attr(test, ts(optional))]
            window: Option<u32>,
        },
        /// It no longer wants to.
        Unsub {
            /// Its number.
            id: u64,
        },
        /// It wants something to be done.
        Do {
            /// The browser's name for it; sent twice, it counts once.
            cmd: String,
            /// To which flow.
            flow: FlowRef,
            /// What.
            command: Command,
        },
        /// Whether anyone looks; if not, no text is streamed.
        Live {
            /// Whether.
            on: bool,
        },
        /// Whether anyone is there.
        Ping {
            /// Sent back.
            n: u64,
        },
    }

    /// What can be followed.
    #[serde(tag = "topic", rename_all = "snake_case")]
    #[derive(PartialOrd, Ord)]
    pub(crate) enum Topic {
        /// All flows, and what waits.
        Inbox {},
        /// One flow.
        Flow {
            /// Which.
            flow: FlowRef,
        },
        /// The feed of one role.
        Feed {
            /// Of which flow.
            flow: FlowRef,
            /// Of which role instance.
            role: String,
        },
    }
}
