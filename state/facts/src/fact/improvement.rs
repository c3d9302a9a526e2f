//! Facts about what comes after the forward pass: reflection, feedback, findings that lead on.

use serde::{Deserialize, Serialize};

use crate::handoff::Artifact;
use crate::hash::Hash;
use crate::id::{ClientId, MessageId, RoleInstance, Seq, TurnId};
use crate::message::Text;

/// How roles reflect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ImprovementMode {
    /// In the reverse order of the graph, each with the findings of its neighbours.
    #[serde(rename = "graph-based")]
    GraphBased,
    /// All at once, then the owner.
    #[serde(rename = "parallel")]
    Parallel,
    /// Not at all.
    #[serde(rename = "none")]
    None,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImprovementChosen {
    /// How.
    pub mode: ImprovementMode,
    /// Which roles reflect, and on whose findings each depends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plan: Vec<Reflection>,
    /// Whether it was chosen before the flow came to this.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beforehand: bool,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

/// One role's place in the phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reflection {
    /// The role instance.
    pub role: RoleInstance,
    /// The role instances whose findings it gets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<RoleInstance>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReflectionStarted {
    /// The role instance that reflects.
    pub role: RoleInstance,
    /// The turn.
    pub turn: TurnId,
    /// The operator's messages that are read now, when it goes on after a wait.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<MessageId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindingsRecorded {
    /// The role instance whose reflection ended.
    pub role: RoleInstance,
    /// The turn.
    pub turn: TurnId,
    /// The findings, at their assigned path.
    pub findings: Artifact,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeedbackDecided {
    /// Whether a report is written.
    pub granted: bool,
    /// Whether it was chosen before the flow came to this.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beforehand: bool,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeedbackStarted {
    /// The dedicated role.
    pub role: RoleInstance,
    /// The turn.
    pub turn: TurnId,
    /// The operator's messages that are read now, when it goes on after a wait.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<MessageId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeedbackRecorded {
    /// The turn.
    pub turn: TurnId,
    /// The report, at its assigned path.
    pub report: Artifact,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangeProposed {
    /// The proposal.
    pub change: String,
    /// The role instance whose finding led to it.
    pub role: RoleInstance,
    /// The file it would change, relative to the project.
    pub path: String,
    /// The file's hash as the proposal found it; absent for a new file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Hash>,
    /// The file as it would be.
    pub after: Text,
    /// The record of the finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<Seq>,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangeDecided {
    /// The proposal.
    pub change: String,
    /// Whether it was applied.
    pub applied: bool,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}
