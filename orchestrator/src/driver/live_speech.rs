//! What a turn says becomes facts: streamed text, answers, and what is kept of those that were cut off.

use a_society_facts::Fact;
use a_society_facts::fact::turn::{
    DraftDiscarded, DraftKept, DraftKind, ModelAnswered, ModelFailed, RawValueEq,
};
use a_society_facts::id::TurnId;
use a_society_facts::message::{AnswerText, Message};
use a_society_facts::view::flow::RequestState;
use a_society_roles::turn::step::TurnStep;

use super::error::DriverError;
use super::live_turn::LiveTurn;
use super::pen::FlowPen;
use super::speech::SpeechSource;
use crate::limits::PROVIDER_BLOCKS_BYTES_MAX;

impl LiveTurn {
    /// The request that what it says now answers.
    fn source(&self, pen: &FlowPen) -> SpeechSource {
        SpeechSource {
            turn: self.subject.turn(),
            role: self.subject.role().clone(),
            request: pen.request_of(self.subject.turn()),
        }
    }

    /// Removes the secrets from a step.
    pub(super) fn clean(
        &mut self,
        pen: &mut FlowPen,
        step: &mut TurnStep,
    ) -> Result<(), DriverError> {
        let source = self.source(pen);
        Ok(self.speech.clean(&mut pen.flow, &source, step)?)
    }

    /// A piece of what the role says.
    pub(super) fn draft(
        &mut self,
        pen: &mut FlowPen,
        kind: DraftKind,
        text: &str,
    ) -> Result<(), DriverError> {
        let source = self.source(pen);
        Ok(self.speech.push(&mut pen.flow, &source, kind, text)?)
    }

    /// What was streamed so far goes into the journal.
    pub(super) fn flush(&mut self, pen: &mut FlowPen) -> Result<Option<AnswerText>, DriverError> {
        let source = self.source(pen);
        Ok(self.speech.flush(&mut pen.flow, &source)?)
    }

    /// What was streamed does not count.
    pub(super) fn discard(&mut self, pen: &mut FlowPen, why: String) -> Result<(), DriverError> {
        let drafted = self.flush(pen)?;
        if drafted.is_none() {
            return Ok(());
        }
        let SpeechSource {
            turn,
            role,
            request,
        } = self.source(pen);
        pen.append(Fact::DraftDiscarded(DraftDiscarded {
            turn,
            role,
            request,
            why,
        }))
    }

    /// The model answered.
    pub(super) fn answer(
        &mut self,
        pen: &mut FlowPen,
        answer: TurnStep,
    ) -> Result<(), DriverError> {
        let TurnStep::Answer {
            text,
            calls,
            stop,
            usage,
            provider_blocks,
            report,
        } = answer
        else {
            return Ok(());
        };
        let source = self.source(pen);
        let text = self.speech.answer(&mut pen.flow, &source, text)?;
        let spoken = self.speech.take_changed();
        let SpeechSource {
            turn,
            role,
            request,
        } = source;
        let message = pen.name("m")?;
        pen.spoken.keep(turn, &message, spoken);
        pen.append(Fact::ModelAnswered(ModelAnswered {
            turn,
            attempt: self.subject.attempt(),
            role,
            request,
            message,
            text,
            calls,
            stop,
            usage,
            provider_blocks: provider_blocks.filter(|kept| fits(kept)),
            report,
        }))
    }

    /// Its request failed.
    pub(super) fn failed(
        &mut self,
        pen: &mut FlowPen,
        class: String,
        error: String,
        retry_in_ms: Option<u64>,
    ) -> Result<(), DriverError> {
        let why = format!("the request failed, {}", class.replace('_', " "));
        self.discard(pen, why)?;
        let SpeechSource {
            turn,
            role,
            request,
        } = self.source(pen);
        let open = pen.open_turn(turn).and_then(|open| open.request.as_ref());
        if open.is_none_or(|request| request.state != RequestState::Asked) {
            return Ok(());
        }
        pen.append(Fact::ModelFailed(ModelFailed {
            turn,
            attempt: self.subject.attempt(),
            role,
            request,
            class,
            error,
            retry_in_ms,
        }))
    }

    /// Keeps what was streamed of a request that was cut off, and gives its text back. A request of
    /// which nothing arrived is over as one that failed.
    pub(super) fn keep_cut(&mut self, pen: &mut FlowPen) -> Result<Option<String>, DriverError> {
        self.flush(pen)?;
        let (turn, role) = (self.subject.turn(), self.subject.role());
        let open = pen.open_turn(turn);
        let asked = open.and_then(|open| Some((open.attempt, open.request.as_ref()?)));
        let Some((attempt, request)) = asked else {
            return Ok(None);
        };
        let (number, state, drafted) = (request.number, request.state, request.drafted_bytes);
        if state != RequestState::Asked {
            return Ok(None);
        }
        if drafted == 0 {
            pen.append(Fact::ModelFailed(ModelFailed {
                turn,
                attempt,
                role: role.clone(),
                request: number,
                class: "interrupted".to_owned(),
                error: "the operator spoke before anything was said".to_owned(),
                retry_in_ms: Some(0),
            }))?;
            return Ok(None);
        }
        let message = pen.name("m")?;
        pen.append(Fact::DraftKept(DraftKept {
            turn,
            role: role.clone(),
            request: number,
            message,
        }))?;
        let session = pen.session(role);
        let last = session.and_then(|session| session.messages.last());
        Ok(match last.map(|entry| &*entry.message) {
            Some(Message::Assistant { content }) => Some(content.clone()),
            Some(_) | None => None,
        })
    }
}

/// What was streamed of an answer that will not end is kept as it is.
pub(super) fn keep_draft(pen: &mut FlowPen, turn: TurnId) -> Result<(), DriverError> {
    let open = pen.open_turn(turn);
    let request = open.and_then(|open| open.request.as_ref());
    let Some(request) = request.filter(|request| request.drafted_bytes > 0) else {
        return Ok(());
    };
    let (request, role) = (request.number, open.map(|open| open.role.clone()));
    let Some(role) = role else { return Ok(()) };
    let message = pen.name("m")?;
    pen.append(Fact::DraftKept(DraftKept {
        turn,
        role,
        request,
        message,
    }))
}

/// Whether the blocks of a provider fit into the record of an answer. They repeat its text and its
/// calls; without them the answer goes back in the words of the message.
fn fits(blocks: &RawValueEq) -> bool {
    blocks.0.get().len() <= PROVIDER_BLOCKS_BYTES_MAX
}
