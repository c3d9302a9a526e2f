//! What the tools take that look at other sessions. Their parameters are written as such tools write them
//! elsewhere.

use serde::Deserialize;

use super::super::form::MemberKind::{Flag, Number, Text, Texts};
use super::super::form::{ToolForm, optional, required};

pub(super) static SESSIONS_LIST: ToolForm = ToolForm {
    name: "sessions_list",
    said: "Lists the sessions of this flow that you may read, the last active first: key, role, state, \
           node, tokens.",
    members: &[
        optional("kinds", Texts, "Only these, such as role or main."),
        optional("limit", Number, "Default 50, at most 200."),
        optional(
            "activeMinutes",
            Number,
            "Only those active in the last minutes.",
        )
        .or(&["active_minutes"]),
        optional(
            "messageLimit",
            Number,
            "How many of the last messages to give of each, without results of tools: default 0, at most 20.",
        )
        .or(&["message_limit"]),
    ],
    also: &[],
};

/// What `sessions_list` is asked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SessionsAsked {
    /// Only sessions of these kinds.
    pub kinds: Option<Vec<String>>,
    /// How many.
    pub limit: Option<u64>,
    /// Only those that were active so many minutes ago or later.
    pub active_minutes: Option<u64>,
    /// How many messages of each.
    pub message_limit: Option<u64>,
}

pub(super) static SESSIONS_HISTORY: ToolForm = ToolForm {
    name: "sessions_history",
    said: "Gives the last messages of a session that sessions_list names.",
    members: &[
        required("sessionKey", Text, "").or(&["session_key", "key"]),
        optional("limit", Number, "Default 200, at most 1000."),
        optional("includeTools", Flag, "Results of tools, too.").or(&["include_tools"]),
    ],
    also: &[],
};

pub(super) static SESSIONS_SEND: ToolForm = ToolForm {
    name: "sessions_send",
    said: "Sends a message to another chat and gives its answer. A chat that waits for you cannot answer.",
    members: &[
        required("sessionKey", Text, "").or(&["session_key", "key"]),
        required("message", Text, "").or(&["text"]),
        optional(
            "timeoutSeconds",
            Number,
            "How long to wait: default 30, at most 600. After 0 nothing is waited for.",
        )
        .or(&["timeout_seconds", "timeout"]),
    ],
    also: &[],
};

/// What `sessions_send` is asked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SendAsked {
    /// The session.
    pub session_key: String,
    /// What it is sent.
    pub message: String,
    /// How long its answer is waited for.
    pub timeout_seconds: Option<u64>,
}

/// What `sessions_history` is asked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct HistoryAsked {
    /// The session.
    pub session_key: String,
    /// How many messages.
    pub limit: Option<u64>,
    /// Whether results of tools are among them.
    #[serde(default)]
    pub include_tools: bool,
}
