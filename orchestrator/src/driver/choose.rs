//! Before a role's first turn: what it works with is chosen, by a model if there is a choice.
//!
//! The choice is a fact before the answer that led to it, so that a death in between does not pay
//! for it twice. The turn that it is for stays open meanwhile and is begun when it is there.

use std::collections::BTreeMap;

use a_society_facts::fact::Fact;
use a_society_facts::fact::operator::ChosenBy;
use a_society_facts::fact::turn::{Cause, TurnStarted, Usage};
use a_society_facts::id::{RoleInstance, TurnId};
use a_society_flow::machine::session::SessionAside;
use a_society_flow::machine::{Input, TurnEnding};
use a_society_roles::turn::step::{Asking, Choose, StepReply};
use a_society_roles::turn::taker::Taker;

use super::attempt::{Heard, TurnAttempt};
use super::budget::Short;
use super::core::Core;
use super::error::DriverError;
use super::role_source::PendingChoice;

impl Core {
    /// What a role works with is chosen, if that has not been done. Returns the taker that asks a model for it. A
    /// turn for which only the operator can choose is left.
    pub(super) fn choose_first(
        &mut self,
        whose: TurnAttempt,
        choice: PendingChoice,
    ) -> Result<Option<Box<dyn Taker>>, DriverError> {
        let TurnAttempt { turn, attempt } = whose;
        match choice {
            PendingChoice::Nothing => {}
            PendingChoice::Settled(settings) => {
                if let Some(role) = self.live.role(turn).cloned() {
                    self.configure(&role, settings, ChosenBy::Default)?;
                }
            }
            PendingChoice::Operator(why) => {
                self.conclude(turn, attempt, TurnEnding::NeedsConfiguration { why })?;
                self.leave(turn);
            }
            PendingChoice::Asks(taker) => return Ok(Some(taker)),
        }
        Ok(None)
    }

    fn configure(
        &mut self,
        role: &RoleInstance,
        chosen: BTreeMap<String, String>,
        by: ChosenBy,
    ) -> Result<(), DriverError> {
        self.input(Input::ConfigureRole {
            role: role.clone(),
            settings: chosen,
            by,
        })?;
        Ok(())
    }

    /// Handles a step of the choosing model.
    pub(super) fn choose(
        &mut self,
        turn: TurnId,
        attempt: u32,
        choose: Choose,
    ) -> Result<Heard, DriverError> {
        let Some(role) = self.live.role(turn).cloned() else {
            return Ok(Heard::Over);
        };
        match choose {
            Choose::Ask(asking) => self.ask_choice(turn, attempt, role, asking),
            Choose::Again(tried) => {
                self.live.release(turn);
                if let Some(aside) = self.choosing(turn) {
                    self.fail_aside(aside, &role, tried)?;
                }
                Ok(Heard::Go(StepReply::Done { call: None }))
            }
            Choose::Wrong { text, usage } => {
                self.answer_choice(turn, role, text, usage)?;
                Ok(Heard::Go(StepReply::Done { call: None }))
            }
            Choose::Chosen {
                text,
                usage,
                settings,
            } => {
                self.configure(&role, settings, ChosenBy::Selection)?;
                self.answer_choice(turn, role, text, usage)?;
                self.end_choice(turn, None)?;
                // The turn is open, and begins now that it is known with what.
                self.leave(turn);
                Ok(Heard::Over)
            }
            Choose::Failed { why } => {
                self.end_choice(turn, Some(why.clone()))?;
                self.conclude(turn, attempt, TurnEnding::NeedsConfiguration { why })?;
                self.leave(turn);
                Ok(Heard::Over)
            }
        }
    }

    /// The turn aside in which is chosen what the role of a turn works with.
    fn choosing(&self, turn: TurnId) -> Option<TurnId> {
        self.live.get(turn)?.asides.choice.turn()
    }

    fn ask_choice(
        &mut self,
        turn: TurnId,
        attempt: u32,
        role: RoleInstance,
        asking: Asking,
    ) -> Result<Heard, DriverError> {
        match self.over_budget(turn, asking.worst) {
            Some(Short::Busy) => return Ok(Heard::Go(StepReply::Busy)),
            Some(Short::Of(lack)) => {
                self.end_choice(turn, Some(lack.to_string()))?;
                self.conclude(turn, attempt, TurnEnding::BudgetReached { lack })?;
                self.leave(turn);
                return Ok(Heard::Over);
            }
            None => {}
        }
        let aside = match self.choosing(turn) {
            Some(aside) => aside,
            None => {
                let aside = TurnId(self.state().next_turn);
                self.append(Fact::TurnStarted(TurnStarted {
                    turn: aside,
                    attempt: 1,
                    seat: role.clone().into(),
                    node: None,
                    cause: Cause::Selection,
                }))?;
                aside
            }
        };
        self.ask_aside(turn, aside, role, asking)?;
        if let Some(live) = self.live.get_mut(turn) {
            live.asides.choice.begin(aside);
        }
        Ok(Heard::Go(StepReply::Done { call: None }))
    }

    fn answer_choice(
        &mut self,
        turn: TurnId,
        role: RoleInstance,
        text: String,
        usage: Usage,
    ) -> Result<(), DriverError> {
        self.live.release(turn);
        let Some(aside) = self.choosing(turn) else {
            return Ok(());
        };
        self.answer_aside(&SessionAside { turn: aside, role }, text, usage)
    }

    /// The turn in which it is chosen is over.
    pub(super) fn end_choice(
        &mut self,
        turn: TurnId,
        error: Option<String>,
    ) -> Result<(), DriverError> {
        self.live.release(turn);
        let live = self.live.get_mut(turn);
        let Some((role, turn)) =
            live.and_then(|live| Some((live.subject.role().clone(), live.asides.choice.end()?)))
        else {
            return Ok(());
        };
        let aside = SessionAside { turn, role };
        self.append_all(aside.ended(self.state(), "selection", error))
    }
}
