//! The core sends errands, and takes their results.

use a_society_base::stop::StopSignal;

use super::attempt::TurnAttempt;
use super::core::Core;
use super::errand::{CommandAnswer, Errand, ErrandId, Purpose, Report};
use super::error::DriverError;
use crate::control::message::Taken;
use crate::limits::COMMAND_ERRANDS_MAX;

impl Core {
    /// Runs an errand for a turn that begins. Where nothing of it waits it is run at once.
    ///
    /// # Errors
    /// When the journal refuses.
    pub(super) fn send(
        &mut self,
        whose: TurnAttempt,
        waits: bool,
        run: impl FnOnce() -> Report<Self> + Send + 'static,
    ) -> Result<(), DriverError> {
        if !waits {
            return run()(self).map(drop);
        }
        let id = self.errands.add(Purpose::Turn(whose), Box::new(run));
        if let Some(live) = self.live.get_mut(whose.turn) {
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
        run: impl FnOnce() -> Report<Self> + Send + 'static,
    ) -> Result<ErrandId, DriverError> {
        if self.errands.commands() >= COMMAND_ERRANDS_MAX {
            return Err(DriverError::Busy);
        }
        let since_us = self.pen.flow.elapsed_us();
        let purpose = Purpose::Command {
            stop,
            since_us,
            writes: None,
        };
        Ok(self.errands.add(purpose, Box::new(run)))
    }

    /// The errands that must now be started.
    pub(super) fn take_errands(&mut self) -> Vec<Errand<Self>> {
        self.errands.take_new()
    }

    /// Takes the result of an errand, and answers the command that it was run for, if it was.
    ///
    /// # Errors
    /// When the journal refuses what a turn leads to.
    pub(super) fn report(
        &mut self,
        id: ErrandId,
        report: Report<Self>,
    ) -> Result<Option<CommandAnswer>, DriverError> {
        match self.errands.forget(id) {
            None => Ok(None),
            Some(Purpose::Turn(whose)) => {
                if let Some(live) = self.live.get_mut(whose.turn) {
                    live.hosting.set_errand(None);
                }
                report(self)?;
                Ok(None)
            }
            Some(Purpose::Files) => {
                self.drive.change(true);
                report(self)?;
                Ok(None)
            }
            Some(Purpose::Command { .. }) => {
                let facts = report(self);
                let seq = self.pen.flow.position().seq;
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
        match self.errands.forget(id) {
            None => Ok(None),
            Some(Purpose::Turn(TurnAttempt { turn, attempt })) => {
                self.broke(turn, attempt, why)?;
                Ok(None)
            }
            Some(Purpose::Files) => Err(DriverError::System(std::io::Error::other(why))),
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
        let errand = self.errands.take(wanted);
        let (id, report) = errand.ok_or(DriverError::Gone)?.run();
        self.report(id, report)?.unwrap_or(Err(DriverError::Gone))
    }
}
