//! What the operator can say to a flow. It is the same on the page's socket, on the control socket and in the machine.
//!
//! A verb has only what its operator can know. What the driving process adds, such as names of messages and texts that
//! are kept, comes to the machine beside it; what follows from a verb is in the journal as facts.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

pub use self::row::{AnsweredRequest, VerbRow, VerbSetting};
use crate::at::At;
use crate::fact::budget::Measure;
use crate::fact::improvement::ImprovementMode;
use crate::fact::operator::{ConsentMode, ConsentRules, SteerWhen, StopScope};
use crate::fact::session::{CompactionWish, Speaker};
use crate::hash::Hash;
use crate::id::{ApprovalId, ConsentId, NodeId, RoleInstance};

mod row;

/// What the operator wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Verb {
    /// Answer a node or a role that waits.
    Reply {
        /// Whom.
        to: Whom,
        /// What it says.
        text: String,
        /// The `since` of the question that this answers, and nothing that is asked later.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        asked: Option<At>,
    },
    /// Let a staged handoff through, exactly as it was emitted.
    Approve {
        /// Which; the only one if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        approval: Option<ApprovalId>,
    },
    /// Discard a staged handoff.
    Decline {
        /// Which; the only one if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        approval: Option<ApprovalId>,
        /// What to do instead; the role goes on with it and does not wait.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        reason: Option<String>,
    },
    /// Let a call run that asks for consent.
    Allow {
        /// Which request; the only one if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        consent: Option<ConsentId>,
        /// The hash of what was shown; an answer to anything else is refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        action: Option<Hash>,
        /// Whether the like is allowed for the rest of the flow.
        for_the_flow: bool,
    },
    /// Deny a call its consent.
    Deny {
        /// Which request; the only one if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        consent: Option<ConsentId>,
        /// The hash of what was shown; an answer to anything else is refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        action: Option<Hash>,
        /// What to do instead; the role goes on with it and does not wait.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        reason: Option<String>,
    },
    /// Say how much the flow may do without asking.
    Mode {
        /// How much.
        mode: ConsentMode,
    },
    /// Say beforehand what runs without asking and what never runs, or take it back.
    Rules {
        /// The rules.
        #[serde(deserialize_with = "strict_rules")]
        rules: ConsentRules,
        /// Whether these are taken back.
        back: bool,
    },
    /// Choose a role's model, effort and so on. What is not named stays as it is.
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
        /// How; a model summarises the present node, and its summary replaces everything, if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        how: Option<CompactionWish>,
    },
    /// Call a flow or a chat something else.
    Title {
        /// What it is called.
        title: String,
    },
    /// Close a chat: it takes no messages until it is opened again.
    Close {
        /// The role instance.
        role: RoleInstance,
        /// Whether a turn that is open is stopped.
        force: bool,
    },
    /// Open a chat that was closed; its next incarnation begins.
    Open {
        /// The role instance.
        role: RoleInstance,
    },
    /// Put a message into a role's session. No turn begins with it, and while one is open it waits.
    Inject {
        /// The role instance.
        role: RoleInstance,
        /// Whose the message is.
        speaker: Speaker,
        /// The message.
        text: String,
    },
    /// Leave the oldest messages of a role's session out; an archive keeps them.
    Trim {
        /// The role instance.
        role: RoleInstance,
        /// How many of the last messages stay at least.
        keep: u64,
    },
    /// Let a role's session begin anew; an archive keeps what it held.
    Reset {
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
    Pause {},
    /// Go on after a pause.
    Unpause {},
    /// End the flow before it is done.
    Cancel {
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        why: Option<String>,
    },
    /// Take a stopped or failed turn again.
    Retry {
        /// Whose.
        to: Whom,
    },
    /// Make a request at once that failed and is made again after a while. It leads to no record
    /// of its own; the next request does.
    RetryNow {
        /// Whose.
        to: Whom,
    },
    /// Run a node again that is done.
    Reopen {
        /// The node.
        node: NodeId,
        /// A note about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
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
    /// Make a finding a proposed change of a file of the project.
    Propose {
        /// Whose finding.
        role: RoleInstance,
        /// The file, from the project's folder.
        path: String,
        /// The file as it would be.
        text: String,
    },
    /// Apply a proposed change to a file of the project, or decline it.
    Change {
        /// Which; the only one if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        change: Option<String>,
        /// Whether it is applied.
        applied: bool,
    },
    /// Say whether a report is written.
    Feedback {
        /// Whether.
        granted: bool,
    },
}

/// Whom a verb means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Whom {
    /// A node.
    Node(NodeId),
    /// A role instance.
    Role(RoleInstance),
    /// The only one that waits.
    Only,
}

/// Journals may say more about rules one day; a client says what is known.
fn strict_rules<'de, D: Deserializer<'de>>(from: D) -> Result<ConsentRules, D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Strict {
        #[serde(default)]
        allow: Vec<String>,
        #[serde(default)]
        deny: Vec<String>,
    }
    let Strict { allow, deny } = Strict::deserialize(from)?;
    // A rule counts once, however often a client sends it.
    let mut rules = ConsentRules::default();
    rules.add(&ConsentRules { allow, deny });
    Ok(rules)
}

#[cfg(test)]
mod tests;
