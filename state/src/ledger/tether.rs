//! What ties the writer of a flow to its ledger: the lines that the ledger does not keep yet.
//!
//! Everything after the last kept record is held here until it is kept, because a ledger may lose what
//! it only took with [`Promise::Soon`]. That an answer was lost is safe to repeat, unlike a failed sync of a file:
//! the same chunk again is taken again, and another one in its place is seen as such.

use std::thread::sleep;
use std::time::Duration;

use super::{Appended, Chunk, JournalEnd, LedgerAccess, LedgerError, Promise};
use crate::flow_ref::FlowRef;
use crate::limits::{LEDGER_MOVES_MAX, LEDGER_PAUSE, LEDGER_PAUSE_MAX, LEDGER_UNSURE_MAX};

/// Why nothing more is sent.
#[derive(Debug)]
pub(crate) enum Parted {
    /// Another worker went on with the journal.
    MovedOn,
    /// The ledger fails.
    Failed(LedgerError),
}

/// A line that is not kept yet.
#[derive(Debug, Clone, Copy)]
struct UnkeptLine {
    end: JournalEnd,
    /// Where its bytes end.
    upto_byte: usize,
}

/// The writer's end of a ledger.
#[derive(Debug)]
pub(crate) struct Tether {
    access: LedgerAccess,
    flow: FlowRef,
    kept: Option<JournalEnd>,
    held: Vec<UnkeptLine>,
    bytes: Vec<u8>,
    /// How many of the lines were sent and may be lost again.
    sent: usize,
}

impl Tether {
    /// Goes on after a record that the ledger keeps, or begins a journal.
    pub(crate) const fn new(access: LedgerAccess, flow: FlowRef, kept: Option<JournalEnd>) -> Self {
        Self {
            access,
            flow,
            kept,
            held: Vec::new(),
            bytes: Vec::new(),
            sent: 0,
        }
    }

    /// Takes a line that was appended to the copy.
    pub(crate) fn hold(&mut self, end: JournalEnd, line: &[u8]) {
        self.bytes.extend_from_slice(line);
        self.held.push(UnkeptLine {
            end,
            upto_byte: self.bytes.len(),
        });
    }

    /// Sends what was not sent. Where everything was, an empty chunk asks for the promise.
    ///
    /// # Errors
    /// When another worker went on, or the ledger fails for longer than it may.
    pub(crate) fn send(&mut self, promise: Promise) -> Result<(), Parted> {
        let is_owed = match promise {
            Promise::Kept => !self.held.is_empty(),
            Promise::Soon => self.sent < self.held.len(),
        };
        if !is_owed {
            return Ok(());
        }
        let mut first = self.sent;
        let mut moves = 0;
        while let Appended::Moved { end } = self.append(first, promise)? {
            moves += 1;
            first = self
                .line_after(end)
                .filter(|_| moves <= LEDGER_MOVES_MAX)
                .ok_or(Parted::MovedOn)?;
        }
        self.sent = self.held.len();
        if promise == Promise::Kept {
            self.kept = self.held.last().map(|last| last.end).or(self.kept);
            self.held.clear();
            self.bytes.clear();
            self.sent = 0;
        }
        Ok(())
    }

    /// The line to go on with where the ledger ends with one of ours: it lost lines that it never promised to keep, or
    /// took some whose answer was lost.
    fn line_after(&self, end: Option<JournalEnd>) -> Option<usize> {
        if end == self.kept {
            return Some(0);
        }
        let at = self.held.iter().position(|held| Some(held.end) == end)?;
        Some(at + 1)
    }

    fn chunk(&self, first: usize) -> Option<Chunk> {
        let before = first.checked_sub(1).and_then(|at| self.held.get(at));
        let from = before.map_or(0, |held| held.upto_byte);
        Some(Chunk {
            after: before.map(|held| held.end).or(self.kept),
            upto: self.held.last()?.end,
            bytes: self.bytes.get(from..)?.to_vec(),
        })
    }

    /// Appends once; repeats what was not reached or not answered.
    fn append(&self, first: usize, promise: Promise) -> Result<Appended, Parted> {
        let Some(chunk) = self.chunk(first) else {
            return Ok(Appended::Taken);
        };
        let mut waited = Duration::ZERO;
        let mut pause = LEDGER_PAUSE;
        let mut unsure = 0;
        loop {
            let error = match self.access.ledger.append(&self.flow, &chunk, promise) {
                Ok(appended) => return Ok(appended),
                Err(error) => error,
            };
            let is_unsure = matches!(error, LedgerError::Unsure { .. });
            let may_pass = is_unsure || matches!(error, LedgerError::Unreachable { .. });
            if is_unsure && unsure < LEDGER_UNSURE_MAX {
                unsure += 1;
            } else if may_pass && promise == Promise::Kept && waited < self.access.patience {
                let wait = pause.min(self.access.patience);
                sleep(wait);
                waited += wait;
                pause = (pause * 2).min(LEDGER_PAUSE_MAX);
            } else {
                return Err(Parted::Failed(error));
            }
        }
    }
}
