//! Facts about the operator: replies, consent, stops, choices.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::terms::ConsentTerms;
use crate::hash::Hash;
use crate::id::{CallId, ClientId, ConsentId, MessageId, NodeId, RoleInstance};
use crate::message::Text;
use crate::words::permissions::{allowed_by, denied_by};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperatorReplied {
    /// The reply; the message it becomes bears the same id.
    pub reply: MessageId,
    /// The node it answers, except in the improvement phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// Its role instance.
    pub role: RoleInstance,
    /// The operator's text.
    pub text: Text,
    /// The client's name for the command, by which a repeated one counts once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplyReturned {
    /// The reply that no role read, given back to the operator.
    pub reply: MessageId,
    /// Why.
    pub why: String,
}

/// When a busy role gets the operator's message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
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
    /// The operator's text.
    pub text: Text,
    /// When the role gets it.
    pub when: SteerWhen,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

/// What a stop stops.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
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
    /// Whether it is asked whatever the mode of the flow is, so that no mode answers it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub narrowed: bool,
    /// The rule that may deny it, if only a shell could decide that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<DecidingRule>,
    /// Whether the operator had allowed the same call, before the folder or the walls around it changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub anew: bool,
}

/// The operator's answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
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

/// What answers a request that the operator has not answered himself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBefore {
    /// The flow never asks.
    FullAccess,
    /// The operator allowed a call like it for the rest of the flow.
    Grant,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConsentResolved {
    /// The request.
    pub consent: ConsentId,
    /// The answer.
    pub answer: ConsentAnswer,
    /// The hash the answer is bound to.
    pub action: Hash,
    /// The rule that gave the answer, if the operator wrote one while the request was open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<DecidingRule>,
    /// What gave the answer, if it was neither a rule nor the operator when this was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beforehand: Option<AnsweredBefore>,
    /// What the role should do instead, when the operator denied it with a reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text>,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

/// How much a flow may do without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
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

impl ConsentMode {
    /// Every mode, the narrowest first, with the words by which people name it.
    pub const WORDS: [(Self, &'static str); 6] = [
        (Self::NoAccess, "no-access"),
        (Self::PartialAccess, "partial-access"),
        (Self::FullAccess, "full-access"),
        (Self::NoAccess, "ask"),
        (Self::PartialAccess, "partial"),
        (Self::FullAccess, "full"),
    ];
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

/// What the operator said beforehand about calls that would be asked about. Each rule is kept as it was
/// written.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ConsentRules {
    /// What may run without asking.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// What never runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
}

impl ConsentRules {
    /// Whether there is no rule.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.allow.is_empty() && self.deny.is_empty()
    }

    /// How many rules there are.
    #[must_use]
    pub(crate) const fn len(&self) -> usize {
        self.allow.len() + self.deny.len()
    }

    /// Takes these out.
    pub(crate) fn remove(&mut self, gone: &Self) {
        self.allow.retain(|rule| !gone.allow.contains(rule));
        self.deny.retain(|rule| !gone.deny.contains(rule));
    }

    /// Adds those that are not there yet.
    pub fn add(&mut self, more: &Self) {
        let lists = [(&mut self.allow, &more.allow), (&mut self.deny, &more.deny)];
        for (list, more) in lists {
            for rule in more {
                if !list.contains(rule) {
                    list.push(rule.clone());
                }
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConsentRulesAdded {
    /// The rules that count from now on, besides those before.
    pub rules: ConsentRules,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

/// The operator removed standing rules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConsentRulesRemoved {
    /// The rules that no longer count.
    pub rules: ConsentRules,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

/// Where a rule was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleOrigin {
    /// On the command line that began the flow or went on with it.
    Flow,
    /// In the operator's configuration.
    Configuration,
    /// In the configuration of the workspace.
    Workspace,
}

/// A rule that decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecidingRule {
    /// The rule, as it was written.
    pub rule: String,
    /// Where.
    pub origin: RuleOrigin,
}

impl DecidingRule {
    /// The rule as the operator would write it again, after "by".
    #[must_use]
    pub fn words(&self, answer: ConsentAnswer) -> String {
        let list = match answer {
            ConsentAnswer::AllowOnce | ConsentAnswer::AllowFlow => "allow",
            ConsentAnswer::Deny | ConsentAnswer::Withdrawn => "deny",
        };
        let rule = if self.rule.contains([' ', '*', '\'', '"', ',']) {
            format!("'{}'", self.rule.replace('\'', "'\\''"))
        } else {
            self.rule.clone()
        };
        match self.origin {
            RuleOrigin::Flow => format!("--{list} {rule}"),
            RuleOrigin::Configuration => format!("{list}: {rule} of the configuration"),
            RuleOrigin::Workspace => format!("{list}: {rule} of the workspace"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConsentRuled {
    /// The call.
    pub call: CallId,
    /// Who calls.
    pub role: RoleInstance,
    /// The node, except in the improvement phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// The tool.
    pub tool: String,
    /// The hash of exactly what was judged.
    pub action: Hash,
    /// What it is about, in one line.
    pub about: String,
    /// The answer: allowed once, or denied.
    pub answer: ConsentAnswer,
    /// The rule that gave it.
    pub by: DecidingRule,
}

impl ConsentRuled {
    /// What was decided, and by which rule.
    #[must_use]
    pub fn words(&self) -> String {
        let rule = self.by.words(self.answer);
        match self.answer {
            ConsentAnswer::AllowOnce | ConsentAnswer::AllowFlow => allowed_by(&rule),
            ConsentAnswer::Deny | ConsentAnswer::Withdrawn => denied_by(&rule),
        }
    }
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

impl McpServerUnavailable {
    /// The server, why it is not there, and what to try.
    #[must_use]
    pub fn words(&self) -> String {
        let why = self.why.trim_end_matches('.');
        format!("{}: {why}. {}", self.server, Self::hint())
    }

    /// What to try, in a sentence.
    #[must_use]
    pub const fn hint() -> &'static str {
        "Look with: a-society mcp ls. Mend its entry under mcp-servers: of your configuration or in .mcp.json, \
         or what it runs; it is started again with the next turn of the role."
    }
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
