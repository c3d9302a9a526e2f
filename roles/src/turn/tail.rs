//! Where the recorded conversation of a turn ends, which is where its taker continues.

use std::sync::Arc;

use a_society_facts::message::{Message, ToolCall};
use a_society_providers::Blocks;

use super::job::TurnJob;
use crate::handoff::{EndingTool, NOT_ENDED};

/// How the recorded part of a turn ends.
#[derive(Debug)]
pub(crate) enum TurnTail<'h> {
    /// The next thing is to ask: nothing is recorded, or everything has its answer.
    Ask,
    /// These calls of the last answer have no result, each with its place in the answer.
    Calls(Vec<(usize, &'h ToolCall)>),
    /// This was the last answer, and it was not judged yet.
    Concluded(&'h str),
    /// The same, and calls of it end the turn.
    Called(&'h str, &'h [ToolCall]),
}

/// The words with which a turn began: its packet, else the last message to the role.
pub(crate) fn begun_text(job: &TurnJob) -> &str {
    if !job.packet.is_empty() {
        return &job.packet;
    }
    last_said(job)
}

/// The last words to the role.
pub(crate) fn last_said(job: &TurnJob) -> &str {
    let said = job
        .history
        .iter()
        .rev()
        .find_map(|message| match &**message {
            Message::User { content } => Some(content.as_str()),
            Message::Assistant { .. }
            | Message::AssistantToolCalls { .. }
            | Message::ToolResult { .. } => None,
        });
    said.unwrap_or_default()
}

/// Looks at what is recorded of a job's turn.
pub(crate) fn tail(job: &TurnJob) -> TurnTail<'_> {
    let is_said = |message: &Arc<Message>| match **message {
        Message::Assistant { .. } | Message::AssistantToolCalls { .. } => true,
        Message::User { .. } | Message::ToolResult { .. } => false,
    };
    let last = job.history.iter().rposition(is_said);
    let Some(last) = last.filter(|_| job.answers_before > 0) else {
        return TurnTail::Ask;
    };
    let after = &job.history[last + 1..];
    match &*job.history[last] {
        Message::AssistantToolCalls { calls, text } => {
            let open = |call: &ToolCall| !after.iter().any(|message| answers(message, call));
            let open: Vec<_> = (calls.iter().enumerate())
                .filter(|(_, call)| open(call))
                .collect();
            if open.is_empty() && ended(calls, after) {
                TurnTail::Called(text.as_deref().unwrap_or_default(), calls)
            } else if open.is_empty() {
                TurnTail::Ask
            } else {
                TurnTail::Calls(open)
            }
        }
        // The provider wants the same conversation again to go on.
        Message::Assistant { .. } if is_paused(job, last) => TurnTail::Ask,
        Message::Assistant { content } => {
            // A role that got new words since then has something to answer.
            let is_user = |message: &Arc<Message>| matches!(**message, Message::User { .. });
            if after.iter().any(is_user) {
                TurnTail::Ask
            } else {
                TurnTail::Concluded(content)
            }
        }
        Message::User { .. } | Message::ToolResult { .. } => TurnTail::Ask,
    }
}

/// Whether a call has ended the turn, and the consequence is not recorded yet.
fn ended(calls: &[ToolCall], after: &[Arc<Message>]) -> bool {
    let ends = |message: &Message| match message {
        Message::ToolResult {
            call_id,
            tool_name,
            content,
            ..
        } => {
            let is_last = calls.iter().any(|call| call.id == *call_id);
            let tool = EndingTool::of_name(tool_name).filter(|_| is_last);
            tool.is_some_and(|tool| content == tool.done() || content == NOT_ENDED)
        }
        Message::User { .. } | Message::Assistant { .. } | Message::AssistantToolCalls { .. } => {
            false
        }
    };
    let is_user = |message: &Arc<Message>| matches!(**message, Message::User { .. });
    after.iter().any(|message| ends(message)) && !after.iter().any(is_user)
}

/// Whether the provider paused in the answer at this place.
fn is_paused(job: &TurnJob, place: usize) -> bool {
    let kept = job.provider_blocks.get(&place);
    let blocks = kept.and_then(|kept| Blocks::from_fact(kept));
    blocks.is_some_and(|blocks| blocks.paused)
}

fn answers(message: &Message, call: &ToolCall) -> bool {
    matches!(message, Message::ToolResult { call_id, .. } if *call_id == call.id)
}
