//! Facts about the operator: replies, consent, stops, choices.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::terms::ConsentTerms;
use crate::hash::Hash;
use crate::id::{CallId, ClientId, ConsentId, MessageId, NodeId, RoleInstance};
use crate::message::Text;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperatorReplied {
    /// The reply; the message it becomes bears the same id.
    pub reply: MessageId,
    /// The node it answers, except in the improvement phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// Its role instance.
    pub role: RoleInstance,
    /// What the operator said.
    pub text: Text,
    /// The client's name for the command, by which a repeated one counts once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplyReturned {
    /// The reply that nobody read, given back to the operator.
    pub reply: MessageId,
    /// Why.
    pub why: String,
}

/// When a busy role hears the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SteerWhen {
    /// With its next request.
    Queue,
    /// Now; what it says is cut off for it.
    Interrupt,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperatorSteered {
    /// The word; the message it becomes bears the same id.
    pub steer: MessageId,
    /// The role instance.
    pub role: RoleInstance,
    /// What the operator said.
    pub text: Text,
    /// When it is heard.
    pub when: SteerWhen,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

/// What a stop stops.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopScope {
    /// One node's turn.
    Node(NodeId),
    /// One role instance's turn.
    Role(RoleInstance),
    /// Every turn.
    All,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StopRequested {
    /// What is stopped.
    pub scope: StopScope,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConsentRequested {
    /// The request; it stays the same over restarts.
    pub consent: ConsentId,
    /// The call that waits for it.
    pub call: CallId,
    /// Who calls.
    pub role: RoleInstance,
    /// The node, except in the improvement phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// The tool.
    pub tool: String,
    /// The hash of exactly what would run, to which an answer is bound.
    pub action: Hash,
    /// What would run, for the operator to read: the command, the differences, the arguments. Nothing is
    /// read out of it; in journals without `terms` it begins with a line that says what they say.
    pub shown: Text,
    /// What the operator decides about, as data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<ConsentTerms>,
    /// Whether only the role asks, and the flow's mode alone would let it run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub narrowed: bool,
}

/// What the operator said to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConsentAnswer {
    /// Yes, this time.
    AllowOnce,
    /// Yes, and the like for the rest of the flow.
    AllowFlow,
    /// No.
    Deny,
    /// The request no longer means anything, because its call is gone.
    Withdrawn,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConsentResolved {
    /// The request.
    pub consent: ConsentId,
    /// The answer.
    pub answer: ConsentAnswer,
    /// The hash the answer is bound to.
    pub action: Hash,
    /// What the role is told to do instead, when the operator denied it and said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text>,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

/// How much a flow may do without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConsentMode {
    /// It asks every time.
    #[default]
    #[serde(rename = "no-access")]
    NoAccess,
    /// Stored grants count.
    #[serde(rename = "partial-access")]
    PartialAccess,
    /// It never asks.
    #[serde(rename = "full-access")]
    FullAccess,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConsentModeChanged {
    /// The mode from now on.
    pub mode: ConsentMode,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

/// Something that need not be asked again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// All edits of files in scope.
    Edits,
    /// Exactly this command.
    Command(String),
    /// Exactly this tool of an MCP server, as long as its definition has this hash.
    McpTool {
        /// The tool.
        tool: String,
        /// Its definition.
        definition: Hash,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GrantAdded {
    /// What is allowed from now on.
    pub grant: Grant,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GrantRevoked {
    /// What is no longer allowed.
    pub grant: Grant,
}

/// Who chose a role's configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChosenBy {
    /// The operator.
    Operator,
    /// There was nothing to choose.
    Default,
    /// A model chose.
    Selection,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoleConfigured {
    /// The role instance.
    pub role: RoleInstance,
    /// Its settings: model, effort, tools, servers, skills.
    pub settings: BTreeMap<String, String>,
    /// Who chose.
    pub by: ChosenBy,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct McpServerApproved {
    /// The server's name.
    pub server: String,
    /// The hash of its definition; another definition is asked about again.
    pub definition: Hash,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct McpServerUnavailable {
    /// The role instance that would use it.
    pub role: RoleInstance,
    /// The server.
    pub server: String,
    /// Why it is not there.
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct McpToolUnavailable {
    /// The role instance that would use it.
    pub role: RoleInstance,
    /// The tool.
    pub tool: String,
    /// Why it is not there.
    pub why: String,
}
