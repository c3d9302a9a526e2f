//! The compaction that a turn waits for.

use a_society_facts::fact::session::Trigger;
use a_society_facts::id::TurnId;
use a_society_flow::machine::session::SessionAside;

/// The compaction that a turn waits for, if one is under way.
#[derive(Debug, Default)]
pub(super) struct CompactionAside(Option<SummaryTurn>);

/// A compaction, and the turn in which its summary is made.
#[derive(Debug)]
pub(super) struct SummaryTurn {
    pub(super) compaction: String,
    pub(super) turn: TurnId,
}

/// A compaction that is not under way any more, with or without a summary.
#[derive(Debug)]
pub(super) struct EndedCompaction {
    pub(super) compaction: String,
    pub(super) trigger: Trigger,
    /// The turn in which the summary was made.
    pub(super) aside: SessionAside,
}

impl SummaryTurn {
    /// Who wanted the session of a turn compacted: the operator's own turn makes the summary itself.
    pub(super) fn trigger_for(&self, waiting: TurnId) -> Trigger {
        if self.turn == waiting {
            Trigger::Manual
        } else {
            Trigger::Auto
        }
    }
}

impl CompactionAside {
    pub(super) fn begin(&mut self, summary: SummaryTurn) {
        self.0 = Some(summary);
    }

    /// The turn in which the summary is made.
    pub(super) fn turn(&self) -> Option<TurnId> {
        self.0.as_ref().map(|summary| summary.turn)
    }

    /// The compaction that was under way, which is over from here on.
    pub(super) const fn end(&mut self) -> Option<SummaryTurn> {
        self.0.take()
    }
}
