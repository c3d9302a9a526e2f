//! Requests as Responses.

use std::borrow::Cow;
use std::collections::HashMap;

use a_society_facts::message::{Message, ToolCall};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::value::RawValue;

use super::super::chat::outcome;
use super::super::ids::{Ids, is_plain};
use super::super::raw::RawObject;
use super::super::written::{SplitHistory, WrittenRequest, head, list};
use crate::blocks::Blocks;
use crate::request::{Effort, HistoryMessage, ModelRequest, SentImage, Thinking};

#[derive(Serialize)]
struct ResponsesBody<'a> {
    model: &'a str,
    stream: bool,
    /// The journal keeps the conversation; the provider need not.
    store: bool,
    max_output_tokens: u64,
    #[serde(skip_serializing_if = "str::is_empty")]
    instructions: Cow<'a, str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ResponsesTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    include: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
    input: Vec<InputItem<'a>>,
}

#[derive(Serialize)]
struct ResponsesTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    parameters: &'a RawValue,
    /// Strict schemas must name every property as required, which ours need not.
    strict: bool,
}

#[derive(Serialize)]
struct Reasoning {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    summary: &'static str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum InputItem<'a> {
    Ours(OwnItem<'a>),
    Theirs(Cow<'a, RawValue>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum OwnItem<'a> {
    Message {
        role: &'static str,
        content: Vec<ItemContent<'a>>,
    },
    FunctionCall {
        call_id: String,
        name: &'a str,
        arguments: &'a str,
    },
    FunctionCallOutput {
        call_id: String,
        output: FunctionOutput<'a>,
    },
}

/// What a call gave: its text alone, or an image after it.
#[derive(Serialize)]
#[serde(untagged)]
enum FunctionOutput<'a> {
    Text(Cow<'a, str>),
    Parts([OutputPart<'a>; 2]),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum OutputPart<'a> {
    InputText { text: Cow<'a, str> },
    InputImage { image_url: String },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ItemContent<'a> {
    InputText { text: &'a str },
    OutputText { text: &'a str },
}

/// A request without the part that is already encoded. It can be split wherever its
/// history can: no item depends on those that follow.
pub(crate) fn write(
    request: &ModelRequest<'_>,
    SplitHistory { settled, open }: SplitHistory<'_>,
    ids: &mut Ids<'_>,
) -> serde_json::Result<WrittenRequest> {
    let settled = items(request, settled, ids);
    let settled_ids = ids.given();
    let open = items(request, open, ids);
    Ok(WrittenRequest {
        head: head(&frame(request, Vec::new()))?,
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
) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&frame(
        request,
        items(request, history, &mut Ids::default()),
    ))
}

/// A request with these items at its end.
fn frame<'a>(request: &ModelRequest<'a>, input: Vec<InputItem<'a>>) -> ResponsesBody<'a> {
    let tools = request.tools.iter().map(|tool| ResponsesTool {
        kind: "function",
        name: &tool.name,
        description: &tool.description,
        parameters: &tool.schema,
        strict: false,
    });
    // Only a model that reasons takes these; another one refuses the request.
    let reasons = request.thinking != Thinking::Fixed;
    let reasoning = reasons.then(|| Reasoning {
        effort: request.effort.map(Effort::word),
        summary: "auto",
    });
    ResponsesBody {
        model: request.model,
        stream: true,
        store: false,
        max_output_tokens: request.max_output_tokens,
        instructions: request.whole_system(),
        tools: tools.collect(),
        parallel_tool_calls: (!request.tools.is_empty()).then_some(true),
        reasoning,
        include: reasons
            .then_some("reasoning.encrypted_content")
            .into_iter()
            .collect(),
        prompt_cache_key: request.provider_key(),
        input,
    }
}

fn items<'a>(
    request: &ModelRequest<'_>,
    history: &'a [Cow<'_, HistoryMessage>],
    ids: &mut Ids<'_>,
) -> Vec<InputItem<'a>> {
    let mut names: HashMap<&str, String> = HashMap::new();
    let mut items = Vec::with_capacity(history.len());
    for said in history {
        match &*said.message {
            Message::User { content } => items.push(message("user", content)),
            Message::Assistant { content } => {
                match said.blocks().and_then(|blocks| replay(blocks, &[], &[])) {
                    Some(theirs) => items.extend(theirs),
                    None => items.push(message("assistant", content)),
                }
            }
            Message::AssistantToolCalls { calls, text } => {
                let own = name_calls(calls, said.blocks(), ids);
                for (call, id) in calls.iter().zip(&own) {
                    names.insert(&call.id, id.clone());
                }
                match said.blocks().and_then(|blocks| replay(blocks, calls, &own)) {
                    Some(theirs) => items.extend(theirs),
                    None => {
                        items.extend(text.as_deref().map(|text| message("assistant", text)));
                        items.extend(called(calls, own));
                    }
                }
            }
            Message::ToolResult {
                call_id,
                content,
                is_error,
                ..
            } => {
                items.push(InputItem::Ours(OwnItem::FunctionCallOutput {
                    call_id: names.get(call_id.as_str()).cloned().unwrap_or_default(),
                    output: output(outcome(content, *is_error), request.image(&said.message)),
                }));
            }
        }
    }
    items
}

fn output<'a>(text: Cow<'a, str>, image: Option<SentImage<'_>>) -> FunctionOutput<'a> {
    let Some(SentImage { kind, bytes }) = image else {
        return FunctionOutput::Text(text);
    };
    let mut image_url = format!("data:{};base64,", kind.media_type());
    STANDARD.encode_string(bytes, &mut image_url);
    FunctionOutput::Parts([
        OutputPart::InputText { text },
        OutputPart::InputImage { image_url },
    ])
}

fn message<'a>(role: &'static str, text: &'a str) -> InputItem<'a> {
    let content = if role == "assistant" {
        ItemContent::OutputText { text }
    } else {
        ItemContent::InputText { text }
    };
    InputItem::Ours(OwnItem::Message {
        role,
        content: vec![content],
    })
}

fn called(calls: &[ToolCall], ids: Vec<String>) -> impl Iterator<Item = InputItem<'_>> {
    calls.iter().zip(ids).map(|(call, call_id)| {
        InputItem::Ours(OwnItem::FunctionCall {
            call_id,
            name: &call.name,
            arguments: call.input.get(),
        })
    })
}

fn name_calls(calls: &[ToolCall], blocks: Option<&Blocks>, ids: &mut Ids<'_>) -> Vec<String> {
    let theirs: Vec<String> = blocks.map_or_else(Vec::new, |blocks| {
        let items = blocks.blocks.iter().filter_map(|raw| function_call(raw));
        items
            .map(|item| item.text("call_id").unwrap_or_default())
            .collect()
    });
    let named = calls.iter().enumerate();
    named
        .map(|(at, call)| {
            let theirs = theirs.get(at).filter(|id| is_plain(id));
            ids.assign(&call.id, theirs.map(String::as_str))
        })
        .collect()
}

fn kind(raw: &RawValue) -> Option<(String, RawObject)> {
    let item = RawObject::parse(raw.get())?;
    Some((item.text("type")?, item))
}

fn function_call(raw: &RawValue) -> Option<RawObject> {
    let (kind, item) = kind(raw)?;
    (kind == "function_call").then_some(item)
}

/// The items as they came, with the names that their calls have in this request. Nothing, if their
/// calls are not exactly these.
///
/// Reasoning that the provider cannot read back, or that led to nothing which is still there, is
/// left out: both are refused.
fn replay<'a>(
    blocks: &'a Blocks,
    calls: &[ToolCall],
    ids: &[String],
) -> Option<Vec<InputItem<'a>>> {
    let mut wanted = calls.iter().zip(ids);
    let mut items: Vec<InputItem<'a>> = Vec::with_capacity(blocks.blocks.len());
    let mut thoughts: Vec<InputItem<'a>> = Vec::new();
    let mut says_something = false;
    for raw in &blocks.blocks {
        let (kind, mut item) = kind(raw)?;
        let mut kept = Cow::Borrowed(raw.as_ref());
        if kind == "reasoning" {
            if item
                .text("encrypted_content")
                .is_some_and(|it| !it.is_empty())
            {
                thoughts.push(InputItem::Theirs(kept));
            }
            continue;
        }
        if kind == "function_call" {
            let (call, id) = wanted.next()?;
            if item.text("name")? != call.name {
                return None;
            }
            let is_same =
                item.text("call_id")? == *id && item.text("arguments")?.trim() == call.input.get();
            if !is_same {
                item.set_text("call_id", id);
                item.set_text("arguments", call.input.get());
                kept = Cow::Owned(item.to_raw()?);
            }
        }
        says_something = true;
        items.append(&mut thoughts);
        items.push(InputItem::Theirs(kept));
    }
    (wanted.next().is_none() && says_something).then_some(items)
}
