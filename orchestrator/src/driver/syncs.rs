//! Which records must be durable before a turn or a command goes on.

use a_society_facts::id::Seq;
use a_society_state::{Error, Flow};

/// The syncs that are owed. Several that wait share one.
#[derive(Debug, Default)]
pub(super) struct Syncs {
    /// How many wait until what was appended is durable.
    owed: usize,
    /// The record with which a turn last ended.
    turn_ended: Seq,
}

impl Syncs {
    /// One more waits.
    pub(super) const fn owe(&mut self) {
        self.owed += 1;
    }

    /// How many wait.
    pub(super) const fn owed(&self) -> usize {
        self.owed
    }

    /// A turn ended with this record.
    pub(super) const fn turn_ended(&mut self, seq: Seq) {
        self.turn_ended = seq;
    }

    /// Makes durable what is waited for.
    ///
    /// # Errors
    /// When the journal refuses; then it is still waited for.
    pub(super) fn settle(&mut self, flow: &mut Flow) -> Result<(), Error> {
        if self.owed > 0 {
            flow.sync()?;
            self.owed = 0;
        }
        Ok(())
    }

    /// Makes the end of the last turn durable, unless something that came after it has done so.
    ///
    /// # Errors
    /// When the journal refuses.
    pub(super) fn settle_end(&self, flow: &mut Flow) -> Result<(), Error> {
        if self.turn_ended > flow.durable() {
            flow.sync()?;
        }
        Ok(())
    }
}
