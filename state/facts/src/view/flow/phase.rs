//! The state of the whole flow: its status, its pause, its improvement, what befell its journal.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::parts::{OperatorMessage, OperatorWait, is_none_yet};
use crate::at::At;
use crate::fact::flow::PauseReason;
use crate::fact::improvement::{ImprovementMode, Reflection};
use crate::handoff::Artifact;
use crate::hash::Hash;
use crate::id::{FlowId, RoleInstance, Seq, TurnId};
use crate::message::Text;

/// The status of a flow, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlowStatus {
    /// Nodes run or wait.
    #[default]
    Running,
    /// Nothing new is started.
    Paused(PauseReason),
    /// The forward work is done, and the operator must choose how roles reflect.
    AwaitingImprovementChoice,
    /// Roles reflect.
    Improving,
    /// The operator must decide whether a feedback report is written.
    AwaitingFeedbackConsent,
    /// The feedback report is being written.
    Feedback,
    /// Everything is done.
    Completed,
    /// It was ended before it was done.
    Cancelled,
}

impl FlowStatus {
    /// Whether nothing of the flow will run any more.
    #[must_use]
    pub fn is_over(self) -> bool {
        match self {
            Self::Completed | Self::Cancelled => true,
            Self::Running
            | Self::Paused(_)
            | Self::AwaitingImprovementChoice
            | Self::Improving
            | Self::AwaitingFeedbackConsent
            | Self::Feedback => false,
        }
    }

    /// The word that a listing shows.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused(_) => "paused",
            Self::AwaitingImprovementChoice => "awaiting_improvement_choice",
            Self::Improving => "improving",
            Self::AwaitingFeedbackConsent => "awaiting_feedback_consent",
            Self::Feedback => "feedback",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// How far a flow came. A pause does not change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlowPhase {
    /// The forward pass.
    #[default]
    Forward,
    /// The forward work is done, and the choice is open.
    ImprovementChoice,
    /// Roles reflect.
    Improving,
    /// Whether a report is written is open.
    FeedbackConsent,
    /// The report is being written.
    Feedback,
    /// Everything is done.
    Completed,
    /// It was ended.
    Cancelled,
}

impl FlowPhase {
    /// Whether nothing of the flow runs any more.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Cancelled)
    }

    /// The status of a flow that is in this phase and does not pause.
    #[must_use]
    pub fn status(self) -> FlowStatus {
        match self {
            Self::Forward => FlowStatus::Running,
            Self::ImprovementChoice => FlowStatus::AwaitingImprovementChoice,
            Self::Improving => FlowStatus::Improving,
            Self::FeedbackConsent => FlowStatus::AwaitingFeedbackConsent,
            Self::Feedback => FlowStatus::Feedback,
            Self::Completed => FlowStatus::Completed,
            Self::Cancelled => FlowStatus::Cancelled,
        }
    }
}

/// A pause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pause {
    /// Why.
    pub reason: PauseReason,
    /// More of it, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Since when.
    pub since: At,
}

/// Where a fork comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parentage {
    /// The flow whose journal this one begins with.
    pub flow: FlowId,
    /// The last record they share.
    pub at_seq: Seq,
}

/// The improvement phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Improvement {
    /// How roles reflect.
    pub mode: ImprovementMode,
    /// Which roles reflect, and on whose findings each depends.
    pub plan: Vec<Reflection>,
    /// The roles that began.
    pub roles: BTreeMap<RoleInstance, Reflecting>,
    /// The report.
    pub feedback: FeedbackReport,
}

impl Improvement {
    /// Whether every role of the plan wrote its findings.
    #[must_use]
    pub(crate) fn is_reflected(&self) -> bool {
        self.plan.iter().all(|reflection| {
            self.roles
                .get(&reflection.role)
                .is_some_and(|role| role.findings.is_some())
        })
    }
}

/// A role that reflects, or that writes the report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reflecting {
    /// Its last turn.
    pub turn: TurnId,
    /// Whether that turn began; a turn begins once.
    pub begun: bool,
    /// Whether the role got the packet of that turn.
    pub told: bool,
    /// How many turns it had for it before this one.
    #[serde(default, skip_serializing_if = "is_none_yet")]
    pub again: u32,
    /// What it wrote, once it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<Artifact>,
    /// The record that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
    /// Its wait for the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<OperatorWait>,
    /// The operator's replies that it has not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<OperatorMessage>,
    /// The replies that it reads now and has not got yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsaid: Vec<OperatorMessage>,
}

/// The feedback report.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FeedbackReport {
    /// Whether one is written, once that is decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted: Option<bool>,
    /// The dedicated role, once it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleInstance>,
    /// How far it came; its findings are the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Reflecting>,
}

impl FeedbackReport {
    /// The report, once it is written.
    #[must_use]
    pub fn report(&self) -> Option<&Artifact> {
        self.work.as_ref().and_then(|work| work.findings.as_ref())
    }
}

/// A proposed change to a file of the project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileChangeState {
    /// Whose finding led to it.
    pub role: RoleInstance,
    /// The file.
    pub path: String,
    /// The file's hash as the proposal found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Hash>,
    /// The record of the finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<Seq>,
    /// The file as it would be; let go once the proposal is decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Text>,
    /// When it was proposed.
    pub at: At,
    /// Whether it was applied, once that is decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<bool>,
}

/// Something that befell the journal and that the operator must know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    /// The record of it.
    pub seq: Seq,
    /// When.
    pub at: At,
    /// Its word: that of the fact.
    pub kind: String,
    /// One sentence for the operator.
    pub text: String,
    /// Whether something acknowledged may be missing.
    pub lossy: bool,
    /// The file under `quarantine/` that keeps what was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantine: Option<String>,
}
