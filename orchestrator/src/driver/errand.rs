//! Work that may wait for the outside world: it is started apart from the core, and its result is reported.
//!
//! Reading what a turn begins with from configuration and projects, starting a server of tools and waiting for a
//! process to end are errands: each runs on a thread without the flow, and what the
//! core does with its result is decided by the state that the flow has by then. An errand whose turn was
//! stopped or left meanwhile is forgotten, and its report changes nothing.

use std::collections::BTreeMap;
use std::fmt;

use a_society_base::stop::StopSignal;

use super::attempt::TurnAttempt;
use super::error::DriverError;
use crate::control::message::Taken;
use crate::limits::COMMAND_ERRAND_US;

/// Tells an errand from all others of its flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ErrandId(u64);

/// What the core does with the result of an errand, and how many facts followed from it.
pub(super) type Report<C> = Box<dyn FnOnce(&mut C) -> Result<usize, DriverError> + Send>;

/// The work of an errand, on whichever thread it is done.
type ErrandRun<C> = Box<dyn FnOnce() -> Report<C> + Send>;

/// Work that must now be started. It may take as long as it takes.
pub(super) struct Errand<C> {
    pub(super) id: ErrandId,
    run: ErrandRun<C>,
}

impl<C> Errand<C> {
    /// Does the work, on whichever thread this is called.
    pub(super) fn run(self) -> (ErrandId, Report<C>) {
        (self.id, (self.run)())
    }
}

impl<C> fmt::Debug for Errand<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Errand").field(&self.id.0).finish()
    }
}

/// For what an errand is run.
#[derive(Debug)]
pub(super) enum Purpose {
    /// A turn begins.
    Turn(TurnAttempt),
    /// Handed-over files are restored, for which every turn waits.
    Files,
    /// A command of the operator is carried out.
    Command {
        /// Ends what it waits for.
        stop: StopSignal,
        /// When it was started, as the flow's clock counts.
        since_us: u64,
        /// The proposed change whose file it writes.
        writes: Option<String>,
    },
}

/// The errands of a flow, whose results this core takes.
#[derive(Debug)]
pub(super) struct Errands<C> {
    last: u64,
    /// Those that were not started yet.
    new: Vec<Errand<C>>,
    /// Those whose report counts.
    awaited: BTreeMap<ErrandId, Purpose>,
}

impl<C> Default for Errands<C> {
    fn default() -> Self {
        Self {
            last: 0,
            new: Vec::new(),
            awaited: BTreeMap::new(),
        }
    }
}

impl<C> Errands<C> {
    /// Work that must now be started.
    pub(super) fn add(&mut self, purpose: Purpose, run: ErrandRun<C>) -> ErrandId {
        self.last += 1;
        let id = ErrandId(self.last);
        self.awaited.insert(id, purpose);
        self.new.push(Errand { id, run });
        id
    }

    fn of_commands(&self) -> impl Iterator<Item = (&StopSignal, u64)> {
        self.awaited.values().filter_map(|purpose| match purpose {
            Purpose::Command { stop, since_us, .. } => Some((stop, *since_us)),
            Purpose::Turn(_) | Purpose::Files => None,
        })
    }

    /// Whether handed-over files are being restored.
    pub(super) fn are_files_awaited(&self) -> bool {
        let mut awaited = self.awaited.values();
        awaited.any(|purpose| matches!(purpose, Purpose::Files))
    }

    /// The errand of a command writes the file of this change.
    pub(super) fn write(&mut self, id: ErrandId, change: String) {
        if let Some(Purpose::Command { writes, .. }) = self.awaited.get_mut(&id) {
            *writes = Some(change);
        }
    }

    /// The change whose file is being written that a decision would be about: the named one, or any.
    pub(super) fn written(&self, named: Option<&String>) -> Option<&String> {
        let written = self.awaited.values().filter_map(|purpose| match purpose {
            Purpose::Command { writes, .. } => writes.as_ref(),
            Purpose::Turn(_) | Purpose::Files => None,
        });
        let mut meant = written.filter(|change| named.is_none_or(|named| named == *change));
        meant.next()
    }

    /// Whether there are some that were not started yet.
    pub(super) const fn are_new(&self) -> bool {
        !self.new.is_empty()
    }

    /// How many commands wait for one.
    pub(super) fn commands(&self) -> usize {
        self.of_commands().count()
    }

    /// Ends what commands wait for that were given up or have waited for long enough.
    pub(super) fn end_overdue(&self, now_us: u64, all: bool) {
        let waits = self.of_commands();
        let overdue = waits
            .filter(|(_, since_us)| all || now_us.saturating_sub(*since_us) >= COMMAND_ERRAND_US);
        overdue.for_each(|(stop, _)| stop.raise());
    }

    /// For what an errand was run that is over or whose report changes nothing any more; nothing if it was
    /// forgotten.
    pub(super) fn forget(&mut self, id: ErrandId) -> Option<Purpose> {
        self.awaited.remove(&id)
    }

    /// Those that must now be started.
    pub(super) fn take_new(&mut self) -> Vec<Errand<C>> {
        std::mem::take(&mut self.new)
    }

    /// This one, if it was not started yet.
    pub(super) fn take(&mut self, wanted: ErrandId) -> Option<Errand<C>> {
        let place = self.new.iter().position(|new| new.id == wanted)?;
        Some(self.new.remove(place))
    }
}

/// The answer to a command.
pub(super) type CommandAnswer = Result<Taken, DriverError>;

#[cfg(test)]
mod tests {
    use super::*;

    fn add(errands: &mut Errands<()>, purpose: Purpose) -> ErrandId {
        errands.add(purpose, Box::new(|| Box::new(|()| Ok(0))))
    }

    #[test]
    fn a_change_is_being_written_until_its_errand_is_over() {
        let mut errands = Errands::default();
        let command = || Purpose::Command {
            stop: StopSignal::default(),
            since_us: 0,
            writes: None,
        };
        let (first, second) = (add(&mut errands, command()), add(&mut errands, command()));
        let (style, other) = ("style".to_owned(), "other".to_owned());
        assert_eq!(errands.written(None), None);
        errands.write(first, style.clone());
        errands.forget(second);
        errands.write(second, other.clone());
        assert_eq!(errands.written(None), Some(&style));
        assert_eq!(errands.written(Some(&style)), Some(&style));
        assert_eq!(errands.written(Some(&other)), None);
        errands.forget(first);
        assert_eq!(errands.written(None), None);
    }

    #[test]
    fn files_are_awaited_until_they_are_restored_and_no_command_waits_for_them() {
        let mut errands = Errands::default();
        let id = add(&mut errands, Purpose::Files);
        assert!(errands.are_files_awaited() && errands.are_new());
        assert_eq!(errands.commands(), 0);
        errands.take_new();
        assert!(errands.are_files_awaited() && !errands.are_new());
        errands.forget(id);
        assert!(!errands.are_files_awaited());
    }
}
