//! A turn ends: the machine gets its outcome, and a repair goes back to the role.

use a_society_facts::id::TurnId;
use a_society_flow::machine::{Input, Refusal, TurnEnding, TurnOutcome};
use a_society_roles::turn::step::{StepReply, TakerEnd};

use super::attempt::{Heard, Onward, TurnAttempt};
use super::calls::stop_held;
use super::core::Core;
use super::cut_calls::{leave_calls, stop_calls};
use super::error::DriverError;
use super::judged_end::JudgedEnd;
use super::live_speech::keep_draft;
use super::repair::say_repair;
use super::steer::{Said, steered};
use super::step_findings::StepFindings;
use super::verdict::judge;

/// Why what was done beside a turn is over.
const STOPPED: &str = "the operator stopped the turn";

impl Core {
    /// A turn's taker says how the turn ends.
    pub(super) fn end(
        &mut self,
        turn: TurnId,
        attempt: u32,
        end: TakerEnd,
        found: StepFindings,
    ) -> Result<Heard, DriverError> {
        let Self { pen, live, .. } = self;
        let Some(live) = live.get_mut(turn) else {
            return Ok(Heard::Over);
        };
        match &end {
            // What the role lacks may have come to light while calls of an answer were still open.
            TakerEnd::Aborted { .. }
            | TakerEnd::Provider { .. }
            | TakerEnd::Configuration { .. } => {
                leave_calls(pen, turn)?;
            }
            TakerEnd::Answered
            | TakerEnd::Outcome { .. }
            | TakerEnd::OwnTurn { .. }
            | TakerEnd::Fault(_)
            | TakerEnd::OutputLimit => {
                if let Some(onward) = steered(pen, live, Said::AfterItsEnd)? {
                    return self.go_onward(TurnAttempt { turn, attempt }, onward);
                }
            }
        }
        let JudgedEnd { ending, meant } = match live.speech.take_judged() {
            Some(judged) => judged,
            None => judge(pen, end, found)?,
        };
        let before = pen.open_turn(turn).map_or(0, |open| open.repairs);
        self.conclude(TurnAttempt { turn, attempt }, ending)?;
        let open = self.pen.open_turn(turn);
        let repairs = open.is_some_and(|open| open.repairs > before);
        let live = self.live.get(turn).filter(|_| repairs);
        if let Some(live) = live
            && let Some(task) = live.subject.task()
        {
            let role = live.subject.role();
            let message = say_repair(&mut self.pen, turn, role, task, meant)?;
            return Ok(Heard::Go(StepReply::Mend { message }));
        }
        self.leave(turn);
        Ok(Heard::Over)
    }

    /// Hands an outcome to the machine.
    pub(super) fn conclude(
        &mut self,
        whose: TurnAttempt,
        outcome: TurnEnding,
    ) -> Result<(), DriverError> {
        let TurnAttempt { turn, attempt } = whose;
        let approval = Some(self.pen.name("a")?);
        let input = TurnOutcome {
            turn,
            attempt,
            outcome,
            approval,
        };
        match self.pen.input(Input::Outcome(input)) {
            Ok(_) => Ok(()),
            // Another try counts by now: nothing of this one does.
            Err(DriverError::Refused(refusal)) if is_late(&refusal) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// A turn that cannot go on ends as failed.
    pub(super) fn fail_turn(
        &mut self,
        turn: TurnId,
        attempt: u32,
        why: String,
    ) -> Result<(), DriverError> {
        stop_calls(&mut self.pen, turn)?;
        let failed = TurnEnding::Aborted { why, class: None };
        self.go_onward(TurnAttempt { turn, attempt }, Onward::Ends(failed))
            .map(drop)
    }

    /// A turn that runs here has lost its taker, so it fails at the point it had reached.
    pub(super) fn broke(
        &mut self,
        turn: TurnId,
        attempt: u32,
        why: String,
    ) -> Result<(), DriverError> {
        let live = self.live.get(turn);
        if live.is_none_or(|live| live.subject.attempt() != attempt) {
            return Ok(());
        }
        self.cut_short(turn)?;
        self.fail_turn(turn, attempt, why)
    }

    /// The machine wants a turn stopped: its taker gets the signal, or, if none runs here, the turn is
    /// settled.
    pub(super) fn stop_turn(&mut self, turn: TurnId, attempt: u32) -> Result<(), DriverError> {
        if let Some(live) = self.live.get_mut(turn) {
            let takes_steps = !live.hosting.waits_outside();
            live.control.raise_stop(takes_steps);
            if takes_steps {
                return Ok(());
            }
            // It has no taker yet, or one that waits for files: neither would come to its next step soon.
        }
        self.stopped(turn, attempt).map(drop)
    }

    /// A stopped turn is settled and over.
    pub(super) fn stopped(&mut self, turn: TurnId, attempt: u32) -> Result<Heard, DriverError> {
        self.cut_short(turn)?;
        if let Some(live) = self.live.get_mut(turn) {
            stop_held(&mut self.pen, live)?;
        }
        stop_calls(&mut self.pen, turn)?;
        self.go_onward(
            TurnAttempt { turn, attempt },
            Onward::Ends(TurnEnding::Stopped),
        )
    }

    /// What a turn has said so far is kept, and what is done beside it is over with it.
    fn cut_short(&mut self, turn: TurnId) -> Result<(), DriverError> {
        let Self { pen, live, .. } = self;
        let mut live = live.get_mut(turn);
        if let Some(live) = &mut live {
            live.flush(pen)?;
        }
        keep_draft(pen, turn)?;
        let Some(live) = live else { return Ok(()) };
        let why = STOPPED.to_owned();
        self.choices.end(pen, &live.subject, Some(why.clone()))?;
        self.compactions.stop(pen, live, why)
    }
}

fn is_late(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Late { .. } | Refusal::TurnNotOpen { .. })
}
