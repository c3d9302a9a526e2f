//! Streamed text on its way into the journal, in small batches.
//!
//! A model streams a few characters at a time, and a record for each would cost more than the
//! text. A [`DraftStream`] gathers what arrives until it is a batch, or until the oldest of it has
//! waited long enough that a person would notice, and appends it without a sync. Only the
//! operator's live view sees deltas sooner: it asks for what waits, and knows after which record.

use a_society_facts::Fact;
use a_society_facts::fact::turn::{DraftAdded, DraftKind};
use a_society_facts::id::{RoleInstance, Seq, TurnId};
use a_society_facts::message::{AnswerText, ConfirmedDraft};

use crate::error::Error;
use crate::flow::Flow;
use crate::limits::{DRAFT_AGE_US, DRAFT_BYTES};

/// The text one request streams.
#[derive(Debug)]
pub struct DraftStream {
    turn: TurnId,
    role: RoleInstance,
    request: u32,
    kind: DraftKind,
    waiting: String,
    since_us: u64,
    all: ConfirmedDraft,
    /// The last record of this text.
    recorded: Option<Seq>,
}

impl DraftStream {
    /// Begins with nothing.
    #[must_use]
    pub fn new(turn: TurnId, role: RoleInstance, request: u32, kind: DraftKind) -> Self {
        Self {
            turn,
            role,
            request,
            kind,
            waiting: String::with_capacity(DRAFT_BYTES + 256),
            since_us: 0,
            all: ConfirmedDraft::of(""),
            recorded: None,
        }
    }

    /// Takes what arrived, and appends a batch when there is one.
    ///
    /// # Errors
    /// As [`Flow::append`]; what arrived is kept and goes with the next batch.
    pub fn push(&mut self, flow: &mut Flow, delta: &str) -> Result<(), Error> {
        if self.waiting.is_empty() {
            self.since_us = flow.elapsed_us();
        }
        self.waiting.push_str(delta);
        self.all.extend(delta);
        if self.waiting.len() >= DRAFT_BYTES {
            return self.flush(flow);
        }
        Ok(())
    }

    /// Appends what waits if it has waited long enough. The driver calls this
    /// several times a second.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn tick(&mut self, flow: &mut Flow) -> Result<(), Error> {
        let waited = flow.elapsed_us().saturating_sub(self.since_us);
        if waited >= DRAFT_AGE_US {
            self.flush(flow)
        } else {
            Ok(())
        }
    }

    /// Appends what waits.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn flush(&mut self, flow: &mut Flow) -> Result<(), Error> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let fact = DraftAdded {
            turn: self.turn,
            role: self.role.clone(),
            request: self.request,
            kind: self.kind,
            text: self.waiting.clone(),
        };
        self.recorded = Some(flow.append(Fact::DraftAdded(fact))?);
        self.waiting.clear();
        Ok(())
    }

    /// An observer has come: the first part of the text is recorded at once, so that there is something
    /// to which the rest belongs.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn begin(&mut self, flow: &mut Flow) -> Result<(), Error> {
        match self.recorded {
            Some(_) => Ok(()),
            None => self.flush(flow),
        }
    }

    /// What waits, and after which record of this text.
    #[must_use]
    pub fn ahead(&self) -> Option<(Seq, &str)> {
        let after = self.recorded?;
        Some((after, self.waiting.as_str())).filter(|(_, text)| !text.is_empty())
    }

    /// Whether this is the whole text and nothing of it is recorded, so that the answer itself can
    /// hold it and no record of a draft is needed.
    #[must_use]
    pub fn is_unrecorded(&self, whole: &str) -> bool {
        self.recorded.is_none() && self.waiting == whole
    }

    /// The reference to the whole text for the answer, once everything is flushed.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn finish(mut self, flow: &mut Flow) -> Result<AnswerText, Error> {
        self.flush(flow)?;
        Ok(AnswerText::Drafted(self.all))
    }
}
