//! Work that may wait for the outside world: it is started apart from the core, and its result is reported.
//!
//! Reading what a turn begins with from configuration and projects, starting a server of tools and waiting for a
//! process to end are errands: each runs on a thread without the flow, and what the
//! core does with its result is decided by the state that the flow has by then. An errand whose turn was
//! stopped or left meanwhile is forgotten, and its report changes nothing.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use a_society_base::stop::StopSignal;
use a_society_facts::id::TurnId;
use a_society_facts::view::FlowState;
use a_society_flow::graph::FlowGraph;

use super::core::Core;
use super::error::DriverError;
use super::line::StepLine;
use super::role_source::RoleSource;
use super::turn_thread::ThreadReply;
use crate::control::message::Taken;
use crate::limits::{COMMAND_ERRAND_US, COMMAND_ERRANDS_MAX};

/// Tells an errand from all others of its flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ErrandId(u64);

/// What the core does with the result of an errand, and how many facts followed from it.
pub(super) type Report = Box<dyn FnOnce(&mut Core) -> Result<usize, DriverError> + Send>;

/// Work that must now be started. It may take as long as it takes.
pub(super) struct Errand {
    pub(super) id: ErrandId,
    run: Box<dyn FnOnce() -> Report + Send>,
}

impl Errand {
    /// Does the work, on whichever thread this is called.
    pub(super) fn run(self) -> (ErrandId, Report) {
        (self.id, (self.run)())
    }

    /// Does the work and reports it. A fault of the program that ends this thread is reported, too. There is
    /// no answer when the flow is gone.
    pub(super) fn run_and_report(self, line: &StepLine) -> Option<ThreadReply> {
        let _reported = Reported { line, id: self.id };
        let (id, report) = self.run();
        line.report(id, report)
    }
}

impl fmt::Debug for Errand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Errand").field(&self.id.0).finish()
    }
}

/// An errand on a thread, which reports nothing when the thread panics.
struct Reported<'l> {
    line: &'l StepLine,
    id: ErrandId,
}

impl Drop for Reported<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.line.lost(self.id);
        }
    }
}

/// For what an errand is run.
#[derive(Debug)]
enum Purpose {
    /// A turn begins.
    Turn(TurnId, u32),
    /// A command of the operator is carried out.
    Command {
        /// Ends what it waits for.
        stop: StopSignal,
        /// When it was started, as the flow's clock counts.
        since_us: u64,
    },
}

/// The errands of a flow.
#[derive(Debug, Default)]
pub(super) struct Errands {
    last: u64,
    /// Those that were not started yet.
    new: Vec<Errand>,
    /// Those whose report counts.
    awaited: BTreeMap<ErrandId, Purpose>,
}

impl Errands {
    fn add(&mut self, purpose: Purpose, run: Box<dyn FnOnce() -> Report + Send>) -> ErrandId {
        self.last += 1;
        let id = ErrandId(self.last);
        self.awaited.insert(id, purpose);
        self.new.push(Errand { id, run });
        id
    }

    fn of_commands(&self) -> impl Iterator<Item = (&StopSignal, u64)> {
        self.awaited.values().filter_map(|purpose| match purpose {
            Purpose::Command { stop, since_us } => Some((stop, *since_us)),
            Purpose::Turn(..) => None,
        })
    }

    /// Whether there are some that were not started yet.
    pub(super) const fn are_new(&self) -> bool {
        !self.new.is_empty()
    }

    /// Whether a command waits for one.
    pub(super) fn has_commands(&self) -> bool {
        self.of_commands().next().is_some()
    }

    /// Ends what commands wait for that were given up or have waited for long enough.
    pub(super) fn end_overdue(&self, now_us: u64, all: bool) {
        let waits = self.of_commands();
        let overdue = waits
            .filter(|(_, since_us)| all || now_us.saturating_sub(*since_us) >= COMMAND_ERRAND_US);
        overdue.for_each(|(stop, _)| stop.raise());
    }

    /// A report of it changes nothing any more.
    pub(super) fn forget(&mut self, id: ErrandId) {
        self.awaited.remove(&id);
    }
}

/// The answer to a command.
pub(super) type CommandAnswer = Result<Taken, DriverError>;

impl Core {
    /// Runs an errand for a turn that begins. Where nothing of it waits it is run at once.
    ///
    /// # Errors
    /// When the journal refuses.
    pub(super) fn send(
        &mut self,
        (turn, attempt): (TurnId, u32),
        waits: bool,
        run: impl FnOnce() -> Report + Send + 'static,
    ) -> Result<(), DriverError> {
        if !waits {
            return run()(self).map(drop);
        }
        let id = (self.errands).add(Purpose::Turn(turn, attempt), Box::new(run));
        if let Some(live) = self.live.get_mut(turn) {
            live.hosting.set_errand(Some(id));
        }
        Ok(())
    }

    /// Runs an errand for a command. Its work ends when the signal is raised.
    ///
    /// # Errors
    /// When as many commands wait already as may.
    pub(super) fn send_for_command(
        &mut self,
        stop: StopSignal,
        run: impl FnOnce() -> Report + Send + 'static,
    ) -> Result<ErrandId, DriverError> {
        if self.errands.of_commands().count() >= COMMAND_ERRANDS_MAX {
            return Err(DriverError::Busy);
        }
        let since_us = self.flow.elapsed_us();
        let purpose = Purpose::Command { stop, since_us };
        Ok(self.errands.add(purpose, Box::new(run)))
    }

    /// Roles and what they look at, for an errand.
    pub(super) fn roles_apart(&self) -> (Box<dyn RoleSource>, Arc<FlowState>, Arc<FlowGraph>) {
        let state = Arc::clone(&self.flow.views().flow);
        (self.roles.another(), state, Arc::clone(&self.graph))
    }

    /// The errands that must now be started.
    pub(super) fn take_errands(&mut self) -> Vec<Errand> {
        std::mem::take(&mut self.errands.new)
    }

    /// Takes the result of an errand, and answers the command that it was run for, if it was.
    ///
    /// # Errors
    /// When the journal refuses what a turn leads to.
    pub(super) fn report(
        &mut self,
        id: ErrandId,
        report: Report,
    ) -> Result<Option<CommandAnswer>, DriverError> {
        match self.errands.awaited.remove(&id) {
            None => Ok(None),
            Some(Purpose::Turn(turn, _)) => {
                if let Some(live) = self.live.get_mut(turn) {
                    live.hosting.set_errand(None);
                }
                report(self)?;
                Ok(None)
            }
            Some(Purpose::Command { .. }) => {
                let facts = report(self);
                let seq = self.flow.position().seq;
                let taken = facts.map(|facts| Taken { seq, facts });
                Ok(Some(taken))
            }
        }
    }

    /// An errand ends without a result: its thread did, or there was none for it.
    ///
    /// # Errors
    /// When the journal refuses.
    pub(super) fn lose(
        &mut self,
        id: ErrandId,
        why: String,
    ) -> Result<Option<CommandAnswer>, DriverError> {
        match self.errands.awaited.remove(&id) {
            None => Ok(None),
            Some(Purpose::Turn(turn, attempt)) => {
                self.broke(turn, attempt, why)?;
                Ok(None)
            }
            Some(Purpose::Command { .. }) => {
                let lost = std::io::Error::other(why);
                Ok(Some(Err(DriverError::System(lost))))
            }
        }
    }

    /// Runs all errands on this thread, in a process that drives nothing else.
    ///
    /// # Errors
    /// When the journal refuses.
    pub(super) fn run_errands_here(&mut self) -> Result<(), DriverError> {
        loop {
            let errands = self.take_errands();
            if errands.is_empty() {
                return Ok(());
            }
            for errand in errands {
                let (id, report) = errand.run();
                self.report(id, report)?;
            }
        }
    }

    /// Runs the errand of a command on this thread.
    ///
    /// # Errors
    /// When the command is refused, or the journal refuses.
    pub(super) fn run_command_here(&mut self, wanted: ErrandId) -> CommandAnswer {
        let place = (self.errands.new).iter().position(|new| new.id == wanted);
        let errand = place.map(|place| self.errands.new.remove(place));
        let (id, report) = errand.ok_or(DriverError::Gone)?.run();
        self.report(id, report)?.unwrap_or(Err(DriverError::Gone))
    }
}
