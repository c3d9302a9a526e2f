//! One flow, by keys: its head, nodes, edges, roles, questions and improvement.

use std::collections::BTreeMap;

use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::fact::operator::ConsentMode;

use super::ask::{ArtifactRef, Ask};
use super::feed::Task;
use super::row::{Again, FlowRow};
use super::wire;

wire! {
    /// Everything about a flow that is shown beside the feeds.
    pub(crate) struct FlowState {
        /// The flow itself.
        pub flow: FlowHead,
        /// Its nodes in the order of the graph.
        pub order: Vec<String>,
        /// Its nodes.
        pub nodes: BTreeMap<String, NodeView>,
        /// Its edges, by `{from}/{to}`.
        pub edges: BTreeMap<String, EdgeView>,
        /// Its role instances.
        pub roles: BTreeMap<String, RoleView>,
        /// What waits for the operator.
        pub asks: BTreeMap<String, Ask>,
        /// The improvement phase, once it is chosen.
        pub improvement: Option<ImprovementView>,
        /// Proposed changes to files of the project.
        pub changes: BTreeMap<String, ChangeView>,
    }

    /// Why a flow is paused.
    pub(crate) struct Paused {
        /// The kind of reason.
        pub reason: String,
        /// More about it.
        pub detail: Option<String>,
    }

    /// A node.
    pub(crate) struct NodeView {
        /// Its id.
        pub id: String,
        /// Whose it is.
        pub role: String,
        /// What is to be done at it.
        pub work: Vec<String>,
        /// Whether its handoffs wait for the operator.
        pub human_colab: bool,
        /// Whether it waits for all of its inputs.
        pub await_all: bool,
        /// Its state.
        pub state: NodeState,
        /// The same in words.
        pub words: String,
        /// What it does now.
        pub live: Option<String>,
        /// Since when it has this state.
        pub since: Option<String>,
        /// How long its turns took together, once it is over.
        pub took_ms: Option<u64>,
        /// Its last turn, counted among those of its role.
        pub turn: Option<u64>,
        /// Which try at the turn it is.
        pub attempt: Option<u64>,
        /// When it goes on by itself, if it waits for that.
        pub again: Option<Again>,
        /// Whether it mends what came back.
        pub correction: bool,
        /// How far it is from the beginning.
        pub rank: u64,
        /// The record that changed it last.
        pub seq: u64,
    }

    /// The state of a node.
    #[derive(Copy)]
    #[serde(rename_all = "kebab-case")]
    pub enum NodeState {
        /// Nothing arrived.
        NotReached,
        /// It will run as soon as it may.
        Ready,
        /// Its role is at work.
        Running,
        /// It waits for the operator.
        NeedsYou,
        /// It waits for something to come back.
        Suspended,
        /// It handed over all it owes.
        Done,
        /// Its turn failed, and it waits for the operator.
        Failed,
        /// It was interrupted, and the flow has no driver.
        Interrupted,
    }

    /// An edge.
    pub(crate) struct EdgeView {
        /// From which node.
        pub from: String,
        /// To which.
        pub to: String,
        /// Whether it may stay unused.
        pub optional: bool,
        /// Its state.
        pub state: EdgeState,
        /// What went along it, oldest first.
        pub forward: Vec<Passed>,
        /// What came back along it, oldest first.
        pub backward: Vec<Passed>,
        /// Whether something that came back is not answered yet.
        pub open_correction: bool,
    }

    /// The state of an edge.
    #[derive(Copy)]
    #[serde(rename_all = "kebab-case")]
    pub(crate) enum EdgeState {
        /// Nothing went along it.
        NotYet,
        /// What went along it counts.
        Delivered,
        /// What went along it was sent back.
        Stale,
    }

    /// Something that went along an edge.
    pub(crate) struct Passed {
        /// What.
        pub artifact: ArtifactRef,
        /// The record.
        pub seq: u64,
        /// When.
        pub at: String,
        /// When something newer took its place.
        pub superseded_at: Option<String>,
        /// Whether its receiver has read it.
        pub read: bool,
    }

    /// A role instance.
    pub(crate) struct RoleView {
        /// Its name.
        pub instance: String,
        /// The role it is an instance of.
        pub base: String,
        /// Its state.
        pub state: RoleState,
        /// The node it is at.
        pub node: Option<String>,
        /// Its open turn, counted among its own.
        pub turn: Option<u64>,
        /// Who takes its turns: a model's name, `script`, `you` or `command`.
        pub executor: String,
        /// Its settings.
        pub settings: BTreeMap<String, String>,
        /// How much of the window is filled.
        pub context_tokens: u64,
        /// The window.
        pub window_tokens: Option<u64>,
        /// Tokens spent.
        pub tokens: u64,
        /// Money spent, in millionths of its unit.
        pub cost_micros: u64,
        /// Turns taken.
        pub turns: u64,
        /// What it may spend, by measure.
        pub limits: BTreeMap<String, u64>,
        /// Its archives.
        pub archives: Vec<String>,
        /// How many items its feed has.
        pub items: u64,
        /// The record that changed its feed last.
        pub last_seq: u64,
        /// Messages to it that it has not got yet.
        pub queued: Vec<String>,
        /// Its task list, as it wrote it last.
        pub tasks: Vec<Task>,
        /// The servers of tools it uses.
        pub mcp: Vec<String>,
        /// How far its tools reach, in words; absent if it has none or the operator's own
        /// configuration is not known.
        pub reach: Option<String>,
        /// When its last request, which failed, is made again by itself; absent if none waits so.
        pub retry_at: Option<String>,
        /// How many items of its feed ask for attention.
        pub unread_hint: u64,
    }

    /// The state of a role instance.
    #[derive(Copy)]
    #[serde(rename_all = "kebab-case")]
    pub(crate) enum RoleState {
        /// It has nothing to do.
        Idle,
        /// It is at work.
        Running,
        /// It waits for the operator.
        NeedsYou,
        /// It waits for something to come back.
        AwaitingHandoff,
        /// It waits for a limit of its provider to reset.
        Limited,
        /// It reflects.
        Reflecting,
        /// All of its nodes are done.
        Done,
    }

    /// The improvement phase.
    pub(crate) struct ImprovementView {
        /// How roles reflect.
        #[cfg_attr(test, ts(type = "ImprovementMode"))]
        pub mode: ImprovementMode,
        /// The roles.
        pub roles: BTreeMap<String, ReflectingView>,
        /// The report.
        pub feedback: FeedbackView,
    }

    /// A role that reflects.
    pub(crate) struct ReflectingView {
        /// Its state.
        pub state: ReflectingState,
        /// Whom it waits for.
        pub depends_on: Vec<String>,
        /// Its findings.
        pub findings: Option<ArtifactRef>,
        /// The record that says so.
        pub seq: Option<u64>,
    }

    /// The state of a role that reflects.
    #[derive(Copy)]
    #[serde(rename_all = "kebab-case")]
    pub(crate) enum ReflectingState {
        /// It waits for others.
        Waiting,
        /// It reflects.
        Reflecting,
        /// It waits for the operator.
        NeedsYou,
        /// Its findings are written.
        Done,
    }

    /// The report.
    pub(crate) struct FeedbackView {
        /// Its state.
        pub state: FeedbackState,
        /// Where it is.
        pub path: Option<String>,
    }

    /// The state of the report.
    #[derive(Copy)]
    #[serde(rename_all = "kebab-case")]
    pub(crate) enum FeedbackState {
        /// The operator has not decided yet.
        Undecided,
        /// It is not wanted.
        Declined,
        /// It is being written.
        Writing,
        /// It is written.
        Done,
    }

    /// A proposed change to a file of the project.
    pub(crate) struct ChangeView {
        /// Its id.
        pub id: String,
        /// The file.
        pub file: String,
        /// Its state.
        pub state: ChangeState,
        /// Who proposed it.
        pub from_role: String,
        /// The record of the finding it came from.
        pub finding: Option<u64>,
    }

    /// The state of a proposed change.
    #[derive(Copy)]
    #[serde(rename_all = "kebab-case")]
    pub(crate) enum ChangeState {
        /// It waits.
        Proposed,
        /// It was applied.
        Applied,
        /// It was declined.
        Declined,
    }
}

/// The flow itself.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct FlowHead {
    /// What the list says of it.
    #[serde(flatten)]
    pub row: FlowRow,
    /// What it was started with.
    pub input: Option<String>,
    /// Where its graph came from.
    pub origin: Option<String>,
    /// Whether its graph is still a draft.
    pub draft: bool,
    /// How much may be done without asking.
    #[cfg_attr(test, ts(type = "ConsentMode"))]
    pub mode: ConsentMode,
    /// What need not be asked again, in words.
    pub grants: Vec<String>,
    /// The flow's own rules about what runs without asking.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<String>>", optional))]
    pub allow: Vec<String>,
    /// The flow's own rules about what never runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<String>>", optional))]
    pub deny: Vec<String>,
    /// Why it is paused.
    pub paused: Option<Paused>,
    /// What may be spent, by measure.
    pub limits: BTreeMap<String, u64>,
    /// How many tokens came from a cache; absent if the providers do not report it.
    pub cached_tokens: Option<u64>,
    /// The role of the first node.
    pub owner: Option<String>,
    /// The node that closes the flow.
    pub closing: Option<String>,
    /// Who drives it, in words.
    pub pid: Option<String>,
}
