//! Answers of Responses, event by event.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::assembly::{Assembly, Count, UsageTally};
use super::super::raw::RawObject;
use super::super::reader::{AnswerProgress, AskedRequest, EventReader, cut_off, data, garbled};
use super::super::words::ErrorWords;
use crate::answer::{AnswerStop, ModelAnswer};
use crate::event::StreamEvent;
use crate::fault::{FaultClass, RequestFault};
use crate::limits;
use crate::sse::SseEvent;

/// Reads one answer.
#[derive(Debug)]
pub(crate) struct ResponsesReader {
    asked: AskedRequest,
    said: Assembly,
    tally: UsageTally,
    items: BTreeMap<u64, OpenItem>,
    stop: Option<AnswerStop>,
    /// Whether reasoning was too long to be kept.
    is_lossy: bool,
}

/// An item that arrives.
#[derive(Debug, Default)]
struct OpenItem {
    /// Its place among the calls, if it is one.
    call: Option<usize>,
    /// Whether any of its text or arguments came in pieces.
    has_pieces: bool,
    /// The whole item, once it is there.
    whole: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct ResponsesFrame {
    #[serde(rename = "type")]
    kind: String,
    output_index: Option<u64>,
    item: Option<Box<RawValue>>,
    delta: Option<Value>,
    response: Option<Response>,
}

#[derive(Deserialize)]
struct Response {
    #[serde(default)]
    output: Option<Vec<Value>>,
    usage: Option<Value>,
    error: Option<Value>,
    incomplete_details: Option<Value>,
}

impl ResponsesReader {
    pub(crate) fn new(asked: AskedRequest) -> Self {
        Self {
            asked,
            said: Assembly::default(),
            tally: UsageTally::default(),
            items: BTreeMap::new(),
            stop: None,
            is_lossy: false,
        }
    }

    fn begin(
        &mut self,
        at: Option<u64>,
        raw: Option<&RawValue>,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), RequestFault> {
        let at = at.ok_or_else(|| garbled("an item has no place"))?;
        if self.items.contains_key(&at) {
            return Err(garbled("an item begins twice"));
        }
        if self.items.len() >= limits::BLOCKS {
            return Err(garbled("the answer has more items than an answer can have"));
        }
        let item = raw.and_then(|raw| RawObject::parse(raw.get()));
        let item = item.ok_or_else(|| garbled("an item begins without one"))?;
        let mut open = OpenItem::default();
        if item.text("type").as_deref() == Some("function_call") {
            let id = item.text("call_id").unwrap_or_default();
            let name = item.text("name").unwrap_or_default();
            open.call = Some(self.said.begin_call(&id, &name, out));
        }
        self.items.insert(at, open);
        Ok(())
    }

    /// The item that a piece is for.
    fn open(&mut self, at: Option<u64>) -> Result<&mut OpenItem, RequestFault> {
        let open = at.and_then(|at| self.items.get_mut(&at));
        open.filter(|open| open.whole.is_none())
            .ok_or_else(|| garbled("a delta is for an item that is not open"))
    }

    fn piece(
        &mut self,
        frame: &ResponsesFrame,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), RequestFault> {
        let piece = frame
            .delta
            .as_ref()
            .and_then(Value::as_str)
            .unwrap_or_default();
        let open = self.open(frame.output_index)?;
        open.has_pieces = true;
        let call = open.call;
        match frame.kind.as_str() {
            "response.function_call_arguments.delta" => {
                let call = call.ok_or_else(|| garbled("arguments are for what is no call"))?;
                self.said.arguments(call, piece, out);
            }
            "response.output_text.delta" | "response.refusal.delta" => self.said.text(piece, out),
            _ => self.is_lossy |= !self.said.reasoning(piece, out),
        }
        Ok(())
    }

    fn end(
        &mut self,
        frame: ResponsesFrame,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), RequestFault> {
        let raw = frame
            .item
            .ok_or_else(|| garbled("an item ends without one"))?;
        let open = self.open(frame.output_index)?;
        let (call, has_pieces) = (open.call, open.has_pieces);
        let item = RawObject::parse(raw.get()).ok_or_else(|| garbled("an item is no object"))?;
        if raw.get().len() <= limits::EVENT_BYTES {
            open.whole = Some(raw.clone());
        }
        if let Some(call) = call {
            let arguments = item.text("arguments").unwrap_or_default();
            if has_pieces {
                self.said.whole_arguments(call, &arguments);
            } else {
                self.said.arguments(call, &arguments, out);
            }
            Assembly::end_call(call, out);
        } else if !has_pieces && item.text("type").as_deref() == Some("message") {
            self.said.text(&text_of(raw.get()), out);
        }
        Ok(())
    }

    fn count(&mut self, usage: Option<&Value>, out: &mut Vec<StreamEvent>) {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else {
            return;
        };
        let details = usage.get("input_tokens_details");
        let cached = details.and_then(|details| details.get("cached_tokens"));
        self.tally
            .take_whole_input(usage.get("input_tokens"), cached);
        self.tally.take(Count::Output, usage.get("output_tokens"));
        out.push(StreamEvent::Usage(self.tally.so_far()));
    }

    fn over(
        &mut self,
        kind: &str,
        response: Option<Response>,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), RequestFault> {
        let response = response.ok_or_else(|| garbled("the answer ends without one"))?;
        self.count(response.usage.as_ref(), out);
        if kind == "response.failed" {
            return Err(ErrorWords::of(&response.error.unwrap_or_default()).in_stream());
        }
        let listed = response.output.as_ref().map_or(0, Vec::len);
        if listed > self.items.len() {
            return Err(garbled("an item of the answer did not arrive"));
        }
        let reason = response.incomplete_details;
        let reason = reason
            .as_ref()
            .and_then(|it| it.get("reason"))
            .and_then(Value::as_str);
        self.stop = Some(match (kind, reason) {
            ("response.completed", _) if self.said.has_calls() => AnswerStop::Tools,
            ("response.completed", _) => AnswerStop::End,
            (_, Some("max_output_tokens")) => AnswerStop::OutputLimit,
            (_, Some("content_filter")) => AnswerStop::Refusal,
            (_, reason) => AnswerStop::Other(reason.unwrap_or("incomplete").to_owned()),
        });
        Ok(())
    }

    /// The items as they are sent back, if all of them are complete. Empty messages are left out,
    /// because the provider refuses them.
    fn kept(&self) -> Vec<Box<RawValue>> {
        let wholes: Option<Vec<_>> = self.items.values().map(|open| open.whole.clone()).collect();
        let says_something = |raw: &RawValue| {
            let item = RawObject::parse(raw.get());
            let is_message = item.and_then(|item| item.text("type")).as_deref() == Some("message");
            !is_message || !text_of(raw.get()).trim().is_empty()
        };
        let wholes = wholes.unwrap_or_default().into_iter();
        let kept = wholes.filter(|raw| says_something(raw));
        if self.is_lossy {
            return Vec::new();
        }
        kept.collect()
    }
}

/// The text of a message.
fn text_of(item: &str) -> String {
    let item: Value = serde_json::from_str(item).unwrap_or_default();
    let parts = item.get("content").and_then(Value::as_array);
    let said = |part: &Value| {
        let text = part.get("text").or_else(|| part.get("refusal"));
        text.and_then(Value::as_str).map(ToOwned::to_owned)
    };
    parts.into_iter().flatten().filter_map(said).collect()
}

impl EventReader for ResponsesReader {
    fn take(
        &mut self,
        event: &SseEvent,
        out: &mut Vec<StreamEvent>,
    ) -> Result<AnswerProgress, RequestFault> {
        if event.data.trim() == "[DONE]" {
            return Ok(AnswerProgress::Whole);
        }
        let frame: ResponsesFrame = data(event)?;
        match frame.kind.as_str() {
            "response.output_item.added" => {
                self.begin(frame.output_index, frame.item.as_deref(), out)?
            }
            "response.output_text.delta"
            | "response.refusal.delta"
            | "response.function_call_arguments.delta"
            | "response.reasoning_summary_text.delta"
            | "response.reasoning_text.delta" => self.piece(&frame, out)?,
            "response.output_item.done" => self.end(frame, out)?,
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.over(&frame.kind, frame.response, out)?;
                return Ok(AnswerProgress::Whole);
            }
            "response.cancelled" => {
                return Err(RequestFault::new(
                    FaultClass::Server,
                    "the provider cancelled the answer",
                ));
            }
            "error" => {
                let error: Value = data(event)?;
                return Err(ErrorWords::of(&error).in_stream());
            }
            "keepalive" | "ping" => return Ok(AnswerProgress::Alive),
            // What is not known yet is not needed yet.
            _ => {}
        }
        Ok(AnswerProgress::until_full(self.said.is_full))
    }

    fn finish(mut self: Box<Self>) -> Result<ModelAnswer, RequestFault> {
        let is_whole = self.items.values().all(|open| open.whole.is_some());
        let stop = match self.stop.take() {
            _ if self.said.is_full => AnswerStop::OutputLimit,
            // An answer that was cut may leave its last item open.
            Some(stop) if is_whole || !matches!(stop, AnswerStop::End | AnswerStop::Tools) => stop,
            Some(_) => return Err(garbled("an item of the answer never ended")),
            None => return Err(cut_off()),
        };
        let blocks = self.kept();
        Ok(self.asked.answer(&self.said, stop, &self.tally, blocks))
    }
}
