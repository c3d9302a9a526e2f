//! Requests as Anthropic Messages.

use std::borrow::Cow;
use std::collections::HashMap;

use a_society_facts::message::{Message, ToolCall};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::value::RawValue;

use super::super::ids::{Ids, is_plain};
use super::super::raw::RawObject;
use super::super::written::{SplitHistory, WrittenRequest, head, list};
use crate::blocks::Blocks;
use crate::repair::{PartingPoint, SpeakingSide};
use crate::request::{Effort, HistoryMessage, ModelRequest, SentImage, Thinking};

/// The least budget for thinking that the API takes.
const LEAST_BUDGET_TOKENS: u64 = 1_024;

/// The marks that tell the provider up to where to cache. It takes four; one is for the tools and
/// the system prompt, and these are for the ends of the last messages of the user: the newest, so
/// that the next request finds it, and the one before, which the last request left. The fourth is for a
/// long round of calls.
const MARKED_TURNS: usize = 2;

/// So many blocks of a round need no mark between. From a mark the provider looks back over 20 blocks
/// for what it cached.
const ROUND_BLOCKS_MAX: usize = 15;

#[derive(Serialize)]
struct MessagesBody<'a> {
    model: &'a str,
    max_tokens: u64,
    stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<ContentPiece<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<MessagesTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<ThinkingParam>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig>,
    messages: Vec<MessagesTurn<'a>>,
}

#[derive(Serialize)]
struct MessagesTool<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    input_schema: &'a RawValue,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ThinkingParam {
    Adaptive,
    Enabled { budget_tokens: u64 },
}

#[derive(Serialize)]
struct OutputConfig {
    effort: &'static str,
}

#[derive(Serialize)]
struct MessagesTurn<'a> {
    role: &'static str,
    content: Vec<ContentPiece<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ContentPiece<'a> {
    Ours(MessagesBlock<'a>),
    Theirs(Cow<'a, RawValue>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum MessagesBlock<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    ToolUse {
        id: String,
        name: &'a str,
        input: &'a RawValue,
    },
    ToolResult {
        tool_use_id: String,
        content: ResultContent<'a>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
}

/// What a call gave: its text alone, or an image after it.
#[derive(Serialize)]
#[serde(untagged)]
enum ResultContent<'a> {
    Text(&'a str),
    Parts([OutcomePart<'a>; 2]),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum OutcomePart<'a> {
    Text { text: &'a str },
    Image { source: ImageSource },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ImageSource {
    Base64 {
        media_type: &'static str,
        data: String,
    },
}

#[derive(Serialize, Clone, Copy)]
#[serde(tag = "type", rename_all = "snake_case")]
enum CacheControl {
    Ephemeral,
}

/// Where a history may be parted so that what is before it stays as it is written: before the
/// messages that are marked, because the marks move on.
pub(crate) fn part(
    messages: &[Cow<'_, HistoryMessage>],
    parts: &[PartingPoint],
) -> Option<PartingPoint> {
    let marked = marked_from(messages)?;
    parts
        .iter()
        .rev()
        .find(|part| part.mended <= marked)
        .copied()
}

/// Whether a request can be written from here on, without what is before.
pub(crate) fn stands_alone(messages: &[Cow<'_, HistoryMessage>]) -> bool {
    marked_from(messages).is_some()
}

/// The message with which the marked turns begin, if there are as many.
fn marked_from(messages: &[Cow<'_, HistoryMessage>]) -> Option<usize> {
    let is_users =
        |at: usize| Some(SpeakingSide::of(&messages.get(at)?.message) == SpeakingSide::User);
    let begins = |at: &usize| {
        let follows = at.checked_sub(1).and_then(is_users).unwrap_or(false);
        is_users(*at) == Some(true) && !follows
    };
    (0..messages.len())
        .rev()
        .filter(begins)
        .nth(MARKED_TURNS - 1)
}

/// A request without the part that is already encoded.
pub(crate) fn write(
    request: &ModelRequest<'_>,
    SplitHistory { settled, open }: SplitHistory<'_>,
    ids: &mut Ids<'_>,
) -> serde_json::Result<WrittenRequest> {
    let settled = turns(request, settled, ids);
    let settled_ids = ids.given();
    let mut open = turns(request, open, ids);
    if request.cache_key.is_some() {
        mark_turns(&mut open);
    }
    let (thinking, config) = thinking(request, &open);
    Ok(WrittenRequest {
        head: head(&frame(request, thinking, config, Vec::new()))?,
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
    let mut messages = turns(request, history, &mut Ids::default());
    if request.cache_key.is_some() {
        mark_turns(&mut messages);
    }
    let (thinking, config) = thinking(request, &messages);
    serde_json::to_vec(&frame(request, thinking, config, messages))
}

/// A request with these messages at its end.
fn frame<'a>(
    request: &ModelRequest<'a>,
    thinking: Option<ThinkingParam>,
    output_config: Option<OutputConfig>,
    messages: Vec<MessagesTurn<'a>>,
) -> MessagesBody<'a> {
    let caches = request.cache_key.is_some();
    // What is the same in every flow of the role ends with the mark.
    let parts = [(request.system, caches), (request.environment, false)];
    let parts = parts
        .into_iter()
        .filter(|(text, _)| !text.trim().is_empty());
    let system = parts.map(|(text, is_marked)| {
        ContentPiece::Ours(MessagesBlock::Text {
            text,
            cache_control: is_marked.then_some(CacheControl::Ephemeral),
        })
    });
    let tools = request.tools.iter().map(|tool| MessagesTool {
        name: &tool.name,
        description: &tool.description,
        input_schema: &tool.schema,
    });
    MessagesBody {
        model: request.model,
        max_tokens: request.max_output_tokens,
        stream: true,
        system: system.collect(),
        tools: tools.collect(),
        thinking,
        output_config,
        messages,
    }
}

fn thinking(
    request: &ModelRequest<'_>,
    messages: &[MessagesTurn<'_>],
) -> (Option<ThinkingParam>, Option<OutputConfig>) {
    let Some(effort) = request.effort.filter(|effort| *effort != Effort::None) else {
        return (None, None);
    };
    match request.thinking {
        Thinking::Fixed => (None, None),
        Thinking::Levels => {
            let effort = match effort {
                Effort::None | Effort::Minimal | Effort::Low => "low",
                Effort::Medium => "medium",
                Effort::High => "high",
                Effort::XHigh => "xhigh",
                Effort::Max => "max",
            };
            (Some(ThinkingParam::Adaptive), Some(OutputConfig { effort }))
        }
        Thinking::Budget => {
            let wanted: u64 = match effort {
                Effort::None | Effort::Minimal => LEAST_BUDGET_TOKENS,
                Effort::Low => 2_048,
                Effort::Medium => 8_192,
                Effort::High => 16_384,
                Effort::XHigh => 32_768,
                Effort::Max => 65_536,
            };
            // The budget is a part of the output limit, and something must be left to say.
            let budget_tokens = wanted.min(request.max_output_tokens / 2);
            let fits = budget_tokens >= LEAST_BUDGET_TOKENS && may_think(messages);
            let thinking = fits.then_some(ThinkingParam::Enabled { budget_tokens });
            (thinking, None)
        }
    }
}

/// Whether thinking may be on: while calls are being answered, the message that made them must
/// begin with the thinking that led to them, and another model's is not kept.
fn may_think(messages: &[MessagesTurn<'_>]) -> bool {
    let answers_calls = messages.last().is_some_and(|last| {
        let is_result = |part: &ContentPiece<'_>| {
            matches!(part, ContentPiece::Ours(MessagesBlock::ToolResult { .. }))
        };
        last.content.iter().any(is_result)
    });
    let made = messages.iter().rev().find(|turn| turn.role == "assistant");
    let begins_with_thinking = made.is_some_and(|turn| {
        turn.content.first().is_some_and(|part| match part {
            ContentPiece::Ours(_) => false,
            ContentPiece::Theirs(raw) => {
                let kind = RawObject::parse(raw.get()).and_then(|block| block.text("type"));
                matches!(kind.as_deref(), Some("thinking" | "redacted_thinking"))
            }
        })
    });
    !answers_calls || begins_with_thinking
}

fn mark_turns(messages: &mut [MessagesTurn<'_>]) {
    let users = messages.iter_mut().rev().filter(|turn| turn.role == "user");
    for turn in users.take(MARKED_TURNS) {
        mark(turn.content.last_mut());
    }
    mark_inside(messages);
}

/// Marks a block within the last round of calls if it is so long that, from its end, what was cached
/// before it is out of sight.
fn mark_inside(messages: &mut [MessagesTurn<'_>]) {
    let [.., asked, results] = messages else {
        return;
    };
    let (calls, blocks) = (asked.content.len(), results.content.len());
    if results.role == "user" && blocks > 1 && calls + blocks > ROUND_BLOCKS_MAX {
        let inside = ROUND_BLOCKS_MAX.saturating_sub(calls).min(blocks - 2);
        mark(results.content.get_mut(inside));
    }
}

fn mark(block: Option<&mut ContentPiece<'_>>) {
    match block {
        Some(ContentPiece::Ours(
            MessagesBlock::Text { cache_control, .. }
            | MessagesBlock::ToolResult { cache_control, .. },
        )) => *cache_control = Some(CacheControl::Ephemeral),
        Some(ContentPiece::Ours(MessagesBlock::ToolUse { .. }) | ContentPiece::Theirs(_))
        | None => {}
    }
}

fn turns<'a>(
    request: &ModelRequest<'_>,
    history: &'a [Cow<'_, HistoryMessage>],
    ids: &mut Ids<'_>,
) -> Vec<MessagesTurn<'a>> {
    let mut names: HashMap<&str, String> = HashMap::new();
    let mut turns: Vec<MessagesTurn<'a>> = Vec::new();
    for said in history {
        match &*said.message {
            Message::User { content } => add(&mut turns, "user", [text(content)]),
            Message::Assistant { content } => {
                let parts = said.blocks().and_then(|blocks| replay(blocks, &[], &[]));
                let parts = parts.unwrap_or_else(|| vec![text(content)]);
                add(&mut turns, "assistant", parts);
            }
            Message::AssistantToolCalls {
                calls,
                text: said_before,
            } => {
                let theirs = said.blocks().map(call_ids).unwrap_or_default();
                let own: Vec<String> = calls
                    .iter()
                    .enumerate()
                    .map(|(at, call)| {
                        let theirs = theirs.get(at).filter(|id| is_plain(id));
                        ids.assign(&call.id, theirs.map(String::as_str))
                    })
                    .collect();
                for (call, id) in calls.iter().zip(&own) {
                    names.insert(&call.id, id.clone());
                }
                let parts = said.blocks().and_then(|blocks| replay(blocks, calls, &own));
                let parts = parts.unwrap_or_else(|| {
                    let before = said_before.as_deref().map(text);
                    before.into_iter().chain(uses(calls, own)).collect()
                });
                add(&mut turns, "assistant", parts);
            }
            Message::ToolResult {
                call_id,
                content,
                is_error,
                ..
            } => {
                let part = ContentPiece::Ours(MessagesBlock::ToolResult {
                    tool_use_id: names.get(call_id.as_str()).cloned().unwrap_or_default(),
                    content: outcome(content, request.image(&said.message)),
                    is_error: *is_error,
                    cache_control: None,
                });
                add(&mut turns, "user", [part]);
            }
        }
    }
    turns
}

fn outcome<'a>(text: &'a str, image: Option<SentImage<'_>>) -> ResultContent<'a> {
    let Some(SentImage { kind, bytes }) = image else {
        return ResultContent::Text(text);
    };
    let source = ImageSource::Base64 {
        media_type: kind.media_type(),
        data: STANDARD.encode(bytes),
    };
    ResultContent::Parts([OutcomePart::Text { text }, OutcomePart::Image { source }])
}

fn text(text: &str) -> ContentPiece<'_> {
    ContentPiece::Ours(MessagesBlock::Text {
        text,
        cache_control: None,
    })
}

fn uses(calls: &[ToolCall], ids: Vec<String>) -> impl Iterator<Item = ContentPiece<'_>> {
    calls.iter().zip(ids).map(|(call, id)| {
        ContentPiece::Ours(MessagesBlock::ToolUse {
            id,
            name: &call.name,
            input: &call.input,
        })
    })
}

/// Adds parts to the last turn if the same side speaks on. Results and the words after them are
/// one turn of the user.
fn add<'a>(
    turns: &mut Vec<MessagesTurn<'a>>,
    role: &'static str,
    parts: impl IntoIterator<Item = ContentPiece<'a>>,
) {
    match turns.last_mut() {
        Some(last) if last.role == role => last.content.extend(parts),
        Some(_) | None => turns.push(MessagesTurn {
            role,
            content: parts.into_iter().collect(),
        }),
    }
}

/// The provider's own names of the calls in its blocks.
fn call_ids(blocks: &Blocks) -> Vec<String> {
    let uses = blocks.blocks.iter().filter_map(|raw| tool_use(raw));
    uses.map(|block| block.text("id").unwrap_or_default())
        .collect()
}

fn tool_use(raw: &RawValue) -> Option<RawObject> {
    // Most blocks are not calls, and are long: search before parsing.
    if !raw.get().contains("\"tool_use\"") {
        return None;
    }
    let block = RawObject::parse(raw.get())?;
    (block.text("type")? == "tool_use").then_some(block)
}

/// The blocks as they came, with the names that their calls have in this request. Nothing, if their
/// calls are not exactly these.
fn replay<'a>(
    blocks: &'a Blocks,
    calls: &[ToolCall],
    ids: &[String],
) -> Option<Vec<ContentPiece<'a>>> {
    let mut wanted = calls.iter().zip(ids);
    let mut parts = Vec::with_capacity(blocks.blocks.len());
    for raw in &blocks.blocks {
        let Some(mut block) = tool_use(raw) else {
            parts.push(ContentPiece::Theirs(Cow::Borrowed(raw.as_ref())));
            continue;
        };
        let (call, id) = wanted.next()?;
        if block.text("name")? != call.name {
            return None;
        }
        let is_same = block.text("id")? == *id;
        parts.push(ContentPiece::Theirs(if is_same {
            Cow::Borrowed(raw.as_ref())
        } else {
            block.set_text("id", id);
            Cow::Owned(block.to_raw()?)
        }));
    }
    (wanted.next().is_none() && !parts.is_empty()).then_some(parts)
}
