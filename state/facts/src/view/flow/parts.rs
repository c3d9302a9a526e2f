//! The open things of a flow: what runs, what waits, what was asked and not yet answered.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::at::At;
use crate::fact::budget::{Lack, Measure};
use crate::fact::journal::ProcessName;
use crate::fact::node::{
    self, FaultCode, NodeEntry, OwnTurnAsked, Trouble, TurnFailure, WaitReason,
};
use crate::fact::operator::{ChosenBy, DecidingRule, SteerWhen};
use crate::fact::session::{SessionKind, SessionState};
use crate::fact::terms::{ConsentTerms, WaitingServer};
use crate::fact::turn::{Cause, Effect, FileChange, StopReason, Usage};
use crate::handoff::{Delivery, EdgeName};
use crate::hash::Hash;
use crate::id::{
    ApprovalId, CallId, ConsentId, MessageId, NodeId, RoleInstance, SessionId, SessionKey, TurnId,
};
use crate::message::Text;

/// A message of the operator that the role has not got yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperatorMessage {
    /// Its id, and that of the message it becomes.
    pub id: MessageId,
    /// Its text.
    pub text: Text,
    /// When.
    pub at: At,
    /// For a message to a busy role: when the role gets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<SteerWhen>,
}

/// A node whose role has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunningNode {
    /// Who has it.
    pub role: RoleInstance,
    /// The turn it was claimed for.
    pub turn: TurnId,
    /// Why it was entered.
    pub entry: NodeEntry,
    /// Since when.
    pub since: At,
    /// Whether its turn began; a turn begins once.
    pub begun: bool,
    /// Whether the role has its packet; until then the next three lists hold what the packet must
    /// contain.
    pub told: bool,
    /// What was read on entering and is not passed on yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub received: Vec<Delivery>,
    /// What was dropped on entering and is not passed on yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<EdgeName>,
    /// The operator's messages that the role has not got.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsaid: Vec<OperatorMessage>,
}

/// A wait for the operator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperatorWait {
    /// Who waits.
    pub role: RoleInstance,
    /// For what.
    pub reason: WaitReason,
    /// What the operator should read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Text>,
    /// What may be chosen as the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// The budget that has to be raised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lack: Option<Lack>,
    /// What keeps it from its model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<Trouble>,
    /// The servers of tools that have to be approved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<WaitingServer>,
    /// When it goes on by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<At>,
    /// Whether the operator plays the role that waits, and its turn is theirs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_own_turn: bool,
    /// How the operator is asked in a turn of theirs; absent in older journals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<OwnTurnAsked>,
    /// How the turn failed that it waits because of; absent in older journals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<TurnFailure>,
    /// The request for consent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent: Option<ConsentId>,
    /// The staged handoff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalId>,
    /// Since when.
    pub since: At,
    /// The turn that led to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// What the node was before; it is that again if it is woken while its turn is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<RunningNode>,
}

impl OperatorWait {
    /// What the operator is asked, or reads in a turn of theirs.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        node::words(
            self.reason,
            self.question.as_ref(),
            self.is_own_turn,
            self.asked.as_ref(),
            self.failed.as_ref(),
        )
    }

    /// What kind of failure a request of its turn met, in one stable word.
    #[must_use]
    pub fn failure_class(&self) -> Option<String> {
        node::failure_class(self.reason, self.question.as_ref(), self.failed.as_ref())
    }

    /// Why the operator is asked again in a turn of theirs.
    #[must_use]
    pub fn again(&self) -> Option<String> {
        node::again(
            self.question.as_ref(),
            self.is_own_turn,
            self.asked.as_ref(),
        )
    }

    /// Whether a text of the operator ends this wait.
    #[must_use]
    pub fn takes_text(&self) -> bool {
        match self.reason {
            WaitReason::PromptHuman
            | WaitReason::AutonomousAbort
            | WaitReason::ConsentDenied
            | WaitReason::RepairLimit
            | WaitReason::Budget
            | WaitReason::Provider
            | WaitReason::Message => true,
            WaitReason::Consent | WaitReason::RoleConfiguration | WaitReason::HandoffApproval => {
                false
            }
        }
    }
}

/// Why the operator wants a node to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WantedRun {
    /// It had been done, and runs again.
    Reopened {
        /// What the operator says about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Text>,
    },
    /// Its turn had been stopped or had failed.
    Retried,
    /// What it waited for is there.
    Woken,
}

/// A forward handoff that waits for the operator's word.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StagedHandoff {
    /// The node.
    pub node: NodeId,
    /// Its turn.
    pub turn: TurnId,
    /// To whom, with what.
    pub deliveries: Vec<Delivery>,
    /// Since when.
    pub since: At,
    /// Whether it was approved; a declined one is gone.
    #[serde(default)]
    pub approved: bool,
}

/// A turn that is not over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenTurn {
    /// The present try.
    pub attempt: u32,
    /// Who takes it.
    pub role: RoleInstance,
    /// The node, if a node is the cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// Why it runs.
    pub cause: Cause,
    /// When the present try began.
    pub since: At,
    /// The number of the last request; 0 before the first.
    pub requests: u32,
    /// The last request, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<LastRequest>,
    /// How many calls were intended in it so far, over all of its requests and tries.
    #[serde(default, skip_serializing_if = "is_none_yet")]
    pub calls: u32,
    /// Repairs so far. A valid outcome ends the turn, so all of them are in a row; tool calls
    /// in between do not start the count anew, or a role could go on for ever.
    pub repairs: u32,
    /// A repair that was decided and whose message the role has not got.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<FaultCode>,
    /// Whether the operator wants it stopped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop: bool,
    /// What holds its next request back, if something does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<HeldRequest>,
    /// What it cost so far.
    pub usage: Usage,
}

/// A request that is not sent yet, because another role met the limit of its provider, or its model failed too often.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldRequest {
    /// The provider.
    pub provider: String,
    /// Whether its model failed too often.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failing: bool,
    /// Until when.
    pub until: At,
}

/// Serde asks by reference.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
pub(super) const fn is_none_yet(count: &u32) -> bool {
    *count == 0
}

/// The last request of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LastRequest {
    /// Its number in the turn.
    pub number: u32,
    /// The try it belongs to.
    pub attempt: u32,
    /// The model.
    pub model: String,
    /// How far it came.
    pub state: RequestState,
    /// When it is sent again, if it failed and is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_at: Option<At>,
    /// What kind of failure it met then, in one stable word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_class: Option<String>,
    /// The text streamed so far, and not yet kept or discarded: how much.
    pub drafted_bytes: u64,
    /// And its CRC32C.
    pub drafted_crc: u32,
    /// The message that the answer is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
    /// Why the model stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopReason>,
    /// What the answer wants done, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<AskedCall>,
}

impl LastRequest {
    /// Whether every call of the answer has its result.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.calls.iter().all(|call| call.done)
    }
}

/// How far a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestState {
    /// It was sent, or is about to be.
    Asked,
    /// Its whole answer is known.
    Answered,
    /// It failed.
    Failed,
    /// Its stream was cut, and what had arrived was kept or discarded.
    Cut,
}

/// A tool call that an answer asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AskedCall {
    /// The id by which the transcript knows it.
    pub tool_call: String,
    /// The tool.
    pub tool: String,
    /// Our name for it, once it is intended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// Whether it has its result.
    pub done: bool,
    /// How the operator denied it, if that is its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denied: Option<Denied>,
}

/// How the operator denied a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Denied {
    /// And no more; the role waits for guidance.
    Plainly,
    /// With other instructions.
    WithWords,
}

/// A tool call that was intended and has no result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenCall {
    /// Its turn.
    pub turn: TurnId,
    /// Who calls.
    pub role: RoleInstance,
    /// The id by which the transcript knows it.
    pub tool_call: String,
    /// Its place in the answer.
    pub ordinal: u32,
    /// The tool.
    pub tool: String,
    /// What it may do.
    pub effect: Effect,
    /// How far it came.
    pub state: CallState,
    /// The hash of its arguments.
    pub arguments: Hash,
    /// The key under which it counts once.
    pub idempotency_key: Hash,
    /// The file's hash before, for a checkable call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Hash>,
    /// The file's hash after, for a checkable call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Hash>,
    /// The files of a checkable call of several, in the order in which they are changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileChange>,
    /// The hash of exactly what the operator allowed; anything else is not allowed by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<Hash>,
    /// What the operator wants instead, when it was denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<Text>,
    /// The process that does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessName>,
    /// The attempt of the turn in which it was started.
    pub attempt: u32,
    /// How often it was run again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reruns: u32,
    /// One line for the operator.
    pub summary: String,
}

fn is_zero<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// How far a call came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// It is going to run.
    Intended,
    /// It waits for consent.
    Consent,
    /// Consent was given.
    Allowed,
    /// Consent was denied or withdrawn.
    Denied,
    /// It runs, or ran when the process ended.
    Started,
}

/// A request for consent without an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenConsent {
    /// The call.
    pub call: CallId,
    /// Who calls.
    pub role: RoleInstance,
    /// The node, except in the improvement phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// The tool.
    pub tool: String,
    /// The hash an answer must be bound to.
    pub action: Hash,
    /// What would run.
    pub shown: Text,
    /// What is decided about, as data; absent in journals that know it as a sentence only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<ConsentTerms>,
    /// Whether it is asked whatever the mode of the flow is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub narrowed: bool,
    /// The rule that may deny it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<DecidingRule>,
    /// Whether the operator had allowed the same call, before the folder or the walls around it changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub anew: bool,
    /// Since when.
    pub since: At,
}

/// A role's model and tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Configuration {
    /// Its settings.
    pub settings: BTreeMap<String, String>,
    /// Who chose.
    pub by: ChosenBy,
}

/// What a flow needs to know of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionBrief {
    /// Its address.
    pub key: SessionKey,
    /// Its incarnation.
    pub session_id: SessionId,
    /// Which incarnation.
    pub generation: u32,
    /// What the key says it is.
    pub kind: SessionKind,
    /// Its state in its life.
    pub state: SessionState,
    /// Whether a turn of it runs and does not wait for the operator.
    pub is_active: bool,
    /// When it was last used.
    pub last_activity_at: At,
    /// The fingerprint of its system prompt, once that is built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<Hash>,
    /// How much of the window the last request filled.
    pub context_tokens: u64,
    /// Its last message, so that one message is not added twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_message: Option<MessageId>,
    /// How many messages it ever had.
    pub messages: u64,
    /// The compaction that is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction: Option<String>,
    /// The archives that can be restored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub archives: Vec<String>,
    /// The matter that it got and has not answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unanswered: Option<Matter>,
    /// How often in a row its provider named a time until which it answers nothing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub limits_hit: u32,
    /// How many messages of the operator wait until its turn is over.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub injected: u32,
}

/// A matter that a role works on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Matter {
    /// A node.
    Node(NodeId),
    /// The improvement of the flow.
    Improvement,
}

/// What was spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Spent {
    /// Tokens in and out, cached ones included.
    pub tokens: u64,
    /// Of those, output.
    pub output_tokens: u64,
    /// Of those, input that was read from a provider's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Money, in millionths of its unit.
    pub cost_micros: u64,
    /// Turns that began.
    pub turns: u64,
    /// Requests to a model that were sent.
    pub requests: u64,
    /// Wall time while turns ran, one after another.
    pub wall_ms: u64,
}

impl Spent {
    /// What is spent of one measure.
    #[must_use]
    pub fn of(&self, measure: Measure) -> u64 {
        match measure {
            Measure::Tokens => self.tokens,
            Measure::CostMicros => self.cost_micros,
            Measure::Turns => self.turns,
            Measure::WallMs => self.wall_ms,
        }
    }

    pub(crate) fn add(&mut self, usage: &Usage) {
        self.tokens = self.tokens.saturating_add(usage.all_tokens());
        self.output_tokens = self.output_tokens.saturating_add(usage.output_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(usage.cache_read_tokens);
        self.cost_micros = self.cost_micros.saturating_add(usage.cost_micros);
    }
}

/// The budget and the spending of a flow or of one of its roles.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Account {
    /// What may be spent, by measure.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<Measure, u64>,
    /// What was spent.
    pub spent: Spent,
    /// The measures that were declared used up and not raised since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reached: Vec<Measure>,
}
