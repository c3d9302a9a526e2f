//! The files of state version 11, as far as they are taken over.
//!
//! Members that are not named here are not lost: the files are kept as they are, and the members
//! that no view shows are reported.

use std::collections::BTreeMap;

use a_society_facts::fact::session::Trigger;
use a_society_facts::message::{Message, ToolCall};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The version whose files are read.
pub(crate) const STATE_VERSION: &str = "11";

/// `flow.json`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FlowRun {
    pub(crate) flow_id: String,
    pub(crate) project_namespace: String,
    #[serde(default)]
    pub(crate) workspace_root: Option<String>,
    #[serde(default)]
    pub(crate) record_folder_path: Option<String>,
    #[serde(default)]
    pub(crate) running_nodes: Vec<String>,
    #[serde(default)]
    pub(crate) awaiting_human_nodes: BTreeMap<String, AwaitingHuman>,
    #[serde(default)]
    pub(crate) pending_human_inputs: BTreeMap<String, PendingInput>,
    #[serde(default)]
    pub(crate) pending_handoff_approvals: BTreeMap<String, Vec<HandoffTarget>>,
    #[serde(default)]
    pub(crate) visited_node_ids: Vec<String>,
    #[serde(default)]
    pub(crate) completed_handoffs: Vec<String>,
    #[serde(default)]
    pub(crate) receiving_handoff: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub(crate) history_handoff: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub(crate) awaiting_handoff: Vec<String>,
    pub(crate) status: ForeignFlowStatus,
    #[serde(default)]
    pub(crate) improvement_phase: Option<ImprovementPhase>,
    #[serde(default)]
    pub(crate) consent_state: Option<ConsentState>,
}

/// The state of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ForeignFlowStatus {
    Running,
    AwaitingImprovementChoice,
    AwaitingFeedbackConsent,
    Completed,
}

/// A node, or a role that reflects, that waits for the operator.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct AwaitingHuman {
    pub(crate) reason: ForeignWaitReason,
}

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ForeignWaitReason {
    PromptHuman,
    AutonomousAbort,
    Consent,
    ConsentDenied,
    RoleConfiguration,
    HandoffApproval,
}

/// The operator's message that no role has read.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PendingInput {
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) received_at: Option<String>,
}

/// One receiver of a handoff that waits for a word.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct HandoffTarget {
    pub(crate) target_node_id: String,
    #[serde(default)]
    pub(crate) artifact_path: Option<String>,
}

/// What may be done without asking.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct ConsentState {
    #[serde(default)]
    pub(crate) mode: Option<a_society_facts::fact::operator::ConsentMode>,
    #[serde(default)]
    pub(crate) bash: ForeignCommands,
}

/// The commands that may run.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ForeignCommands {
    #[serde(default)]
    pub(crate) allowed_commands: BTreeMap<String, AllowedCommand>,
}

/// A command that may run.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct AllowedCommand {
    pub(crate) command: String,
}

/// How far the improvement came.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImprovementPhase {
    pub(crate) status: PhaseStatus,
    #[serde(default)]
    pub(crate) mode: Option<a_society_facts::fact::improvement::ImprovementMode>,
    #[serde(default)]
    pub(crate) completed_roles: Vec<String>,
    #[serde(default)]
    pub(crate) running_roles: Vec<String>,
    #[serde(default)]
    pub(crate) awaiting_human_roles: BTreeMap<String, AwaitingHuman>,
    #[serde(default)]
    pub(crate) pending_human_inputs: BTreeMap<String, PendingInput>,
    #[serde(default)]
    pub(crate) findings_produced: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) feedback_artifact_path: Option<String>,
    #[serde(default)]
    pub(crate) feedback_consent: Option<FeedbackConsent>,
}

/// The state of the improvement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PhaseStatus {
    AwaitingChoice,
    Running,
    AwaitingFeedbackConsent,
    Completed,
    Skipped,
}

/// The decision about the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FeedbackConsent {
    Pending,
    Granted,
    Denied,
}

/// `transcript.json`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RoleSession {
    #[serde(default)]
    pub(crate) transcript_history: Vec<Box<RawValue>>,
    #[serde(default)]
    pub(crate) current_node_context: Option<ForeignNodeContext>,
    #[serde(default)]
    pub(crate) compaction_archives: Option<Vec<CompactionArchive>>,
    #[serde(default)]
    pub(crate) is_active: bool,
    #[serde(default)]
    pub(crate) current_node_id: Option<String>,
    #[serde(default)]
    pub(crate) system_prompt: Option<String>,
    #[serde(default)]
    pub(crate) latest_context_usage: Option<serde_json::Number>,
}

/// The exchanges of the current node.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ForeignNodeContext {
    pub(crate) node_id: String,
    #[serde(default)]
    pub(crate) exchanges: Vec<Box<RawValue>>,
}

/// A history that was compacted.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CompactionArchive {
    pub(crate) id: String,
    pub(crate) trigger: Trigger,
    #[serde(default)]
    pub(crate) node_id: String,
    #[serde(default)]
    pub(crate) compacted_at: String,
    #[serde(default)]
    pub(crate) archived_transcript_history: Vec<Box<RawValue>>,
    pub(crate) replacement_message: Box<RawValue>,
}

/// `model.json`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ForeignModelChoice {
    pub(crate) model_id: String,
    #[serde(default)]
    pub(crate) display_name: Option<String>,
    #[serde(default)]
    pub(crate) selected_at: Option<String>,
}

/// `capabilities.json`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Capabilities {
    #[serde(default)]
    pub(crate) skills: Vec<String>,
    #[serde(default)]
    pub(crate) mcp_servers: Vec<String>,
}

/// A message of a transcript.
///
/// # Errors
/// Describes why it is not a message.
pub(crate) fn message(raw: &RawValue) -> Result<Message, String> {
    let message: Message = serde_json::from_str(raw.get()).map_err(|error| error.to_string())?;
    match message {
        Message::AssistantToolCalls { calls, text } => {
            let calls: Result<Vec<ToolCall>, String> = calls.into_iter().map(on_one_line).collect();
            Ok(Message::AssistantToolCalls {
                calls: calls?,
                text,
            })
        }
        Message::User { .. } | Message::Assistant { .. } | Message::ToolResult { .. } => {
            Ok(message)
        }
    }
}

/// The same call with arguments that fit into a line of the journal.
fn on_one_line(call: ToolCall) -> Result<ToolCall, String> {
    let input = RawValue::from_string(compact(call.input.get()));
    Ok(ToolCall {
        input: input.map_err(|error| error.to_string())?,
        ..call
    })
}

/// JSON without the white space between its parts; numbers, texts and the order of members stay
/// byte for byte.
fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut in_text, mut escaped) = (false, false);
    for c in json.chars() {
        if in_text {
            out.push(c);
            in_text = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else if !matches!(c, ' ' | '\t' | '\n' | '\r') {
            out.push(c);
            in_text = c == '"';
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_lose_their_line_breaks_and_nothing_else() {
        for (spread, one_line) in [
            (
                "{\n  \"a\": 1,\n  \"b\": [ 1e400, \"x y\" ]\n}",
                r#"{"a":1,"b":[1e400,"x y"]}"#,
            ),
            (
                r#"{ "a" : "\" { \\" , "z" : 0 }"#,
                r#"{"a":"\" { \\","z":0}"#,
            ),
            ("\"\\\\\"", "\"\\\\\""),
        ] {
            assert_eq!(compact(spread), one_line);
        }
    }
}
