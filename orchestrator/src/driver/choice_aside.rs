//! The choice of what its role works with that a turn waits for.

use a_society_facts::id::TurnId;

/// The choice that a turn waits for, if one is under way.
#[derive(Debug, Default)]
pub(super) struct ChoiceAside(Option<TurnId>);

impl ChoiceAside {
    pub(super) const fn begin(&mut self, aside: TurnId) {
        self.0 = Some(aside);
    }

    /// The turn in which the choice is made.
    pub(super) const fn turn(&self) -> Option<TurnId> {
        self.0
    }

    /// The turn in which it was made, which is over from here on.
    pub(super) const fn end(&mut self) -> Option<TurnId> {
        self.0.take()
    }
}
