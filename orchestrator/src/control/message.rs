//! The operator's commands to a flow, as they travel between processes: one JSON object a line.
//!
//! It is the operator's part of the machine's inputs, without names that only the driving process can
//! mint. The version is in every request, and an unknown one is refused in words.

use std::collections::BTreeMap;

use a_society_facts::fact::budget::Measure;
use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::fact::operator::{ConsentMode, ConsentRules, SteerWhen, StopScope};
use a_society_facts::id::{ApprovalId, ClientId, ConsentId, NodeId, RoleInstance, Seq};
use a_society_facts::{At, Hash};
use serde::{Deserialize, Serialize};

/// The version of the protocol.
pub const VERSION: u32 = 1;

/// What the operator wants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// Answer a node or a role that waits.
    Reply {
        /// Whom.
        to: Whom,
        /// What it says.
        text: String,
        /// Since when what it answers was asked, if it is an answer to nothing else.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asked: Option<At>,
    },
    /// Let a staged handoff through.
    Approve {
        /// Which; the only one if absent.
        approval: Option<ApprovalId>,
    },
    /// Discard a staged handoff.
    Decline {
        /// Which; the only one if absent.
        approval: Option<ApprovalId>,
        /// What to do instead; the role goes on with it and does not wait.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Let a call run that asks for consent.
    Allow {
        /// Which request; the only one if absent.
        consent: Option<ConsentId>,
        /// The hash of what the operator saw; an answer to anything else is refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        action: Option<Hash>,
        /// Whether the like is allowed for the rest of the flow.
        for_the_flow: bool,
    },
    /// Deny a call its consent.
    Deny {
        /// Which request; the only one if absent.
        consent: Option<ConsentId>,
        /// The hash of what the operator saw; an answer to anything else is refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        action: Option<Hash>,
        /// What to do instead; the role goes on with it and does not wait.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Say how much the flow may do without asking.
    Mode {
        /// How much.
        mode: ConsentMode,
    },
    /// Say beforehand what may run or never does, or take that back.
    Rules {
        /// The rules.
        rules: ConsentRules,
        /// Whether they no longer count.
        back: bool,
    },
    /// Choose a role's model, effort and so on.
    Configure {
        /// The role instance.
        role: RoleInstance,
        /// Its settings.
        settings: BTreeMap<String, String>,
    },
    /// Set, raise or lift a budget.
    Budget {
        /// Whose; the whole flow's if absent.
        role: Option<RoleInstance>,
        /// Of what.
        measure: Measure,
        /// The limit; none if absent.
        limit: Option<u64>,
    },
    /// Say something to a role at work.
    Steer {
        /// The role instance.
        role: RoleInstance,
        /// What it says.
        text: String,
        /// When the role gets it.
        when: SteerWhen,
    },
    /// Compact a role's session: a summary replaces its history.
    Compact {
        /// The role instance.
        role: RoleInstance,
    },
    /// Put an archived history back in the place of its summary.
    Restore {
        /// The role instance.
        role: RoleInstance,
        /// The archive.
        archive: String,
    },
    /// Stop turns.
    Stop {
        /// Which.
        scope: StopScope,
    },
    /// Start nothing new.
    Pause,
    /// Go on after a pause.
    Unpause,
    /// End the flow before it is done.
    Cancel {
        /// Why.
        why: Option<String>,
    },
    /// Take a stopped or failed turn again.
    Retry {
        /// Whose.
        to: Whom,
    },
    /// Try a request at once that waits for its provider. No fact follows.
    RetryNow {
        /// Whose.
        to: Whom,
    },
    /// Run a node again that is done.
    Reopen {
        /// The node.
        node: NodeId,
        /// A note about it.
        note: Option<String>,
    },
    /// Walk another graph from now on.
    Revise {
        /// The flow file, byte for byte.
        source: String,
    },
    /// Choose how roles reflect.
    Improve {
        /// How.
        mode: ImprovementMode,
    },
    /// Make a finding a proposed change to a file of the project.
    Propose {
        /// Whose finding.
        role: RoleInstance,
        /// The file, relative to the project.
        path: String,
        /// The file as it would be.
        text: String,
    },
    /// Apply a proposed change, or decline it.
    Change {
        /// Which; the only one if absent.
        change: Option<String>,
        /// Whether it is applied.
        applied: bool,
    },
    /// Say whether a feedback report is written.
    Feedback {
        /// Whether.
        granted: bool,
    },
}

/// Whom a command means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Whom {
    /// A node.
    Node(NodeId),
    /// A role instance.
    Role(RoleInstance),
    /// The only one that waits.
    Only,
}

/// A command on its way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The version.
    pub v: u32,
    /// The client's name for the command; a repeated one does not count again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
    /// The command.
    pub command: Command,
}

/// The result of a command: it is durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// The last record of the flow.
    pub seq: Seq,
    /// How many facts followed; none if it had counted before, or leads to none.
    pub facts: usize,
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It was done.
    Ok(Taken),
    /// It was not.
    Error(Fault),
}

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{what}: {why}")]
pub struct Fault {
    /// The kind.
    pub code: FaultCode,
    /// What happened.
    pub what: String,
    /// Why.
    pub why: String,
    /// What to try.
    pub r#try: String,
}

/// The kinds of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultCode {
    /// The flow does not take it in its present state.
    CommandRefused,
    /// It could mean several.
    CommandAmbiguous,
    /// The revised flow file cannot be used.
    FlowFileUnfit,
    /// The message makes no sense.
    MessageUnfit,
    /// The message is of another version.
    NewerVersion,
    /// The flow has no driver any more.
    FlowGone,
    /// The disk is full.
    DiskFull,
    /// The disk or the system failed.
    DiskFailed,
    /// A kind that this version does not know.
    #[serde(other)]
    Unknown,
}
