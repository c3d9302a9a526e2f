//! Facts about nodes: who took them, what they handed over, what they wait for.

use serde::{Deserialize, Serialize};

use super::budget::Lack;
use super::older;
use super::terms::WaitingServer;
use crate::at::At;
use crate::handoff::{Delivery, EdgeName};
use crate::id::{ApprovalId, ClientId, ConsentId, MessageId, NodeId, RoleInstance, TurnId};
use crate::message::Text;
use crate::words::asks;

/// Why a node was entered, which decides what its packet says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeEntry {
    /// For the first time.
    First,
    /// Again, because something arrived or an edge is still owed.
    Again,
    /// Again, because a successor sent work back.
    Reopened,
    /// Because the operator replied.
    Reply,
    /// Because its role configuration is complete.
    Configured,
    /// Because it ran when the process ended.
    Recovered,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeClaimed {
    /// The node.
    pub node: NodeId,
    /// The role instance that takes it.
    pub role: RoleInstance,
    /// The turn that begins with it.
    pub turn: TurnId,
    /// Why.
    pub entry: NodeEntry,
    /// The edges whose artifacts are read now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub consumed: Vec<Inbound>,
    /// The edges whose forward artifact is dropped, because the node asked for it to be corrected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<EdgeName>,
    /// The operator's messages that are read now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<MessageId>,
}

/// One artifact that arrives at a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inbound {
    /// The forward edge it travels along.
    #[serde(flatten)]
    pub edge: EdgeName,
    /// Which way along it.
    pub way: crate::handoff::HandoffWay,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HandoffApplied {
    /// The node that hands over.
    pub node: NodeId,
    /// Its turn.
    pub turn: TurnId,
    /// To whom, with what. Empty at a node without outgoing edges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deliveries: Vec<Delivery>,
    /// The approval that let it through, if one had to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HandoffStaged {
    /// The question to the operator.
    pub approval: ApprovalId,
    /// The node that wants to hand over.
    pub node: NodeId,
    /// Its turn.
    pub turn: TurnId,
    /// To whom, with what.
    pub deliveries: Vec<Delivery>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HandoffDecided {
    /// The question.
    pub approval: ApprovalId,
    /// Whether it goes through, exactly as it was emitted.
    pub approved: bool,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HandoffAwaited {
    /// The node that waits for an inbound handoff.
    pub node: NodeId,
    /// The turn that asked for it.
    pub turn: TurnId,
}

/// What a node waits for that only the operator can give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum WaitReason {
    /// The role asked something.
    PromptHuman,
    /// The turn was stopped or failed.
    AutonomousAbort,
    /// A tool call needs consent.
    Consent,
    /// Consent was denied; the role needs guidance.
    ConsentDenied,
    /// The role's model or tools are to be chosen.
    RoleConfiguration,
    /// A staged handoff needs a word.
    HandoffApproval,
    /// The role did not manage a valid outcome.
    RepairLimit,
    /// A budget is used up.
    Budget,
    /// A provider needs a key, a model, or a limit to reset.
    Provider,
    /// A chat was answered, or has just begun; its person speaks next.
    Message,
}

/// What keeps a role from its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    /// The key is missing, wrong, or may not do this.
    Key,
    /// The money or the quota is used up.
    Credit,
    /// The provider has no such model.
    Model,
    /// The provider wants to be left alone for longer than a turn waits.
    Limit,
    /// What has to be sent is longer than the model's window.
    Window,
    /// The provider did not answer as one, however often it was asked.
    Unreachable,
    /// The provider does not accept the request.
    Refused,
    /// A server of tools has to be approved, or cannot be used.
    ToolServer,
    /// The configuration has to be mended.
    Configuration,
}

impl WaitReason {
    /// What would end it, to be read after "needs" or "waits for".
    #[must_use]
    pub const fn needs(self, trouble: Option<Trouble>) -> &'static str {
        match trouble {
            Some(trouble) => asks::trouble(trouble),
            None => asks::wait(self),
        }
    }

    /// Whether a request of the turn may have failed before the operator was asked.
    const fn is_of_a_failed_turn(self) -> bool {
        matches!(self, Self::AutonomousAbort | Self::Provider)
    }

    /// Whether the wait may end with another try at the turn, without a word to the role.
    #[must_use]
    pub const fn may_retry(self) -> bool {
        match self {
            Self::AutonomousAbort
            | Self::ConsentDenied
            | Self::RepairLimit
            | Self::Budget
            | Self::Provider
            // A model that was missing may be configured by now.
            | Self::RoleConfiguration => true,
            Self::PromptHuman | Self::Consent | Self::HandoffApproval | Self::Message => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeSuspended {
    /// The node, except in the improvement phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// Its role instance.
    pub role: RoleInstance,
    /// What it waits for.
    pub reason: WaitReason,
    /// What the operator should read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Text>,
    /// What may be chosen as the answer, where the role offers choices; the question ends with them, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// The budget that has to be raised, when it waits for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lack: Option<Lack>,
    /// What keeps it from its model, when it waits for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<Trouble>,
    /// The servers of tools that have to be approved, when it waits for that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<WaitingServer>,
    /// When it goes on by itself, because its provider named the time when its limit resets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<At>,
    /// The request for consent, when it waits for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent: Option<ConsentId>,
    /// The staged handoff, when it waits for a word about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalId>,
    /// Whether it asks about faults that the project had before the flow came here. That is asked once:
    /// after the answer the flow may close.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub about_project: bool,
    /// Whether the operator plays the role, and the turn is theirs. Journals of earlier versions say it in the
    /// question only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_turn: Option<bool>,
    /// How the operator is asked in a turn of theirs. Where it is absent the question has lines that only a model
    /// needs, and begins with why it is asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<OwnTurnAsked>,
    /// How the turn failed, when it waits because of that. Where it is absent the question may begin with the
    /// name of the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<TurnFailure>,
}

/// How a turn failed that waits for the operator; the question says it in words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnFailure {
    /// What kind of failure its request met, in one stable word; absent if no request failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
}

/// How the operator is asked in a turn of theirs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OwnTurnAsked {
    /// Why again, where an answer did not end the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<Text>,
}

/// A question with its choices, as it is recorded and as everyone reads it who does not know choices: each on a
/// numbered line below.
#[must_use]
pub fn with_choices(question: &str, choices: &[String]) -> String {
    let numbered = (1..).zip(choices);
    let lines = numbered.map(|(number, choice)| format!("\n{number}. {choice}"));
    let listed: String = lines.collect();
    if listed.is_empty() {
        return question.to_owned();
    }
    format!("{question}\n{listed}")
}

/// What the operator reads. Older questions of their own turns have lines that only a model needs, and those of
/// failed turns begin with the name of the failure.
pub(crate) fn words(
    reason: WaitReason,
    question: Option<&Text>,
    is_own_turn: bool,
    asked: Option<&OwnTurnAsked>,
    failed: Option<&TurnFailure>,
) -> Option<String> {
    let question = question?.shown();
    if is_own_turn && asked.is_none() {
        return Some(older::for_a_person(&question));
    }
    Some(match failed {
        None if reason.is_of_a_failed_turn() => older::failure(&question).1.to_owned(),
        None | Some(_) => question,
    })
}

/// What kind of failure a request met; older questions begin with it.
pub(crate) fn failure_class(
    reason: WaitReason,
    question: Option<&Text>,
    failed: Option<&TurnFailure>,
) -> Option<String> {
    if let Some(failed) = failed {
        return failed.class.clone();
    }
    let question = question.filter(|_| reason.is_of_a_failed_turn())?.shown();
    older::failure(&question).0
}

/// Why the operator is asked again; older questions of their own turns begin with it.
pub(crate) fn again(
    question: Option<&Text>,
    is_own_turn: bool,
    asked: Option<&OwnTurnAsked>,
) -> Option<String> {
    if let Some(asked) = asked {
        return asked.again.as_ref().map(Text::shown);
    }
    let question = question.filter(|_| is_own_turn)?.shown();
    older::again(&question).map(str::to_owned)
}

impl NodeSuspended {
    /// A wait with nothing more to say about it.
    #[must_use]
    pub const fn of(node: Option<NodeId>, role: RoleInstance, reason: WaitReason) -> Self {
        Self {
            node,
            role,
            reason,
            question: None,
            choices: Vec::new(),
            lack: None,
            trouble: None,
            servers: Vec::new(),
            until: None,
            consent: None,
            approval: None,
            about_project: false,
            own_turn: None,
            asked: None,
            failed: None,
        }
    }

    /// What the operator is asked, or reads in a turn of theirs.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        words(
            self.reason,
            self.question.as_ref(),
            self.is_own_turn(),
            self.asked.as_ref(),
            self.failed.as_ref(),
        )
    }

    /// Why the operator is asked again in a turn of theirs.
    #[must_use]
    pub fn again(&self) -> Option<String> {
        again(
            self.question.as_ref(),
            self.is_own_turn(),
            self.asked.as_ref(),
        )
    }

    /// Whether the turn is the operator's own; read from the question where a journal has nothing else.
    #[must_use]
    pub fn is_own_turn(&self) -> bool {
        if self.reason != WaitReason::PromptHuman {
            return false;
        }
        let question = || self.question.as_ref().map(Text::shown);
        self.own_turn
            .unwrap_or_else(|| question().is_some_and(|text| older::is_own_turn(&text)))
    }

    /// The budget that has to be raised; read from the question where a journal has nothing else.
    #[must_use]
    pub(crate) fn lacks(&self) -> Option<Lack> {
        if self.lack.is_some() || self.reason != WaitReason::Budget {
            return self.lack.clone();
        }
        let question = self.question.as_ref()?;
        older::lack(&question.shown())
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeWoken {
    /// The node, except in the improvement phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// Its role instance.
    pub role: RoleInstance,
    /// What it waited for until now.
    pub reason: WaitReason,
    /// Whether its time had come, without a command.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_time: bool,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

/// What was wrong with the outcome of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultCode {
    /// There was no handoff block.
    MissingBlock,
    /// The block was not YAML.
    YamlParse,
    /// The targets were not a target or a list of them.
    InvalidTargetShape,
    /// A field was missing.
    MissingRequiredField,
    /// The signal is not one of ours.
    UnknownSignalType,
    /// The graph does not allow it from here.
    InvalidTransition,
    /// The artifact is not there, or not where it may be.
    ArtifactUnavailable,
    /// The provider stopped for its output limit.
    OutputLimit,
    /// The project's health checks failed at closing.
    HealthCheck,
    /// The findings or the report are not at the assigned path.
    WrongPath,
    /// A signal that does not end this kind of turn.
    WrongSignal,
}

impl FaultCode {
    /// The code as facts and messages write it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::MissingBlock => "missing_block",
            Self::YamlParse => "yaml_parse",
            Self::InvalidTargetShape => "invalid_target_shape",
            Self::MissingRequiredField => "missing_required_field",
            Self::UnknownSignalType => "unknown_signal_type",
            Self::InvalidTransition => "invalid_transition",
            Self::ArtifactUnavailable => "artifact_unavailable",
            Self::OutputLimit => "output_limit",
            Self::HealthCheck => "health_check",
            Self::WrongPath => "wrong_path",
            Self::WrongSignal => "wrong_signal",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepairRequested {
    /// The role instance.
    pub role: RoleInstance,
    /// The node, except in the improvement phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// The turn.
    pub turn: TurnId,
    /// What was wrong.
    pub code: FaultCode,
    /// A short sentence for the operator.
    pub summary: String,
    /// How many repairs in a row this makes.
    pub count: u32,
}
