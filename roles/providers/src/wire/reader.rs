//! What all readers of streams have in common.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::assembly::{Assembly, UsageTally};
use super::raw::without_lone_surrogates;
use crate::answer::{AnswerStop, ModelAnswer};
use crate::blocks::Blocks;
use crate::event::StreamEvent;
use crate::fault::{FaultClass, RequestFault};
use crate::prepared::Prepared;
use crate::sse::SseEvent;

/// Reads the events of one answer.
pub(crate) trait EventReader: Send {
    /// Takes an event, and adds to `out` what it says.
    fn take(
        &mut self,
        event: &SseEvent,
        out: &mut Vec<StreamEvent>,
    ) -> Result<AnswerProgress, RequestFault>;

    /// The answer, after the last event.
    fn finish(self: Box<Self>) -> Result<ModelAnswer, RequestFault>;
}

/// How far an answer has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerProgress {
    /// Nothing happened; the provider only says that it is alive.
    Alive,
    /// More is to come.
    More,
    /// Nothing more needs to be read.
    Whole,
}

impl AnswerProgress {
    /// More is to come, unless no more of the answer is kept.
    pub(crate) const fn until_full(is_full: bool) -> Self {
        if is_full { Self::Whole } else { Self::More }
    }
}

/// What a reader knows of the request.
#[derive(Debug, Clone)]
pub(crate) struct AskedRequest {
    pub(crate) provider: String,
    pub(crate) model: String,
    pub(crate) needs_arguments: BTreeSet<String>,
    /// The tools that were offered.
    pub(crate) offered: BTreeSet<String>,
    /// How long the request was.
    pub(crate) sent_bytes: usize,
    pub(crate) request_id: Option<String>,
}

impl AskedRequest {
    pub(crate) fn of(provider: &str, prepared: &Prepared) -> Self {
        Self {
            provider: provider.to_owned(),
            model: prepared.model.clone(),
            needs_arguments: prepared.needs_arguments.clone(),
            offered: prepared.offered.clone(),
            sent_bytes: prepared.body.len(),
            request_id: None,
        }
    }

    /// The whole answer.
    pub(super) fn answer(
        self,
        said: &Assembly,
        mut stop: AnswerStop,
        tally: &UsageTally,
        blocks: Vec<Box<serde_json::value::RawValue>>,
    ) -> ModelAnswer {
        if said.is_full {
            stop = AnswerStop::OutputLimit;
        } else if stop == AnswerStop::Tools && !said.has_calls() {
            stop = AnswerStop::End;
        }
        let calls = said.asked(&stop, &self.needs_arguments);
        let (usage, usage_is_known) = tally.settled(self.sent_bytes, said.bytes());
        let blocks = (!blocks.is_empty() && !said.is_full).then(|| Blocks {
            provider: self.provider,
            model: self.model,
            paused: stop == AnswerStop::Paused,
            blocks,
        });
        ModelAnswer {
            text: said.text.clone(),
            calls,
            stop,
            usage,
            usage_is_known,
            blocks,
            request_id: self.request_id,
        }
    }
}

/// Reads the data of an event.
pub(super) fn data<T: DeserializeOwned>(event: &SseEvent) -> Result<T, RequestFault> {
    read(&without_lone_surrogates(&event.data))
}

/// Reads the text of an event, which may be borrowed.
pub(super) fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, RequestFault> {
    serde_json::from_str(text)
        .map_err(|why| garbled(format!("an event is not what it should be: {why}")))
}

/// A fault of the stream's form.
pub(super) fn garbled(why: impl Into<String>) -> RequestFault {
    RequestFault::new(FaultClass::Garbled, why)
}

/// A stream that ended too early.
pub(super) fn cut_off() -> RequestFault {
    RequestFault::new(FaultClass::CutOff, "the stream ended before the answer did")
}
