//! Answers of Chat Completions, chunk by chunk.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::assembly::{Assembly, Count, UsageTally};
use super::super::reader::{AnswerProgress, AskedRequest, EventReader, cut_off, data, garbled};
use super::super::words::ErrorWords;
use super::{KeptAnswer, spelled};
use crate::answer::{AnswerStop, ModelAnswer};
use crate::event::StreamEvent;
use crate::fault::RequestFault;
use crate::limits;
use crate::sse::SseEvent;

/// The data of the last event.
const DONE: &str = "[DONE]";

/// Reads one answer.
#[derive(Debug)]
pub(crate) struct Chunks {
    asked: AskedRequest,
    said: Assembly,
    tally: UsageTally,
    /// The calls by the places that the provider gives them.
    places: Vec<u64>,
    kept: KeptAnswer,
    stop: Option<AnswerStop>,
    /// Whether something arrived that only follows a whole answer.
    is_over: bool,
    /// Whether the reasoning was too long to be kept.
    is_lossy: bool,
}

#[derive(Deserialize)]
struct ChatChunk {
    choices: Option<Vec<ChatChoice>>,
    usage: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct ChatChoice {
    index: Option<u64>,
    delta: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Deserialize, Default)]
struct Delta {
    /// A text, or parts of which some are reasoning.
    content: Option<Value>,
    refusal: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    reasoning_details: Option<Vec<Value>>,
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct CallDelta {
    index: Option<u64>,
    id: Option<String>,
    function: Option<FunctionDelta>,
    extra_content: Option<Value>,
}

#[derive(Deserialize, Default)]
struct FunctionDelta {
    name: Option<String>,
    arguments: Option<Value>,
}

impl Chunks {
    pub(crate) fn new(asked: AskedRequest) -> Self {
        Self {
            asked,
            said: Assembly::default(),
            tally: UsageTally::default(),
            places: Vec::new(),
            kept: KeptAnswer::default(),
            stop: None,
            is_over: false,
            is_lossy: false,
        }
    }

    fn count(&mut self, usage: &Value, out: &mut Vec<StreamEvent>) {
        let details = usage.get("prompt_tokens_details");
        let written = details.and_then(|details| details.get("cache_write_tokens"));
        self.tally.take(Count::CacheWrite, written);
        let cached = details.and_then(|details| details.get("cached_tokens"));
        // One provider of this wire has a name of its own for it.
        let cached = cached.or_else(|| usage.get("prompt_cache_hit_tokens"));
        self.tally
            .take_whole_input(usage.get("prompt_tokens"), cached);
        self.tally
            .take(Count::Output, usage.get("completion_tokens"));
        out.push(StreamEvent::Usage(self.tally.so_far()));
    }

    fn delta(&mut self, delta: Delta, out: &mut Vec<StreamEvent>) -> Result<(), RequestFault> {
        let has_details = delta.reasoning_details.is_some();
        if let Some(details) = delta.reasoning_details {
            merge_details(&mut self.kept.reasoning_details, details);
        }
        if let Some(piece) = delta.reasoning_content.or(delta.reasoning) {
            let has_room = self.said.reasoning(&piece, out);
            self.is_lossy |= !has_room;
            // What comes as parts, too, is kept as parts only.
            if has_room && !has_details && self.kept.reasoning_details.is_empty() {
                self.kept.reasoning_content.push_str(&piece);
            }
        }
        if let Some(content) = delta.content {
            self.content(&content, out);
        }
        if let Some(piece) = delta.refusal {
            self.said.text(&piece, out);
        }
        for call in delta.tool_calls.into_iter().flatten() {
            self.call(call, out)?;
        }
        Ok(())
    }

    fn content(&mut self, content: &Value, out: &mut Vec<StreamEvent>) {
        if let Some(piece) = content.as_str() {
            return self.said.text(piece, out);
        }
        for part in content.as_array().into_iter().flatten() {
            if let Some(piece) = part.get("text").and_then(Value::as_str) {
                self.said.text(piece, out);
            }
            // This form of reasoning is not wanted back.
            let thoughts = part.get("thinking").and_then(Value::as_array);
            for thought in thoughts.into_iter().flatten() {
                let piece = thought.get("text").and_then(Value::as_str);
                self.said.reasoning(piece.unwrap_or_default(), out);
            }
        }
    }

    fn call(&mut self, delta: CallDelta, out: &mut Vec<StreamEvent>) -> Result<(), RequestFault> {
        let function = delta.function.unwrap_or_default();
        let id = delta.id.unwrap_or_default();
        let name = function.name.unwrap_or_default();
        let at = match self.place_of(delta.index, &id, &name) {
            Some(at) => at,
            None if self.places.len() >= limits::BLOCKS => {
                return Err(garbled("the answer has more calls than an answer can have"));
            }
            None => {
                let next = self.places.last().map_or(0, |last| last + 1);
                self.places.push(delta.index.unwrap_or(next));
                self.said.begin_call(&id, &name, out)
            }
        };
        if let Some(extra) = delta.extra_content.filter(|extra| !extra.is_null()) {
            self.kept.call_extras.insert(at, extra);
        }
        match function.arguments {
            None | Some(Value::Null) => {}
            Some(Value::String(piece)) => self.said.arguments(at, &piece, out),
            // Some local servers send the arguments as JSON and not as its text.
            Some(whole) => self.said.arguments(at, &whole.to_string(), out),
        }
        Ok(())
    }

    /// The call that a piece belongs to; nothing if it begins a new one. A server that gives every
    /// call the same place tells them apart by their names.
    fn place_of(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let at = match index {
            Some(index) => self.places.iter().rposition(|place| *place == index)?,
            None => self.places.len().checked_sub(1)?,
        };
        let (known_id, known_name) = self.said.call_names(at)?;
        let is_new = !id.is_empty() && id != known_id && !name.is_empty() && !known_name.is_empty();
        (!is_new).then_some(at)
    }

    /// Whether every place between the first and the last has its call: a call that was lost on
    /// the way would leave the others without it.
    fn has_gaps(&self) -> bool {
        let mut places = self.places.clone();
        places.sort_unstable();
        places.dedup();
        places.windows(2).any(|pair| pair[1] - pair[0] != 1)
            || places.first().is_some_and(|first| *first > 1)
    }

    /// Takes a text that is nothing but calls as these calls, and says how the answer ended.
    fn spelled(&mut self) -> AnswerStop {
        let Some(calls) = spelled::calls(&self.said.text, &self.asked.offered) else {
            return AnswerStop::End;
        };
        // They were streamed as text already.
        let mut out = Vec::new();
        for call in calls {
            let at = self.said.begin_call("", &call.name, &mut out);
            self.said.whole_arguments(at, &call.arguments);
        }
        self.said.text.clear();
        AnswerStop::Tools
    }

    fn kept(&mut self) -> Vec<Box<serde_json::value::RawValue>> {
        let mut kept = std::mem::take(&mut self.kept);
        let ids = (0..self.places.len()).filter_map(|at| self.said.call_names(at));
        kept.call_ids = ids.map(|(id, _)| id.to_owned()).collect();
        if self.is_lossy {
            kept.reasoning_content.clear();
            kept.reasoning_details.clear();
        }
        let is_empty = kept.call_ids.is_empty()
            && kept.reasoning_content.is_empty()
            && kept.reasoning_details.is_empty();
        if is_empty {
            return Vec::new();
        }
        serde_json::value::to_raw_value(&kept).into_iter().collect()
    }
}

/// Whether content holds anything.
fn says(content: &Value) -> bool {
    let parts = content.as_array().is_some_and(|parts| !parts.is_empty());
    parts || content.as_str().is_some_and(|text| !text.is_empty())
}

/// Adds parts of reasoning to those before: the same part goes on with its texts.
fn merge_details(known: &mut Vec<Value>, pieces: Vec<Value>) {
    for piece in pieces {
        let Value::Object(piece) = piece else {
            continue;
        };
        let goes_on = known
            .last_mut()
            .and_then(Value::as_object_mut)
            .filter(|last| {
                ["type", "index"]
                    .iter()
                    .all(|name| last.get(*name) == piece.get(*name))
                    && last.get("type") != Some(&Value::from("reasoning.encrypted"))
                    // What is signed is over.
                    && last.get("signature").is_none_or(Value::is_null)
            });
        if let Some(last) = goes_on {
            grow(last, piece);
        } else if known.len() < limits::BLOCKS {
            known.push(Value::Object(piece));
        }
    }
}

fn grow(last: &mut Map<String, Value>, piece: Map<String, Value>) {
    for (name, value) in piece {
        match (last.get_mut(&name), value) {
            (_, Value::Null) => {}
            (Some(Value::String(text)), Value::String(more))
                if matches!(name.as_str(), "text" | "summary") =>
            {
                text.push_str(&more);
            }
            (_, value) => {
                last.insert(name, value);
            }
        }
    }
}

impl EventReader for Chunks {
    fn take(
        &mut self,
        event: &SseEvent,
        out: &mut Vec<StreamEvent>,
    ) -> Result<AnswerProgress, RequestFault> {
        if event.data.trim() == DONE {
            self.is_over = true;
            return Ok(AnswerProgress::Whole);
        }
        let chunk: ChatChunk = data(event)?;
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(ErrorWords::of(&error).in_stream());
        }
        let usage = chunk.usage.filter(Value::is_object);
        let has_usage = usage.is_some();
        if let Some(usage) = usage {
            // Some servers end with it and leave the last event out.
            self.is_over |= self.stop.is_some();
            self.count(&usage, out);
        }
        for choice in chunk.choices.into_iter().flatten() {
            if choice.index.unwrap_or(0) != 0 {
                continue;
            }
            let delta = choice.delta.unwrap_or_default();
            let says_something = delta.content.as_ref().is_some_and(says)
                || delta.tool_calls.as_ref().is_some_and(|it| !it.is_empty());
            if self.stop.is_some() && says_something {
                return Err(garbled("the answer goes on after its end"));
            }
            self.delta(delta, out)?;
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
                self.is_over |= has_usage;
                for at in 0..self.places.len() {
                    Assembly::end_call(at, out);
                }
                self.stop = Some(match reason.as_str() {
                    "stop" => AnswerStop::End,
                    "tool_calls" | "function_call" => AnswerStop::Tools,
                    "length" => AnswerStop::OutputLimit,
                    "content_filter" => AnswerStop::Refusal,
                    _ => AnswerStop::Other(reason),
                });
            }
        }
        Ok(AnswerProgress::until_full(self.said.is_full))
    }

    fn finish(mut self: Box<Self>) -> Result<ModelAnswer, RequestFault> {
        let mut stop = match self.stop.take() {
            _ if self.said.is_full => AnswerStop::OutputLimit,
            // Calls run only if the stream reached its end.
            Some(AnswerStop::Tools) if !self.is_over => return Err(cut_off()),
            Some(stop) => stop,
            None => return Err(cut_off()),
        };
        if self.has_gaps() {
            return Err(garbled("a call is missing between the others"));
        }
        if stop == AnswerStop::End && self.is_over && !self.said.has_calls() {
            stop = self.spelled();
        }
        let blocks = self.kept();
        Ok(self.asked.answer(&self.said, stop, &self.tally, blocks))
    }
}
