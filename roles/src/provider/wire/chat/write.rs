//! Requests as Chat Completions.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use a_society_facts::message::{Message, ToolCall};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::ids::Ids;
use super::{ChatDialect, Kept};
use crate::provider::request::{Request, Said, Thinking};

/// How long a provider's own name for a call may be to be sent back.
const THEIR_ID_BYTES: usize = 64;

#[derive(Serialize)]
struct Body<'a> {
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
    tools: Vec<Tool<'a>>,
    messages: Vec<Line<'a>>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct Tool<'a> {
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
enum Line<'a> {
    System {
        content: &'a str,
    },
    User {
        content: &'a str,
    },
    Assistant {
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
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
struct Call<'a> {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    function: Called<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<Value>,
}

#[derive(Serialize)]
struct Called<'a> {
    name: &'a str,
    arguments: &'a str,
}

/// The body of a request whose history is repaired.
pub(in crate::provider) fn body(
    request: &Request<'_>,
    history: &[Cow<'_, Said>],
    dialect: ChatDialect,
) -> serde_json::Result<Vec<u8>> {
    let limit = Some(request.max_output_tokens);
    let tools = request.tools.iter().map(|tool| Tool {
        kind: "function",
        function: Declared {
            name: &tool.name,
            description: &tool.description,
            parameters: &tool.schema,
        },
    });
    let effort = match request.thinking {
        Thinking::Levels => request.effort.map(crate::provider::request::Effort::word),
        Thinking::Fixed | Thinking::Budget => None,
    };
    serde_json::to_vec(&Body {
        model: request.model,
        stream: true,
        stream_options: StreamOptions {
            include_usage: true,
        },
        max_completion_tokens: limit.filter(|_| dialect.completion_tokens),
        max_tokens: limit.filter(|_| !dialect.completion_tokens),
        reasoning_effort: effort,
        prompt_cache_key: request.cache_key.filter(|_| dialect.cache_key),
        tools: tools.collect(),
        messages: lines(request, history),
    })
}

fn lines<'a>(request: &Request<'a>, history: &'a [Cow<'_, Said>]) -> Vec<Line<'a>> {
    let mut ids = Ids::default();
    let mut names: HashMap<&str, String> = HashMap::new();
    let is_user = |said: &Cow<'_, Said>| matches!(*said.message, Message::User { .. });
    // Plain reasoning is wanted back while its calls are being answered, and by some refused
    // after that.
    let present = history.iter().rposition(is_user).unwrap_or(0);
    let mut lines = Vec::with_capacity(history.len() + 1);
    if !request.system.trim().is_empty() {
        lines.push(Line::System {
            content: request.system,
        });
    }
    for (at, said) in history.iter().enumerate() {
        let mut kept = kept(said);
        if at < present {
            kept.reasoning_content.clear();
        }
        lines.push(match &*said.message {
            Message::User { content } => Line::User { content },
            Message::Assistant { content } => assistant(Some(content), Vec::new(), kept),
            Message::AssistantToolCalls { calls, text } => {
                let own = name_calls(calls, &kept, &mut ids);
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
            } => Line::Tool {
                tool_call_id: names.get(call_id.as_str()).cloned().unwrap_or_default(),
                content: outcome(content, *is_error),
            },
        });
    }
    lines
}

fn assistant<'a>(text: Option<&'a str>, tool_calls: Vec<Call<'a>>, kept: Kept) -> Line<'a> {
    let reasoning = Some(kept.reasoning_content).filter(|text| !text.is_empty());
    Line::Assistant {
        content: text,
        tool_calls,
        reasoning_content: reasoning,
        reasoning_details: kept.reasoning_details,
    }
}

/// What was kept of an answer. Blocks of two answers that became one message are not this wire's.
fn kept(said: &Said) -> Kept {
    let Some(blocks) = &said.blocks else {
        return Kept::default();
    };
    match blocks.blocks.as_slice() {
        [one] => serde_json::from_str(one.get()).unwrap_or_default(),
        _ => Kept::default(),
    }
}

fn name_calls(calls: &[ToolCall], kept: &Kept, ids: &mut Ids) -> Vec<String> {
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
) -> Vec<Call<'_>> {
    let named = calls.iter().zip(ids).enumerate();
    let called = named.map(|(at, (call, id))| Call {
        id,
        kind: "function",
        function: Called {
            name: &call.name,
            arguments: call.input.get(),
        },
        extra_content: extras.remove(&at),
    });
    called.collect()
}

/// A result, which this wire cannot mark as an error in another way.
pub(in crate::provider::wire) fn outcome(content: &str, is_error: bool) -> Cow<'_, str> {
    if is_error && !content.to_lowercase().starts_with("error") {
        Cow::Owned(format!("Error: {content}"))
    } else {
        Cow::Borrowed(content)
    }
}
