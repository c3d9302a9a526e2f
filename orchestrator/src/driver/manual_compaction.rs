//! What the operator does to a session between its turns: making it shorter, and taking that back.
//!
//! Making it shorter is a turn aside like the one that a full window leads to, without a turn that
//! waits for it. While it is made no turn of the role begins. If no model can be asked, or what it
//! says is not a summary, the oldest messages are left out, and the feed says why.

use a_society_facts::fact::session::Trigger;
use a_society_facts::fact::turn::Usage;
use a_society_facts::id::{ClientId, RoleInstance, TurnId};
use a_society_flow::machine::Work;
use a_society_flow::machine::session::last_task;
use a_society_roles::role::compaction::Shares;
use a_society_roles::turn::step::{Asking, StepReply};
use a_society_roles::turn::taker::Taker;

use super::attempt::{Heard, TurnAttempt};
use super::budget::Short;
use super::core::Core;
use super::error::DriverError;
use super::live_turn::{LiveTurn, TurnSubject};
use super::provider_wait::TurnControl;
use super::turn_thread;

/// The window of a model that cannot be asked.
const WINDOW_UNKNOWN: u64 = 0;

impl Core {
    /// Begins to make a session shorter. What was begun goes on beside the flow's turns.
    pub(super) fn shorten(
        &mut self,
        role: RoleInstance,
        client: Option<ClientId>,
    ) -> Result<usize, DriverError> {
        if self.is_draining() {
            return Err(DriverError::Gone);
        }
        let before = self.flow.position().seq;
        let summary = self.announce_compaction(&role, Trigger::Manual, client)?;
        let aside = summary.turn;
        let session = self.flow.views().session(&role);
        let node = session.and_then(|session| session.node.as_ref().map(|mark| &mark.node));
        let task = last_task(&self.graph, self.state(), &role, node);
        let job = self.job(aside, 1, &role, task.as_ref(), String::new())?;
        let control = TurnControl::new(false);
        let stop = control.stop();
        let mut live = LiveTurn::new(TurnSubject::new(1, role, task), control, self.place());
        live.asides.compaction.begin(summary);
        self.live.insert(aside, live);
        let mut roles = self.roles.another();
        let whose = TurnAttempt {
            turn: aside,
            attempt: 1,
        };
        self.send(whose, true, move || {
            let taker = roles.summariser(job, stop);
            Box::new(move |core: &mut Self| core.summarised_by(aside, taker).map(|()| 0))
        })?;
        self.flow.sync()?;
        let after = self.flow.position().seq;
        Ok(usize::try_from(after - before).unwrap_or(usize::MAX))
    }

    /// The taker for the summary is ready, or there is none.
    fn summarised_by(
        &mut self,
        aside: TurnId,
        taker: Result<Box<dyn Taker>, String>,
    ) -> Result<(), DriverError> {
        match taker {
            Ok(taker) => self.take(aside, taker),
            Err(why) => {
                let shares = Shares::of(WINDOW_UNKNOWN);
                self.do_without(aside, why, Usage::default(), Some(shares))?;
                self.leave(aside);
                self.syncs.owe();
            }
        }
        Ok(())
    }

    /// Whether work has to wait until its role's session is as short as the operator wants it.
    pub(super) fn waits_for_compaction(&self, work: &Work) -> bool {
        let role = match work {
            Work::Claim { role, .. } | Work::StartReflection { role, .. } => role,
            Work::StartFeedback { role: Some(role) } => role,
            Work::StartFeedback { role: None }
            | Work::RunTurn { .. }
            | Work::StopTurn { .. }
            | Work::ApplyEnds
            | Work::WaitUntil { .. }
            | Work::AskOperator(_) => return false,
        };
        self.live.is_compacted_by_hand(role)
    }

    /// The summary that the operator wanted is going to be asked for.
    pub(super) fn ask_by_hand(
        &mut self,
        turn: TurnId,
        asking: Asking,
        shares: Shares,
    ) -> Result<Heard, DriverError> {
        match self.over_budget(turn, asking.worst) {
            Some(Short::Busy) => Ok(Heard::Go(StepReply::Busy)),
            Some(Short::Of(lack)) => {
                self.do_without(turn, lack.to_string(), Usage::default(), Some(shares))?;
                self.leave(turn);
                self.syncs.owe();
                Ok(Heard::Over)
            }
            None => {
                let role = self.live.role(turn).cloned().ok_or(DriverError::Gone)?;
                self.ask_aside(turn, turn, role, asking)?;
                Ok(Heard::Go(StepReply::Done { call: None }))
            }
        }
    }

    /// Takes what was begun beside the flow's turns to its end, in a process that drives nothing
    /// else.
    ///
    /// # Errors
    /// When the journal refuses.
    pub(crate) fn finish_asides(&mut self) -> Result<(), DriverError> {
        self.run_errands_here()?;
        for start in self.take_begun() {
            turn_thread::run_here(self, start)?;
        }
        self.sync_owed()
    }
}
