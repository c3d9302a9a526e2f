//! Requests as Chat Completions.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use a_society_facts::message::{Message, ToolCall};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::ids::Ids;
use super::super::written::{SplitHistory, WrittenRequest, head, list};
use super::KeptAnswer;
use crate::repair::PartingPoint;
use crate::request::{HistoryMessage, ModelRequest, Thinking};
use crate::speech::ChatDialect;

/// How long a provider's own name for a call may be to be sent back.
const THEIR_ID_BYTES: usize = 64;

#[derive(Serialize)]
struct ChatBody<'a> {
    model: &'a str,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ChatTool<'a>>,
    messages: Vec<ChatMessage<'a>>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct ChatTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: Declared<'a>,
}

#[derive(Serialize)]
struct Declared<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    parameters: &'a RawValue,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
enum ChatMessage<'a> {
    System {
        content: Cow<'a, str>,
    },
    User {
        content: &'a str,
    },
    Assistant {
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ChatCall<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        reasoning_details: Vec<Value>,
    },
    Tool {
        tool_call_id: String,
        content: Cow<'a, str>,
    },
}

#[derive(Serialize)]
struct ChatCall<'a> {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    function: CalledFunction<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<Value>,
}

#[derive(Serialize)]
struct CalledFunction<'a> {
    name: &'a str,
    arguments: &'a str,
}

/// Where a history may be parted so that what is before it stays as it is written: reasoning before it
/// is followed by words of the user, or it would be left out as soon as it is.
pub(crate) fn part(
    messages: &[Cow<'_, HistoryMessage>],
    parts: &[PartingPoint],
) -> Option<PartingPoint> {
    let mut parts = parts.iter().peekable();
    let (mut is_open, mut last) = (false, None);
    for (at, said) in messages.iter().enumerate() {
        if let Some(part) = parts.next_if(|part| part.mended == at)
            && !is_open
        {
            last = Some(*part);
        }
        if is_user(said) {
            is_open = false;
        } else if said.blocks.is_some() {
            is_open |= !kept(said).reasoning_content.is_empty();
        }
    }
    last
}

/// A request without the part that is already encoded.
pub(crate) fn write(
    request: &ModelRequest<'_>,
    SplitHistory { settled, open }: SplitHistory<'_>,
    ids: &mut Ids<'_>,
    dialect: ChatDialect,
) -> serde_json::Result<WrittenRequest> {
    // Reasoning before the part is always followed by words of the user, there or here.
    let present = open.iter().rposition(|said| is_user(said));
    let settled_until = present.map_or_else(
        || settled.iter().rposition(|said| is_user(said)).unwrap_or(0),
        |_| settled.len(),
    );
    let settled = lines(settled, settled_until, ids);
    let settled_ids = ids.given();
    let open = lines(open, present.unwrap_or(0), ids);
    let said_first: Vec<ChatMessage<'_>> = system(request).into_iter().collect();
    let has_system = !said_first.is_empty();
    let mut head = head(&frame(request, dialect, said_first))?;
    if has_system {
        head.push(b',');
    }
    Ok(WrittenRequest {
        head,
        settled: list(&settled)?,
        open: list(&open)?,
        ids: settled_ids,
    })
}

/// The body of a request whose history is repaired, written at once.
#[cfg(test)]
pub(crate) fn body(
    request: &ModelRequest<'_>,
    history: &[Cow<'_, HistoryMessage>],
    dialect: ChatDialect,
) -> serde_json::Result<Vec<u8>> {
    let present = history.iter().rposition(|said| is_user(said)).unwrap_or(0);
    let mut all: Vec<ChatMessage<'_>> = system(request).into_iter().collect();
    all.extend(lines(history, present, &mut Ids::default()));
    serde_json::to_vec(&frame(request, dialect, all))
}

fn system<'a>(request: &ModelRequest<'a>) -> Option<ChatMessage<'a>> {
    let content = request.whole_system();
    (!content.trim().is_empty()).then_some(ChatMessage::System { content })
}

/// A request with these messages at its end.
fn frame<'a>(
    request: &ModelRequest<'a>,
    dialect: ChatDialect,
    messages: Vec<ChatMessage<'a>>,
) -> ChatBody<'a> {
    let limit = Some(request.max_output_tokens);
    let tools = request.tools.iter().map(|tool| ChatTool {
        kind: "function",
        function: Declared {
            name: &tool.name,
            description: &tool.description,
            parameters: &tool.schema,
        },
    });
    let effort = match request.thinking {
        Thinking::Levels => request.effort.map(crate::request::Effort::word),
        Thinking::Fixed | Thinking::Budget => None,
    };
    ChatBody {
        model: request.model,
        stream: true,
        stream_options: StreamOptions {
            include_usage: true,
        },
        max_completion_tokens: limit.filter(|_| dialect.completion_tokens),
        max_tokens: limit.filter(|_| !dialect.completion_tokens),
        reasoning_effort: effort,
        prompt_cache_key: request.provider_key().filter(|_| dialect.cache_key),
        tools: tools.collect(),
        messages,
    }
}

fn is_user(said: &HistoryMessage) -> bool {
    matches!(*said.message, Message::User { .. })
}

/// Plain reasoning is wanted back while its calls are being answered, and by some refused after
/// that, which is before `present`.
fn lines<'a>(
    history: &'a [Cow<'_, HistoryMessage>],
    present: usize,
    ids: &mut Ids<'_>,
) -> Vec<ChatMessage<'a>> {
    let mut names: HashMap<&str, String> = HashMap::new();
    let mut lines = Vec::with_capacity(history.len());
    for (at, said) in history.iter().enumerate() {
        let mut kept = kept(said);
        if at < present {
            kept.reasoning_content.clear();
        }
        lines.push(match &*said.message {
            Message::User { content } => ChatMessage::User { content },
            Message::Assistant { content } => assistant(Some(content), Vec::new(), kept),
            Message::AssistantToolCalls { calls, text } => {
                let own = name_calls(calls, &kept, ids);
                for (call, id) in calls.iter().zip(&own) {
                    names.insert(&call.id, id.clone());
                }
                let made = called(calls, own, std::mem::take(&mut kept.call_extras));
                assistant(text.as_deref(), made, kept)
            }
            Message::ToolResult {
                call_id,
                content,
                is_error,
                ..
            } => ChatMessage::Tool {
                tool_call_id: names.get(call_id.as_str()).cloned().unwrap_or_default(),
                content: outcome(content, *is_error),
            },
        });
    }
    lines
}

fn assistant<'a>(
    text: Option<&'a str>,
    tool_calls: Vec<ChatCall<'a>>,
    kept: KeptAnswer,
) -> ChatMessage<'a> {
    let reasoning = Some(kept.reasoning_content).filter(|text| !text.is_empty());
    ChatMessage::Assistant {
        content: text,
        tool_calls,
        reasoning_content: reasoning,
        reasoning_details: kept.reasoning_details,
    }
}

/// What was kept of an answer. Blocks of two answers that became one message are not this wire's.
fn kept(said: &HistoryMessage) -> KeptAnswer {
    let Some(blocks) = said.blocks() else {
        return KeptAnswer::default();
    };
    match blocks.blocks.as_slice() {
        [one] => serde_json::from_str(one.get()).unwrap_or_default(),
        _ => KeptAnswer::default(),
    }
}

fn name_calls(calls: &[ToolCall], kept: &KeptAnswer, ids: &mut Ids<'_>) -> Vec<String> {
    let theirs = |at: usize| {
        let id = kept.call_ids.get(at).map(String::as_str)?;
        let is_usable = id.len() <= THEIR_ID_BYTES && id.bytes().all(|it| it.is_ascii_graphic());
        (is_usable && !id.is_empty() && kept.call_ids.len() == calls.len()).then_some(id)
    };
    let named = calls.iter().enumerate();
    named
        .map(|(at, call)| ids.assign(&call.id, theirs(at)))
        .collect()
}

fn called(
    calls: &[ToolCall],
    ids: Vec<String>,
    mut extras: BTreeMap<usize, Value>,
) -> Vec<ChatCall<'_>> {
    let named = calls.iter().zip(ids).enumerate();
    let called = named.map(|(at, (call, id))| ChatCall {
        id,
        kind: "function",
        function: CalledFunction {
            name: &call.name,
            arguments: call.input.get(),
        },
        extra_content: extras.remove(&at),
    });
    called.collect()
}

/// A result, which this wire cannot mark as an error in another way.
pub(in crate::wire) fn outcome(content: &str, is_error: bool) -> Cow<'_, str> {
    if is_error && !content.to_lowercase().starts_with("error") {
        Cow::Owned(format!("Error: {content}"))
    } else {
        Cow::Borrowed(content)
    }
}
