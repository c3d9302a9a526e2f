//! What the operator wants, as a browser says it.

use std::collections::BTreeMap;

use super::ask::ImprovementMode;
use super::flow::ConsentMode;
use super::wire;

wire! {
    /// What the operator wants.
    #[serde(tag = "do", rename_all = "snake_case")]
    pub enum Command {
        /// Answer a node or a role that waits.
        Reply {
            /// Whom.
            to: Whom,
            /// What it says.
            text: String,
            /// The `since` of the question that this answers, and nothing that is asked later.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[cfg_attr(test, ts(optional))]
            asked: Option<String>,
        },
        /// Let a staged handoff through.
        Approve {
            /// Which.
            approval: String,
        },
        /// Discard a staged handoff.
        Decline {
            /// Which.
            approval: String,
            /// The reason for the role.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[cfg_attr(test, ts(optional))]
            reason: Option<String>,
        },
        /// Let a call run that asks for consent.
        Allow {
            /// Which request.
            consent: String,
            /// The hash of what was shown.
            action: String,
            /// Whether the like is allowed for the rest of the flow.
            for_the_flow: bool,
        },
        /// Deny a call its consent.
        Deny {
            /// Which request.
            consent: String,
            /// The hash of what was shown.
            action: String,
            /// The reason for the role.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[cfg_attr(test, ts(optional))]
            reason: Option<String>,
        },
        /// Set how much the flow may do without asking.
        Mode {
            /// How much.
            mode: ConsentMode,
        },
        /// Say beforehand what runs without asking and what never runs, or take it back.
        Rules {
            /// What runs without asking.
            allow: Vec<String>,
            /// What never runs.
            deny: Vec<String>,
            /// Whether these are taken back.
            back: bool,
        },
        /// Choose a role's model, effort and so on.
        Configure {
            /// The role instance.
            role: String,
            /// Its settings.
            settings: BTreeMap<String, String>,
        },
        /// Set, raise or lift a budget.
        Budget {
            /// Whose; the whole flow's if absent.
            role: Option<String>,
            /// Of what.
            measure: Measure,
            /// The limit; none if absent.
            limit: Option<u64>,
        },
        /// Say something to a role at work.
        Steer {
            /// The role instance.
            role: String,
            /// What it says.
            text: String,
            /// When the role gets it.
            when: When,
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
            node: String,
            /// A note for the role.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[cfg_attr(test, ts(optional))]
            note: Option<String>,
        },
        /// Walk another graph from now on.
        Revise {
            /// The flow file.
            source: String,
        },
        /// Choose how roles reflect.
        Improve {
            /// How.
            mode: ImprovementMode,
        },
        /// Say whether a report is written.
        Feedback {
            /// Whether.
            granted: bool,
        },
        /// Put a summary in the place of a session's history.
        Compact {
            /// The role instance.
            role: String,
        },
        /// Put an archived history back in the place of its summary.
        Restore {
            /// The role instance.
            role: String,
            /// The archive.
            archive: String,
        },
        /// Make a finding a proposed change of a file of the project.
        Propose {
            /// Whose finding.
            role: String,
            /// The file, from the project's folder.
            path: String,
            /// The file as it would be.
            text: String,
        },
        /// Apply a proposed change to a file of the project, or decline it.
        Change {
            /// Which.
            change: String,
            /// Whether it is applied.
            applied: bool,
        },
        /// Let this server drive a flow without a driver.
        Resume {
            /// A note for the interrupted role.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[cfg_attr(test, ts(optional))]
            note: Option<String>,
        },
        /// Begin another flow that shares this one's records up to one of them.
        Fork {
            /// The last record they share.
            at: u64,
            /// How the other is called.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[cfg_attr(test, ts(optional))]
            name: Option<String>,
            /// The first message to it.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[cfg_attr(test, ts(optional))]
            first_message: Option<String>,
        },
    }

    /// Whom a command means.
    #[serde(rename_all = "snake_case")]
    pub enum Whom {
        /// A node.
        Node(String),
        /// A role instance.
        Role(String),
        /// The only one that waits.
        Only,
    }

    /// What is bounded.
    #[derive(Copy)]
    #[serde(rename_all = "snake_case")]
    pub enum Measure {
        /// Tokens.
        Tokens,
        /// Money, in millionths of its unit.
        CostMicros,
        /// Turns.
        Turns,
        /// Milliseconds of work.
        WallMs,
    }

    /// When a role at work gets a message.
    #[derive(Copy)]
    #[serde(rename_all = "snake_case")]
    pub enum When {
        /// With the next request of its turn, else with the first of its next turn.
        NextTurn,
        /// At once; what it says is cut off.
        Now,
    }

    /// Which turns are stopped.
    #[serde(rename_all = "snake_case")]
    pub enum StopScope {
        /// A node's.
        Node(String),
        /// A role instance's.
        Role(String),
        /// All.
        All,
    }
}
