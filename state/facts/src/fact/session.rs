//! Facts about sessions: their lives, their messages, and what verbs did to what they show.

use serde::{Deserialize, Serialize};

use super::request::PromptSource;
use crate::hash::Hash;
use crate::id::{ClientId, MessageId, NodeId, RoleInstance, Seq, SessionId, SessionKey, TurnId};
use crate::message::Text;

/// What a session's key says it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionKind {
    /// The one a workspace's operator talks to by default.
    Main,
    /// A role instance of a flow.
    Role,
    /// A fork or a spawned session.
    Child,
    /// A group chat.
    Group,
    /// A schedule.
    Cron,
    /// A webhook.
    Hook,
    /// A node bucket.
    Node,
    /// Anything else.
    Other,
}

impl SessionKind {
    /// What the key of a chat says it is.
    #[must_use]
    pub fn of_chat(key: &SessionKey) -> Self {
        match key.as_str().split_once(':') {
            Some(("cron", _)) => Self::Cron,
            Some(("hook", _)) => Self::Hook,
            Some(_) | None => Self::Other,
        }
    }
}

/// How a session came from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Descent {
    /// It began with the other's messages.
    Fork,
    /// It began empty.
    Spawn,
}

/// Where a session comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionParent {
    /// The other's key.
    pub key: SessionKey,
    /// The other's incarnation.
    pub session: SessionId,
    /// How.
    pub descent: Descent,
    /// The record of the other's journal at which it happened.
    pub at_seq: Seq,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionOpened {
    /// The role instance whose session it is.
    pub role: RoleInstance,
    /// Its address.
    pub key: SessionKey,
    /// Its incarnation.
    pub session: SessionId,
    /// Which incarnation, from 1.
    pub generation: u32,
    /// What the key says it is.
    pub kind: SessionKind,
    /// Where it comes from, if from another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionParent>,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

/// The state of a session in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// It exists and has no message.
    Created,
    /// It is used.
    Active,
    /// It was closed.
    Expired,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionResumed {
    /// The role instance whose session it is.
    pub role: RoleInstance,
    /// The turn that goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemPromptBuilt {
    /// The role instance whose session it is.
    pub role: RoleInstance,
    /// The prompt.
    pub text: Text,
    /// The hash of everything it was built from.
    pub fingerprint: Hash,
    /// Where its texts came from, in their order; the text for every role comes from the program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<PromptSource>,
}

/// Why a message that no model produced was added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The entry packet of a node.
    Entry,
    /// The operator's reply.
    Reply,
    /// The operator's word to a busy role.
    Steer,
    /// A repair of an outcome.
    Repair,
    /// The continuation of a turn that was cut off.
    Continuation,
    /// Another session's question.
    Consultation,
    /// The operator's note that starts no turn.
    Injection,
    /// The packet of the improvement phase.
    Improvement,
    /// What replaces a history that was compacted.
    Compaction,
    /// A note of the runtime.
    Runtime,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MessageAdded {
    /// The role instance whose session it is.
    pub role: RoleInstance,
    /// The message.
    pub message: MessageId,
    /// What it says, to the role.
    pub text: Text,
    /// Why it was added.
    pub origin: Origin,
    /// The node it belongs to; a new one begins the exchanges of that node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// The client's name for the command that added it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
    /// For a word to a busy role: the request of its turn that carries it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<u32>,
}

/// Who asked for a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// The operator.
    Manual,
    /// The runtime, because the window fills.
    Auto,
}

/// How a history is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// A model summarises the current node.
    NodeSummary,
    /// A model summarises everything.
    Llm,
    /// Old messages are cut.
    Truncate,
    /// Old tool results are masked.
    ObservationMask,
    /// A command of the operator does it.
    Custom,
}

/// How the operator wants a session compacted. Numbers that are absent are those of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct CompactionWish {
    /// How.
    pub strategy: Strategy,
    /// How many of the first messages stay at least.
    #[serde(default)]
    pub keep_first: u64,
    /// How many of the last messages stay at least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub keep_last: Option<u64>,
    /// How many tokens the session has to fill; it stays as it is while it fills fewer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub token_threshold: Option<u64>,
    /// How much of each result of a tool goes into what replaces it, in characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub tool_output_max_chars: Option<u64>,
    /// How many tokens the session may fill afterwards: what replaces its history is cut off there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub hard_limit_tokens: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompactionStarted {
    /// The role instance whose session it is.
    pub role: RoleInstance,
    /// The compaction.
    pub compaction: String,
    /// Who asked.
    pub trigger: Trigger,
    /// How.
    pub strategy: Strategy,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionCompacted {
    /// The role instance whose session it is.
    pub role: RoleInstance,
    /// The compaction.
    pub compaction: String,
    /// Who asked.
    pub trigger: Trigger,
    /// How it was done in the end.
    pub strategy: Strategy,
    /// The node that was active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// The message that replaces the history from now on.
    pub message: MessageId,
    /// What it says.
    pub replacement: Text,
    /// How many of the first messages stay as they are, before the message that replaces the others.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub kept_first: u64,
    /// How many of the last messages stay as they are.
    pub kept_last: u64,
    /// The context before, in tokens.
    pub tokens_before: u64,
    /// The context after, as far as the size of the messages that are left tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_after: Option<u64>,
    /// Why no model's summary was to be had, if the oldest messages were left out in place of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompactionFailed {
    /// The role instance whose session it is.
    pub role: RoleInstance,
    /// The compaction.
    pub compaction: String,
    /// Why the history stays as it is.
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MessagesTrimmed {
    /// The role instance whose session it is.
    pub role: RoleInstance,
    /// The archive of the messages that are not in the session any more.
    pub archive: String,
    /// How many of the last messages stay as they are.
    pub kept_last: u64,
    /// The messages before those that stay as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<MessageId>,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionClosed {
    /// The role instance whose session it is.
    pub role: RoleInstance,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionRenewed {
    /// The role instance whose session it is.
    pub role: RoleInstance,
    /// The archive of what the incarnation before held.
    pub archive: String,
    /// The incarnation that begins.
    pub session: SessionId,
    /// Which incarnation that is.
    pub generation: u32,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

/// Whose a message is that the operator puts into a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The person who talks to the role.
    User,
    /// The role itself.
    Assistant,
    /// The system around both. Its notes stay when other messages are trimmed or compacted.
    System,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MessageInjected {
    /// The role instance whose session it is.
    pub role: RoleInstance,
    /// The message.
    pub message: MessageId,
    /// Whose it is.
    pub speaker: Speaker,
    /// Its text.
    pub text: Text,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArchiveRestored {
    /// The role instance whose session it is.
    pub role: RoleInstance,
    /// The archive whose messages come before the present ones again.
    pub archive: String,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}
