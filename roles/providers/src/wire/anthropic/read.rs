//! Answers of Anthropic Messages, event by event.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::assembly::{Assembly, Count, UsageTally};
use super::super::raw::{RawMembers, RawObject, empty_object, without_lone_surrogates};
use super::super::reader::{AnswerProgress, AskedRequest, EventReader, cut_off, garbled, read};
use super::super::words::ErrorWords;
use crate::answer::{AnswerStop, ModelAnswer, ModelCall};
use crate::event::StreamEvent;
use crate::fault::RequestFault;
use crate::limits;
use crate::sse::SseEvent;

/// Reads one answer.
#[derive(Debug)]
pub(crate) struct Messages {
    asked: AskedRequest,
    said: Assembly,
    tally: UsageTally,
    blocks: Vec<OpenBlock>,
    stop: Option<AnswerStop>,
    /// Whether the last event of the stream arrived.
    is_over: bool,
    /// Whether a block was too long to be kept, so that the blocks are incomplete.
    is_lossy: bool,
}

/// A block that arrives.
#[derive(Debug)]
struct OpenBlock {
    kind: String,
    object: RawObject,
    /// Where its text is in the text of the answer, which holds it already.
    spoken: Vec<Range<usize>>,
    /// What deltas added to its other texts.
    texts: BTreeMap<String, String>,
    /// What deltas added to its input.
    input: String,
    citations: Vec<Box<RawValue>>,
    /// Its place among the calls, if it is one.
    call: Option<usize>,
    is_closed: bool,
}

#[derive(Deserialize)]
struct MessagesFrame<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    index: Option<usize>,
    content_block: Option<RawObject>,
    #[serde(borrow)]
    delta: Option<RawMembers<'a>>,
    message: Option<Value>,
    usage: Option<Value>,
    error: Option<Value>,
}

impl Messages {
    pub(crate) fn new(asked: AskedRequest) -> Self {
        Self {
            asked,
            said: Assembly::default(),
            tally: UsageTally::default(),
            blocks: Vec::new(),
            stop: None,
            is_over: false,
            is_lossy: false,
        }
    }

    fn count(&mut self, usage: Option<&Value>, out: &mut Vec<StreamEvent>) {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else {
            return;
        };
        for (what, name) in [
            (Count::Input, "input_tokens"),
            (Count::Output, "output_tokens"),
            (Count::CacheRead, "cache_read_input_tokens"),
            (Count::CacheWrite, "cache_creation_input_tokens"),
        ] {
            self.tally.take(what, usage.get(name));
        }
        out.push(StreamEvent::Usage(self.tally.so_far()));
    }

    fn begin(
        &mut self,
        frame: MessagesFrame<'_>,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), RequestFault> {
        let object = frame
            .content_block
            .ok_or_else(|| garbled("a block begins without one"))?;
        if frame.index != Some(self.blocks.len()) {
            return Err(garbled("a block begins out of turn"));
        }
        if self.blocks.len() >= limits::BLOCKS {
            return Err(garbled(
                "the answer has more blocks than an answer can have",
            ));
        }
        let kind = object
            .text("type")
            .ok_or_else(|| garbled("a block has no type"))?;
        let mut open = OpenBlock {
            kind,
            object,
            spoken: Vec::new(),
            texts: BTreeMap::new(),
            input: String::new(),
            citations: Vec::new(),
            call: None,
            is_closed: false,
        };
        match open.kind.as_str() {
            "text" => {
                let begun = open.object.text("text").unwrap_or_default();
                self.said.text(&begun, out);
            }
            "thinking" => {
                let begun = open.object.text("thinking").unwrap_or_default();
                self.is_lossy |= !self.said.reasoning(&begun, out);
            }
            "tool_use" => {
                let id = open.object.text("id").unwrap_or_default();
                let name = open.object.text("name").unwrap_or_default();
                open.call = Some(self.said.begin_call(&id, &name, out));
            }
            _ => {}
        }
        self.blocks.push(open);
        Ok(())
    }

    fn add(
        &mut self,
        frame: MessagesFrame<'_>,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), RequestFault> {
        let delta = frame.delta.ok_or_else(|| garbled("a delta is empty"))?;
        let kind = delta
            .text("type")
            .ok_or_else(|| garbled("a delta has no type"))?;
        let open = frame.index.and_then(|index| self.blocks.get_mut(index));
        let open = open
            .filter(|open| !open.is_closed)
            .ok_or_else(|| garbled("a delta is for a block that is not open"))?;
        match kind.as_str() {
            "input_json_delta" => {
                let piece = delta.text("partial_json").unwrap_or_default();
                if open.input.len() + piece.len() <= limits::ARGUMENTS_BYTES {
                    open.input.push_str(&piece);
                }
                if let Some(call) = open.call {
                    self.said.arguments(call, &piece, out);
                }
            }
            "citations_delta" => {
                if let Some(citation) = delta.get("citation") {
                    open.citations.push(citation.to_owned());
                }
            }
            _ => {
                // Each other delta adds to the text that is named as it is: `text_delta`,
                // `thinking_delta`, `signature_delta`, and those that are not known yet.
                let name = kind.strip_suffix("_delta").unwrap_or(&kind);
                let piece = delta.text(name).unwrap_or_default();
                let kept = match name {
                    "text" => {
                        let from = self.said.text.len();
                        self.said.text(&piece, out);
                        open.speak(from..self.said.text.len());
                        self.is_lossy |= self.said.is_full;
                        return Ok(());
                    }
                    "thinking" => self.said.reasoning(&piece, out),
                    _ => true,
                };
                let text = open.texts.entry(name.to_owned()).or_default();
                if kept && text.len() + piece.len() <= limits::EVENT_BYTES {
                    text.push_str(&piece);
                } else {
                    self.is_lossy = true;
                }
            }
        }
        Ok(())
    }

    fn end(
        &mut self,
        index: Option<usize>,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), RequestFault> {
        let open = index.and_then(|index| self.blocks.get_mut(index));
        let open = open
            .filter(|open| !open.is_closed)
            .ok_or_else(|| garbled("a block ends that is not open"))?;
        open.is_closed = true;
        if let Some(call) = open.call {
            if open.input.is_empty() {
                // A block that brings its input at once has no deltas.
                let begun = open.object.get("input").map(RawValue::get);
                let begun = begun.filter(|input| *input != "{}" && *input != "null");
                self.said.arguments(call, begun.unwrap_or_default(), out);
            }
            Assembly::end_call(call, out);
        }
        Ok(())
    }

    fn stopped(&mut self, frame: &MessagesFrame<'_>) {
        let delta = frame.delta.as_ref();
        let Some(reason) = delta.and_then(|delta| delta.text("stop_reason")) else {
            return;
        };
        self.stop = Some(match reason.as_str() {
            "end_turn" | "stop_sequence" => AnswerStop::End,
            "tool_use" => AnswerStop::Tools,
            "max_tokens" => AnswerStop::OutputLimit,
            "model_context_window_exceeded" => AnswerStop::WindowFull,
            "refusal" => AnswerStop::Refusal,
            "pause_turn" => AnswerStop::Paused,
            _ => AnswerStop::Other(reason),
        });
    }

    /// The blocks as they are sent back. Blank texts are left out, because the provider refuses them.
    fn kept(&self, calls: &[ModelCall]) -> Vec<Box<RawValue>> {
        if self.is_lossy {
            return Vec::new();
        }
        let text = &self.said.text;
        let kept = self.blocks.iter().map(|open| open.settle(calls, text));
        kept.collect::<Option<Vec<_>>>()
            .map(|blocks| blocks.into_iter().flatten().collect())
            .unwrap_or_default()
    }
}

impl OpenBlock {
    /// Takes the next part of the answer's text for its own.
    fn speak(&mut self, part: Range<usize>) {
        match self.spoken.last_mut() {
            Some(last) if last.end == part.start => last.end = part.end,
            Some(_) | None => self.spoken.push(part),
        }
    }

    /// The block; `Some(None)` if it is left out.
    #[expect(
        clippy::option_option,
        reason = "left out is not the same as impossible"
    )]
    fn settle(&self, calls: &[ModelCall], said: &str) -> Option<Option<Box<RawValue>>> {
        let mut object = self.object.clone();
        if !self.spoken.is_empty() {
            let spoken = self.spoken.iter().cloned();
            let spoken = spoken.map(|part| said.get(part).unwrap_or_default());
            let begun = object.text("text").unwrap_or_default();
            let parts: Vec<&str> = std::iter::once(begun.as_str()).chain(spoken).collect();
            object.set_text("text", &parts.concat());
        }
        for (name, text) in &self.texts {
            let begun = object.text(name).unwrap_or_default();
            object.set_text(name, &format!("{begun}{text}"));
        }
        if self.kind == "text" && object.text("text")?.trim().is_empty() {
            return Some(None);
        }
        if !self.citations.is_empty() {
            let citations = serde_json::value::to_raw_value(&self.citations).ok()?;
            object.set("citations", citations);
        }
        if let Some(call) = self.call.and_then(|call| calls.get(call)) {
            object.set("input", call.input.clone());
        } else if !self.input.is_empty() {
            let input = RawValue::from_string(self.input.clone());
            object.set("input", input.unwrap_or_else(|_| empty_object()));
        }
        object.to_raw().map(Some)
    }
}

impl EventReader for Messages {
    fn take(
        &mut self,
        event: &SseEvent,
        out: &mut Vec<StreamEvent>,
    ) -> Result<AnswerProgress, RequestFault> {
        let text = without_lone_surrogates(&event.data);
        let frame: MessagesFrame<'_> = read(&text)?;
        match &*frame.kind {
            "ping" => return Ok(AnswerProgress::Alive),
            "message_start" => {
                let usage = frame
                    .message
                    .as_ref()
                    .and_then(|message| message.get("usage"));
                self.count(usage, out);
            }
            "content_block_start" => self.begin(frame, out)?,
            "content_block_delta" => self.add(frame, out)?,
            "content_block_stop" => self.end(frame.index, out)?,
            "message_delta" => {
                self.stopped(&frame);
                self.count(frame.usage.as_ref(), out);
            }
            "message_stop" => {
                self.is_over = true;
                return Ok(AnswerProgress::Whole);
            }
            "error" => return Err(ErrorWords::of(&frame.error.unwrap_or_default()).in_stream()),
            // What is not known yet is not needed yet.
            _ => {}
        }
        Ok(AnswerProgress::until_full(self.said.is_full))
    }

    fn finish(mut self: Box<Self>) -> Result<ModelAnswer, RequestFault> {
        let is_whole = self.blocks.iter().all(|open| open.is_closed);
        let stop = match self.stop.take() {
            _ if self.said.is_full => AnswerStop::OutputLimit,
            // Calls run only if the stream reached its last event.
            Some(AnswerStop::Tools) if !self.is_over => return Err(cut_off()),
            Some(stop) if is_whole => stop,
            Some(_) | None => return Err(cut_off()),
        };
        let calls = self.said.asked(&stop, &self.asked.needs_arguments);
        let blocks = self.kept(&calls);
        Ok(self.asked.answer(&self.said, stop, &self.tally, blocks))
    }
}
