//! Whether a flow is driven on, and when there may be something to start.

use a_society_facts::At;

/// How far a flow is driven by this process.
#[derive(Debug)]
pub(super) struct DriveState {
    /// Whether this process drives the flow on, and does not only open it for a command.
    driven: bool,
    /// Whether nothing new is started, because the process ends.
    draining: bool,
    /// Whether something happened since the last look that may have given work to start.
    changed: bool,
    /// When a limit of a provider resets for which a role waits; the first of them.
    wake_at: Option<At>,
}

impl Default for DriveState {
    fn default() -> Self {
        Self {
            driven: false,
            draining: false,
            changed: true,
            wake_at: None,
        }
    }
}

impl DriveState {
    /// The flow is driven on. Says whether it is for the first time.
    pub(super) const fn begin(&mut self) -> bool {
        let is_first = !self.driven && !self.draining;
        self.driven |= is_first;
        is_first
    }

    /// Nothing new is started from now on.
    pub(super) const fn drain(&mut self) {
        self.draining = true;
    }

    pub(super) const fn is_draining(&self) -> bool {
        self.draining
    }

    /// Something happened that may have given work to start, if it did.
    pub(super) const fn change(&mut self, is_changed: bool) {
        self.changed |= is_changed;
    }

    /// Whether there may be work to start that was not looked at.
    pub(super) const fn is_changed(&self) -> bool {
        self.changed
    }

    /// What there is to start is looked at now, if it has to be.
    pub(super) const fn look(&mut self) -> bool {
        let looks = self.changed && !self.draining;
        if looks {
            self.changed = false;
            self.wake_at = None;
        }
        looks
    }

    /// A role waits until then.
    pub(super) fn wake_at(&mut self, at: At) {
        self.wake_at = Some(self.wake_at.map_or(at, |first| first.min(at)));
    }

    /// When the first role goes on that waits for a moment, as far as it was looked at.
    pub(super) const fn wakes_at(&self) -> Option<At> {
        self.wake_at
    }

    /// Whether that moment has come; then there is something to look at.
    pub(super) fn wake(&mut self, now: At) -> bool {
        let wakes = !self.draining && self.wake_at.is_some_and(|at| at <= now);
        if wakes {
            self.wake_at = None;
            self.changed = true;
        }
        wakes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_looked_at_once_for_each_change_and_never_while_it_drains() {
        let mut drive = DriveState::default();
        assert!(drive.begin() && !drive.begin());
        assert!(drive.look() && !drive.look());
        drive.change(false);
        assert!(!drive.look());
        drive.change(true);
        drive.drain();
        assert!(drive.is_changed() && !drive.look());
    }

    #[test]
    fn a_flow_that_drains_at_once_was_never_driven() {
        let mut drive = DriveState::default();
        drive.drain();
        assert!(!drive.begin());
    }

    #[test]
    fn the_first_of_the_moments_wakes_the_flow_once() {
        let mut drive = DriveState::default();
        assert!(drive.look());
        drive.wake_at(At::from_ms(7));
        drive.wake_at(At::from_ms(5));
        drive.wake_at(At::from_ms(9));
        assert_eq!(drive.wakes_at(), Some(At::from_ms(5)));
        assert!(!drive.wake(At::from_ms(4)) && !drive.look());
        assert!(drive.wake(At::from_ms(5)) && drive.look());
        assert!(!drive.wake(At::from_ms(6)));
    }
}
