//! Facts about a flow as a whole: that it exists, what it walks, that it pauses, ends or forks.

use serde::{Deserialize, Serialize};

use crate::fact::chat::ChatTerms;
use crate::fact::improvement::ImprovementMode;
use crate::fact::operator::{ConsentMode, ConsentRules};
use crate::handoff::EdgeName;
use crate::id::{ClientId, FlowId, NodeId, ProjectName, RoleInstance, Seq};
use crate::message::Text;

/// What the facts need to know of a graph: its nodes, its edges, and the file it was read from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Outline {
    /// The name of the workflow.
    pub name: String,
    /// Its nodes, in the order of the file.
    pub nodes: Vec<NodeOutline>,
    /// Its edges, in the order of the file.
    pub edges: Vec<EdgeOutline>,
    /// The file, byte for byte.
    pub source: Text,
}

/// A node, as far as facts speak of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeOutline {
    /// Its id.
    pub id: NodeId,
    /// Who takes it.
    pub role: RoleInstance,
    /// Whether its forward handoffs wait for the operator's word.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub human_colab: bool,
    /// Whether it waits for every inbound edge.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub await_all_inputs: bool,
}

/// An edge, as far as facts speak of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EdgeOutline {
    /// Its ends.
    #[serde(flatten)]
    pub edge: EdgeName,
    /// Whether closing may leave it unused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
}

/// How a flow is to end, as far as it is chosen beforehand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ends {
    /// How roles reflect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub improve: Option<ImprovementMode>,
    /// Whether a report is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<bool>,
}

impl Ends {
    /// Whether nothing is chosen.
    #[must_use]
    pub(crate) fn is_open(&self) -> bool {
        *self == Self::default()
    }

    /// These, and where they leave something open, those.
    #[must_use]
    pub fn or(self, those: Self) -> Self {
        Self {
            improve: self.improve.or(those.improve),
            feedback: self.feedback.or(those.feedback),
        }
    }
}

/// The budget of tokens with which a flow begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenBudget {
    /// None, whatever its file says.
    Unlimited,
    /// So many tokens.
    AtMost(u64),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowCreated {
    /// The project it works on.
    pub project: ProjectName,
    /// How people call it.
    pub title: String,
    /// What it was asked to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Text>,
    /// The graph it walks.
    pub graph: Outline,
    /// Where the graph was read from, as the operator named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Whether the graph is a draft that one owner node still has to write.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub draft: bool,
    /// How it is to end, which is then not asked.
    #[serde(default, skip_serializing_if = "Ends::is_open")]
    pub ends: Ends,
    /// The tokens it may use; if absent, what its file says, or as many as it wants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenBudget>,
    /// How much it may do without asking; if absent, it asks every time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ConsentMode>,
    /// The operator's standing rules.
    #[serde(default, skip_serializing_if = "ConsentRules::is_empty")]
    pub rules: ConsentRules,
    /// That it is a chat, and which; absent for a flow that walks its graph to an end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<Box<ChatTerms>>,
    /// The client's name for the command that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowForked {
    /// The flow whose journal this one begins with.
    pub parent: FlowId,
    /// The last record they share.
    pub at_seq: Seq,
    /// What the fork is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowTitled {
    /// The new title.
    pub title: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EndsChosen {
    /// What is chosen; the rest stays as it was.
    pub ends: Ends,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GraphRevised {
    /// The graph from now on.
    pub graph: Outline,
    /// Who wrote the revision.
    pub by: FactAuthor,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

/// Who did something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactAuthor {
    /// The operator.
    Operator,
    /// A role, through its tools.
    Role(RoleInstance),
    /// The runtime.
    Runtime,
}

/// Why a flow starts nothing new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PauseReason {
    /// The operator asked for it.
    Operator,
    /// The disk is full.
    DiskFull,
    /// A budget is used up.
    Budget,
    /// A call that cannot be undone has an unknown outcome.
    Irreversible,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowPaused {
    /// Why.
    pub reason: PauseReason,
    /// More of it, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowUnpaused {
    /// Who let it go on.
    pub by: FactAuthor,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowCancelled {
    /// Who ended it.
    pub by: FactAuthor,
    /// Why, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForwardPassClosed {
    /// The node that closed it.
    pub node: NodeId,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowCompleted {}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeReopened {
    /// The node that runs again.
    pub node: NodeId,
    /// What the operator says about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Text>,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeRetried {
    /// The node whose turn starts again.
    pub node: NodeId,
    /// Whether its time had come, without a command.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_time: bool,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}
