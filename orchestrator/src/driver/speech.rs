//! What a turn says: its streamed text without secrets, the answer that the text becomes, and the ending that was judged.

use std::sync::Arc;

use a_society_base::redact::Redactor;
use a_society_facts::fact::request::RequestFrame;
use a_society_facts::fact::turn::DraftKind;
use a_society_facts::id::{RoleInstance, Seq, TurnId};
use a_society_facts::limits::INLINE_TEXT_BYTES_MAX;
use a_society_facts::message::{AnswerText, ConfirmedDraft};
use a_society_roles::turn::step::TurnStep;
use a_society_state::draft::DraftStream;
use a_society_state::{Error, Flow};

use super::judged_end::JudgedEnd;
use super::withhold::{SecretFilter, Spoken};

/// The request whose answer streams.
#[derive(Debug)]
pub(super) struct SpeechSource {
    pub(super) turn: TurnId,
    pub(super) role: RoleInstance,
    pub(super) request: u32,
}

/// What a turn says.
#[derive(Debug, Default)]
pub(super) struct TurnSpeech {
    text: Option<DraftStream>,
    thought: Option<DraftStream>,
    filter: SecretFilter,
    /// What its last request was made of besides the session, as its taker reported it.
    frame: Option<Arc<RequestFrame>>,
    /// What the turn is about to end with, as judged at the call that ends it.
    ending: Option<JudgedEnd>,
    /// Whether text streamed since this was last asked.
    streamed: bool,
}

impl TurnSpeech {
    /// The taker that speaks from now on knows these secrets.
    pub(super) fn begin(&mut self, redactor: Option<Redactor>) {
        self.filter = SecretFilter::new(redactor);
    }

    pub(super) const fn redactor(&self) -> &Redactor {
        self.filter.redactor()
    }

    /// Removes the secrets from a step. Streamed text of the other kind ends with it.
    pub(super) fn clean(
        &mut self,
        flow: &mut Flow,
        source: &SpeechSource,
        step: &mut TurnStep,
    ) -> Result<(), Error> {
        let TurnStep::Draft { kind, text } = step else {
            self.filter.step(step);
            return Ok(());
        };
        let other = match kind {
            DraftKind::Text => DraftKind::Reasoning,
            DraftKind::Reasoning => DraftKind::Text,
        };
        self.push_rest(flow, source, other)?;
        *text = self.filter.piece(*kind, text);
        Ok(())
    }

    /// Streamed text arrived. Text and thought keep their order, however long each of the two waits for its batch.
    pub(super) fn push(
        &mut self,
        flow: &mut Flow,
        source: &SpeechSource,
        kind: DraftKind,
        text: &str,
    ) -> Result<(), Error> {
        self.streamed = true;
        let (stream, other) = match kind {
            DraftKind::Text => (&mut self.text, &mut self.thought),
            DraftKind::Reasoning => (&mut self.thought, &mut self.text),
        };
        if let Some(other) = other {
            other.flush(flow)?;
        }
        let fresh = || DraftStream::new(source.turn, source.role.clone(), source.request, kind);
        stream.get_or_insert_with(fresh).push(flow, text)
    }

    /// What was streamed so far goes into the journal.
    pub(super) fn flush(
        &mut self,
        flow: &mut Flow,
        source: &SpeechSource,
    ) -> Result<Option<AnswerText>, Error> {
        self.push_rests(flow, source)?;
        if let Some(thought) = self.thought.take() {
            thought.finish(flow)?;
        }
        match self.text.take() {
            Some(text) => Ok(Some(text.finish(flow)?)),
            None => Ok(None),
        }
    }

    /// The text of a complete answer as its record has it: inline, or as the hash of what streamed.
    pub(super) fn answer(
        &mut self,
        flow: &mut Flow,
        source: &SpeechSource,
        text: String,
    ) -> Result<AnswerText, Error> {
        self.push_rests(flow, source)?;
        if self.text.is_none() && text.len() > INLINE_TEXT_BYTES_MAX {
            // A long answer that came in one piece goes the way of a streamed one, so that no
            // record is long.
            for piece in pieces(&text) {
                self.push(flow, source, DraftKind::Text, piece)?;
            }
        }
        // An answer that was there before its first batch was full, or old enough, needs no record of
        // how it streamed.
        self.text.take_if(|draft| draft.is_unrecorded(&text));
        // The journal holds what was streamed; its hash shows that it is the same.
        let drafted = self.flush(flow, source)?;
        let same = AnswerText::Drafted(ConfirmedDraft::of(&text));
        Ok(match drafted {
            Some(drafted) if drafted == same => drafted,
            Some(_) | None => AnswerText::Inline(text),
        })
    }

    /// What the filter held back of streamed texts is part of their drafts.
    fn push_rests(&mut self, flow: &mut Flow, source: &SpeechSource) -> Result<(), Error> {
        self.push_rest(flow, source, DraftKind::Reasoning)?;
        self.push_rest(flow, source, DraftKind::Text)
    }

    fn push_rest(
        &mut self,
        flow: &mut Flow,
        source: &SpeechSource,
        kind: DraftKind,
    ) -> Result<(), Error> {
        let rest = self.filter.rest(kind);
        if rest.is_empty() {
            return Ok(());
        }
        self.push(flow, source, kind, &rest)
    }

    /// Time passes: text that has waited for long enough goes into the journal.
    pub(super) fn tick(&mut self, flow: &mut Flow) -> Result<(), Error> {
        self.streams().try_for_each(|stream| stream.tick(flow))
    }

    /// What streamed and is in no record yet, each after its last record. The first words of a text are recorded by this.
    pub(super) fn unrecorded(&mut self, flow: &mut Flow) -> Result<Vec<(Seq, String)>, Error> {
        let mut waiting = Vec::new();
        for stream in self.streams() {
            stream.begin(flow)?;
            waiting.extend(stream.ahead().map(|(after, text)| (after, text.to_owned())));
        }
        Ok(waiting)
    }

    fn streams(&mut self) -> impl Iterator<Item = &mut DraftStream> {
        self.thought.as_mut().into_iter().chain(self.text.as_mut())
    }

    pub(super) const fn take_streamed(&mut self) -> bool {
        std::mem::replace(&mut self.streamed, false)
    }

    /// The answer that was filtered last, as the model gave it, if the filter changed it.
    pub(super) const fn take_changed(&mut self) -> Option<Spoken> {
        self.filter.take_changed()
    }

    /// Whether the next request is made of something else than the one before it.
    pub(super) fn change_frame(&mut self, frame: &Arc<RequestFrame>) -> bool {
        let before = self.frame.replace(Arc::clone(frame));
        before.is_none_or(|before| !Arc::ptr_eq(&before, frame))
    }

    /// Keeps what the turn is about to end with.
    pub(super) fn judge(&mut self, ending: JudgedEnd) {
        self.ending = Some(ending);
    }

    pub(super) const fn take_judged(&mut self) -> Option<JudgedEnd> {
        self.ending.take()
    }

    pub(super) const fn has_judged(&self) -> bool {
        self.ending.is_some()
    }
}

/// A long text in pieces that cut no character.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.floor_char_boundary(INLINE_TEXT_BYTES_MAX / 2);
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_join_to_the_text_and_cut_no_character() {
        let text = "aé漢".repeat(INLINE_TEXT_BYTES_MAX / 3);
        let cut: Vec<&str> = pieces(&text).collect();
        assert!(cut.len() > 1);
        assert!(
            cut.iter()
                .all(|piece| piece.len() <= INLINE_TEXT_BYTES_MAX / 2)
        );
        assert_eq!(cut.concat(), text);
    }
}
