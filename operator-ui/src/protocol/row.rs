//! A flow in the list of all flows.

use super::wire;

wire! {
    /// Which flow.
    #[derive(PartialOrd, Ord, Hash)]
    pub struct FlowRef {
        /// The project.
        pub project: String,
        /// The flow's id.
        pub flow: String,
    }

    /// A flow in the list.
    pub(crate) struct FlowRow {
        /// The project.
        pub project: String,
        /// The flow's id.
        pub flow: String,
        /// How people call it.
        pub title: String,
        /// The word for its state.
        pub status: String,
        /// Which part of its life it is in.
        pub phase: Phase,
        /// How many things wait for the operator.
        pub waits: u64,
        /// How many nodes, or roles that reflect, are at work.
        pub running: u64,
        /// How many nodes are done.
        pub nodes_done: u64,
        /// How many nodes there are.
        pub nodes: u64,
        /// How many role instances there are.
        pub roles: u64,
        /// When it was created.
        pub created_at: String,
        /// When the last fact was recorded.
        pub updated_at: String,
        /// The last record.
        pub seq: u64,
        /// Tokens spent.
        pub tokens: u64,
        /// Money spent, in millionths of its unit.
        pub cost_micros: u64,
        /// The flow it is a fork of.
        pub parent: Option<Parent>,
        /// What was lost or damaged, one sentence each.
        pub damage: Vec<String>,
        /// Where its journal cannot be read any further; absent where it can be read to its end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub harm: Option<JournalHarm>,
        /// Who drives it.
        pub driven_by: Option<DrivenBy>,
        /// Whether nothing of it will run any more.
        pub over: bool,
        /// Whether it is unfinished and has no driver.
        pub stopped: bool,
        /// What it is doing now.
        pub standing: Doing,
        /// When it goes on by itself, if nothing of it does before.
        pub again: Option<Again>,
        /// Whether it is a chat.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(test, ts(as = "Option<bool>", optional))]
        pub chat: bool,
        /// What its graph is called in its file; absent where only the flow's summary is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub workflow: Option<String>,
        /// Servers of tools that did not start, so that roles work without them now.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(test, ts(as = "Option<Vec<AbsentServer>>", optional))]
        pub absent: Vec<AbsentServer>,
    }

    /// How far a journal can be read that is damaged, or that a newer version wrote.
    pub(crate) struct JournalHarm {
        /// Whether a newer version of the program wrote it.
        pub newer: bool,
        /// The first record that cannot be read.
        pub record: u64,
    }

    /// A server of tools that a role works without.
    pub(crate) struct AbsentServer {
        /// The role.
        pub role: String,
        /// The server.
        pub server: String,
        /// Why it did not start.
        pub why: String,
    }

    /// What a flow is doing now, as every screen says it.
    #[derive(Copy)]
    #[serde(rename_all = "kebab-case")]
    pub(crate) enum Doing {
        /// A role is at work, or is about to be.
        Working,
        /// Every role that is at work waits until its request is sent again.
        Retrying,
        /// It waits for a limit of a provider to reset.
        Limited,
        /// Every role that is at work waits until its session is compacted.
        Compacting,
        /// It waits for the operator.
        Waiting,
        /// It is a chat, and its person speaks next.
        YourTurn,
        /// It is a chat that was closed.
        Closed,
        /// The operator paused it.
        Paused,
        /// There is work, and no process does it.
        Stopped,
        /// Its journal cannot be read to its end.
        Damaged,
        /// The ledger that several machines share does not answer.
        Unreachable,
        /// It is done.
        Completed,
        /// It was called off.
        Cancelled,
    }

    /// Something that goes on by itself at its time.
    pub(crate) struct Again {
        /// When.
        pub at: String,
        /// Whether a limit of a provider resets then; else a request that failed is sent again.
        pub limit: bool,
        /// The provider that lets the request wait: another role met its limit, or its model fails.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub held_by: Option<String>,
        /// Whether its model failed too often in a row.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(test, ts(as = "Option<bool>", optional))]
        pub failing: bool,
        /// Why the request failed that is sent again, in words; absent where it has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub why: Option<String>,
    }

    /// The flow that another is a fork of.
    pub(crate) struct Parent {
        /// Its id.
        pub flow: String,
        /// Up to which record the two are one.
        pub at_seq: u64,
    }

    /// Who drives a flow.
    #[derive(Copy)]
    #[serde(rename_all = "snake_case")]
    pub(crate) enum DrivenBy {
        /// The process that serves the page.
        Server,
        /// Another process.
        Other,
    }

    /// The parts of a flow's life.
    #[derive(Copy)]
    #[serde(rename_all = "snake_case")]
    pub(crate) enum Phase {
        /// The graph is walked.
        Forward,
        /// The operator chooses how roles reflect.
        ImprovementChoice,
        /// Roles reflect.
        Improving,
        /// The operator says whether a report is written.
        FeedbackConsent,
        /// The report is written.
        Feedback,
        /// Everything is done.
        Completed,
        /// It was ended before it was done.
        Cancelled,
    }

    /// A decision that was made.
    pub(crate) struct Decided {
        /// When.
        pub at: String,
        /// In which flow.
        pub flow: FlowRef,
        /// For which role.
        pub role: Option<String>,
        /// What was decided, in a few words.
        pub words: String,
        /// What it was about.
        pub detail: String,
    }

    /// All flows, and everything that waits for the operator.
    pub(crate) struct InboxState {
        /// The flows, by `{project}/{flow}`.
        pub flows: std::collections::BTreeMap<String, FlowRow>,
        /// What waits, by its id.
        pub asks: std::collections::BTreeMap<String, super::ask::Ask>,
        /// The last decisions, newest first.
        pub decided: Vec<Decided>,
    }
}
