//! Turns a step into facts, and replies to the taker.

use a_society_facts::Fact;
use a_society_facts::Hash;
use a_society_facts::fact::operator::{
    McpServerApproved, McpServerUnavailable, McpToolUnavailable,
};
use a_society_facts::fact::turn::RequestHeld;
use a_society_facts::id::{RoleInstance, TurnId};
use a_society_roles::turn::step::{StepReply, TurnStep};

use super::attempt::{Heard, Onward, TurnAttempt};
use super::calls;
use super::consent::consent;
use super::core::Core;
use super::error::DriverError;
use super::live_turn::TurnSubject;
use super::pen::FlowPen;
use super::request::{ask, may_not_ask};
use super::steer::cut_off;
use super::step_findings::StepFindings;
use super::step_look::look_before;
use crate::limits::HELD_RECORDED_MS;

impl Core {
    /// Handles a step of a turn. What the taker waits for is durable on return.
    ///
    /// # Errors
    /// When the journal refuses.
    pub(crate) fn step(
        &mut self,
        turn: TurnId,
        attempt: u32,
        step: TurnStep,
    ) -> Result<Heard, DriverError> {
        let mut heard = self.hear(turn, attempt, step)?;
        if let Heard::Look(look) = heard {
            heard = self.found(turn, attempt, look.run())?;
        }
        self.sync_owed()?;
        Ok(heard)
    }

    /// Handles a step of a turn. If more syncs are owed after it, its taker must get no reply before
    /// [`Self::sync_owed`].
    pub(super) fn hear(
        &mut self,
        turn: TurnId,
        attempt: u32,
        mut step: TurnStep,
    ) -> Result<Heard, DriverError> {
        let live = self.live.get_mut(turn);
        let Some(live) = live.filter(|live| live.subject.attempt() == attempt) else {
            return Ok(Heard::Over);
        };
        live.control.keep_pace(&step);
        let stopping = live.control.is_stopping();
        if !matches!(step, TurnStep::Stalled { .. }) {
            live.control.set_silent(0);
        }
        // A turn that is being stopped may still say how a call ended; everything else is too late.
        let last_word = matches!(step, TurnStep::Finish { .. } | TurnStep::Refuse { .. });
        if stopping && !last_word {
            return self.stopped(turn, attempt);
        }
        live.clean(&mut self.pen, &mut step)?;
        let Some(look) = look_before(&self.pen, &self.compactions, live, &step)? else {
            return self.handle(turn, attempt, step, StepFindings::default());
        };
        if !self.pen.roles.waits(live.subject.role()) {
            return self.handle(turn, attempt, step, look.run());
        }
        // Nothing else would be kept of a summary.
        let is_kept = matches!(step, TurnStep::Compact(_));
        live.hosting.hold_step(step);
        if stopping {
            return self.stopped(turn, attempt);
        }
        if self.is_draining() && !is_kept {
            // The turn stays open, and comes to this step again as it would after a crash.
            self.leave(turn);
            return Ok(Heard::Over);
        }
        Ok(Heard::Look(look))
    }

    /// Handles the step of a turn that was held until it was looked at what it names.
    pub(super) fn found(
        &mut self,
        turn: TurnId,
        attempt: u32,
        found: StepFindings,
    ) -> Result<Heard, DriverError> {
        let live = self.live.get_mut(turn);
        let live = live.filter(|live| live.subject.attempt() == attempt);
        match live.and_then(|live| live.hosting.take_step()) {
            Some(step) => self.handle(turn, attempt, step, found),
            None => Ok(Heard::Over),
        }
    }

    /// Handles a step with what was found of all that it names.
    fn handle(
        &mut self,
        turn: TurnId,
        attempt: u32,
        step: TurnStep,
        found: StepFindings,
    ) -> Result<Heard, DriverError> {
        let whose = TurnAttempt { turn, attempt };
        if let TurnStep::End(end) = step {
            return self.end(turn, attempt, end, found);
        }
        let waited = matches!(step, TurnStep::Wait { .. });
        let live = self.live.get(turn);
        let stopping = live.is_some_and(|live| live.control.is_stopping());
        let leaves = self.is_draining() && is_recorded_point(&step);
        match self.record(turn, step, found)? {
            // The next try of the turn reads it in the record.
            Some(Onward::Go(StepReply::TakenBack { .. })) if stopping || leaves => {}
            Some(onward) => return self.go_onward(whose, onward),
            None => {}
        }
        if stopping {
            self.stopped(turn, attempt)
        } else if leaves {
            // The turn stays open, and goes on from here as it would after a crash.
            self.leave(turn);
            Ok(Heard::Over)
        } else if waited && let Some(live) = self.live.get_mut(turn) {
            Ok(Heard::Go(live.control.woken()))
        } else {
            Ok(Heard::Go(StepReply::Done { call: None }))
        }
    }

    /// A turn goes on, ends or is left after a step.
    pub(super) fn go_onward(
        &mut self,
        whose: TurnAttempt,
        onward: Onward,
    ) -> Result<Heard, DriverError> {
        let TurnAttempt { turn, attempt } = whose;
        match onward {
            Onward::Go(reply) => return Ok(Heard::Go(reply)),
            Onward::Fails(why) => self.fail_turn(turn, attempt, why)?,
            Onward::Ends(ending) => {
                self.conclude(whose, ending)?;
                self.leave(turn);
            }
            Onward::Leaves => self.leave(turn),
        }
        Ok(Heard::Over)
    }

    /// What a step says becomes facts. Nothing is given back when the turn simply goes on.
    fn record(
        &mut self,
        turn: TurnId,
        step: TurnStep,
        found: StepFindings,
    ) -> Result<Option<Onward>, DriverError> {
        let Self {
            pen, live, budgets, ..
        } = self;
        let Some(live) = live.get_mut(turn) else {
            return Ok(Some(Onward::Leaves));
        };
        if is_answered(&step) {
            budgets.release(turn);
        }
        match step {
            TurnStep::Ask(asking) => {
                if let Some(onward) = may_not_ask(pen, budgets, live, asking.worst)? {
                    return Ok(Some(onward));
                }
                ask(pen, live, asking)?;
            }
            TurnStep::Draft { kind, text } => live.draft(pen, kind, &text)?,
            TurnStep::Stalled { seconds } => live.control.set_silent(seconds),
            TurnStep::Cut => return cut_off(pen, live).map(Some),
            TurnStep::Discard { why } => live.discard(pen, why)?,
            answer @ TurnStep::Answer { .. } => live.answer(pen, answer)?,
            TurnStep::Failed {
                class,
                error,
                retry_in_ms,
            } => live.failed(pen, class, error, retry_in_ms)?,
            TurnStep::Intend(intended) => {
                let call = Some(calls::intend(pen, live, intended)?);
                return Ok(Some(Onward::Go(StepReply::Done { call })));
            }
            TurnStep::Start { call, process } => {
                calls::start_call(pen, live.subject.role(), call, process)?;
            }
            TurnStep::Begin { intended, ask } => {
                return calls::begin_call(pen, live, intended, ask, found.most).map(Some);
            }
            finish @ TurnStep::Finish { .. } => return calls::finished(pen, live, finish, found),
            refuse @ TurnStep::Refuse { .. } => {
                return calls::refuse(pen, &live.subject, refuse, found.touched);
            }
            TurnStep::Trust { server, definition } => trust(pen, server, definition)?,
            TurnStep::Absent { server, tool, why } => {
                absent(pen, live.subject.role().clone(), server, tool, why)?;
            }
            TurnStep::Consent(asked) => {
                return consent(pen, live.subject.whose(), *asked, found.most).map(Some);
            }
            TurnStep::Compact(compact) => {
                let compact = (compact, found.facts);
                return self.compactions.step(pen, budgets, live, compact).map(Some);
            }
            TurnStep::Choose(choose) => {
                return self.choices.step(pen, budgets, live, choose).map(Some);
            }
            TurnStep::Held {
                provider,
                ms,
                is_failing,
            } => held(pen, &live.subject, provider, ms, is_failing)?,
            // The turn's thread lets the time pass; nothing is to be recorded. An end is handled apart.
            TurnStep::Wait { .. } | TurnStep::End(_) => {}
        }
        Ok(None)
    }
}

/// Whether the request of the turn has its answer, whose cost is known.
const fn is_answered(step: &TurnStep) -> bool {
    matches!(
        step,
        TurnStep::Answer { .. } | TurnStep::Failed { .. } | TurnStep::Cut
    )
}

/// A request waits for a limit that another role met, or for a model that failed too often. The moments in which those who waited go one after
/// another are not recorded.
fn held(
    pen: &mut FlowPen,
    whose: &TurnSubject,
    provider: String,
    ms: u64,
    failing: bool,
) -> Result<(), DriverError> {
    if ms < HELD_RECORDED_MS {
        return Ok(());
    }
    let until = pen.flow.now().after(ms);
    pen.append(Fact::RequestHeld(RequestHeld {
        turn: whose.turn(),
        attempt: whose.attempt(),
        role: whose.role().clone(),
        provider,
        failing,
        until,
    }))
}

/// A rule of the operator's approves a server of tools.
fn trust(pen: &mut FlowPen, server: String, definition: Hash) -> Result<(), DriverError> {
    let approved = McpServerApproved { server, definition };
    pen.append(Fact::McpServerApproved(approved))?;
    // The server is started as soon as this is durable.
    pen.syncs.owe();
    Ok(())
}

/// Reports a server or tool that a role would use and cannot.
fn absent(
    pen: &mut FlowPen,
    role: RoleInstance,
    server: String,
    tool: Option<String>,
    why: String,
) -> Result<(), DriverError> {
    pen.append(match tool {
        None => Fact::McpServerUnavailable(McpServerUnavailable { role, server, why }),
        Some(tool) => Fact::McpToolUnavailable(McpToolUnavailable { role, tool, why }),
    })
}

/// Whether everything that a turn did so far is recorded after this step, so that it can be left.
const fn is_recorded_point(step: &TurnStep) -> bool {
    match step {
        TurnStep::Answer { .. }
        | TurnStep::Failed { .. }
        | TurnStep::Finish { .. }
        | TurnStep::Refuse { .. }
        | TurnStep::Wait { .. } => true,
        // A summary that is being made is waited for: nothing of it is kept otherwise.
        TurnStep::Compact(_)
        | TurnStep::Choose(_)
        | TurnStep::Held { .. }
        | TurnStep::Trust { .. }
        | TurnStep::Absent { .. }
        | TurnStep::Consent(_)
        | TurnStep::Ask(_)
        | TurnStep::Draft { .. }
        | TurnStep::Stalled { .. }
        | TurnStep::Cut
        | TurnStep::Discard { .. }
        | TurnStep::Intend(_)
        | TurnStep::Begin { .. }
        | TurnStep::Start { .. }
        | TurnStep::End(_) => false,
    }
}
