//! What is asked beside a turn: the summary of its session, and what its role works with.

use a_society_facts::id::TurnId;

/// The turns aside that one turn waits for.
#[derive(Debug, Default)]
pub(super) struct Asides {
    /// The compaction under way, and the turn in which its summary is made.
    compaction: Option<(String, TurnId)>,
    /// The turn in which is chosen what the role works with.
    choosing: Option<TurnId>,
}

impl Asides {
    /// A summary is made in this turn from now on.
    pub(super) fn begin_compaction(&mut self, compaction: String, aside: TurnId) {
        self.compaction = Some((compaction, aside));
    }

    /// The turn in which a summary is made.
    pub(super) fn summary(&self) -> Option<TurnId> {
        self.compaction.as_ref().map(|(_, aside)| *aside)
    }

    /// The compaction that was under way, which is over from here on.
    pub(super) const fn end_compaction(&mut self) -> Option<(String, TurnId)> {
        self.compaction.take()
    }

    /// What the role works with is chosen in this turn from now on.
    pub(super) const fn begin_choice(&mut self, aside: TurnId) {
        self.choosing = Some(aside);
    }

    /// The turn in which is chosen what the role works with.
    pub(super) const fn choice(&self) -> Option<TurnId> {
        self.choosing
    }

    /// The choice is over from here on.
    pub(super) const fn end_choice(&mut self) -> Option<TurnId> {
        self.choosing.take()
    }
}
