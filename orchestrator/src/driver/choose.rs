//! Before a role's first turn: what it works with is chosen, by a model if there is a choice.
//!
//! The choice is a fact before the answer that led to it, so that a death in between does not pay
//! for it twice. The turn that it is for stays open meanwhile and is begun when it is there.

use std::collections::BTreeMap;

use a_society_facts::Fact;
use a_society_facts::fact::operator::ChosenBy;
use a_society_facts::fact::turn::{Cause, TurnStarted, Usage};
use a_society_facts::id::{RoleInstance, TurnId};
use a_society_flow::machine::session::SessionAside;
use a_society_flow::machine::{Input, TurnEnding};
use a_society_roles::turn::step::{Asking, Choose};

use super::attempt::Onward;
use super::budget::Budgets;
use super::error::DriverError;
use super::live_turn::{LiveTurn, TurnSubject};
use super::pen::FlowPen;
use super::request::{answer_aside, ask_aside, fail_aside, short_of};

/// The choices under way: for each turn that waits for one, the turn aside in which a model makes it.
#[derive(Debug, Default)]
pub(super) struct Choices {
    under_way: BTreeMap<TurnId, TurnId>,
}

impl Choices {
    /// A turn does not run here any more.
    pub(super) fn forget(&mut self, waiting: TurnId) {
        self.under_way.remove(&waiting);
    }

    /// Handles a step of the choosing model.
    pub(super) fn step(
        &mut self,
        pen: &mut FlowPen,
        budgets: &mut Budgets,
        live: &LiveTurn,
        choose: Choose,
    ) -> Result<Onward, DriverError> {
        let whose = &live.subject;
        let (turn, role) = (whose.turn(), whose.role());
        if !matches!(choose, Choose::Ask(_)) {
            budgets.release(turn);
        }
        match choose {
            Choose::Ask(asking) => self.ask(pen, budgets, live, asking),
            Choose::Again(tried) => {
                if let Some(aside) = self.under_way.get(&turn) {
                    fail_aside(pen, *aside, role, tried)?;
                }
                Ok(Onward::GOES_ON)
            }
            Choose::Wrong { text, usage } => {
                self.answer(pen, whose, text, usage)?;
                Ok(Onward::GOES_ON)
            }
            Choose::Chosen {
                text,
                usage,
                settings,
            } => {
                configure(pen, role, settings, ChosenBy::Selection)?;
                self.answer(pen, whose, text, usage)?;
                self.end(pen, whose, None)?;
                // The turn is open, and begins now that it is known with what.
                Ok(Onward::Leaves)
            }
            Choose::Failed { why } => {
                self.end(pen, whose, Some(why.clone()))?;
                Ok(Onward::Ends(TurnEnding::NeedsConfiguration { why }))
            }
        }
    }

    /// A model is going to be asked, if the budget has room for it.
    fn ask(
        &mut self,
        pen: &mut FlowPen,
        budgets: &mut Budgets,
        live: &LiveTurn,
        asking: Asking,
    ) -> Result<Onward, DriverError> {
        let short = short_of(pen, budgets, live, asking.worst);
        if let Some(short) = short {
            if let Onward::Ends(TurnEnding::BudgetReached { lack }) = &short {
                self.end(pen, &live.subject, Some(lack.to_string()))?;
            }
            return Ok(short);
        }
        let (turn, role) = (live.subject.turn(), live.subject.role());
        let aside = match self.under_way.get(&turn) {
            Some(aside) => *aside,
            None => begin_aside(pen, role)?,
        };
        ask_aside(pen, live, aside, asking)?;
        self.under_way.insert(turn, aside);
        Ok(Onward::GOES_ON)
    }

    /// The model answered.
    fn answer(
        &self,
        pen: &mut FlowPen,
        whose: &TurnSubject,
        text: String,
        usage: Usage,
    ) -> Result<(), DriverError> {
        let Some(aside) = self.under_way.get(&whose.turn()) else {
            return Ok(());
        };
        answer_aside(pen, &session_aside(*aside, whose), text, usage)
    }

    /// The turn in which it is chosen is over.
    pub(super) fn end(
        &mut self,
        pen: &mut FlowPen,
        whose: &TurnSubject,
        error: Option<String>,
    ) -> Result<(), DriverError> {
        let Some(aside) = self.under_way.remove(&whose.turn()) else {
            return Ok(());
        };
        let aside = session_aside(aside, whose);
        pen.append_all(aside.ended(pen.state(), "selection", error))
    }
}

fn session_aside(turn: TurnId, whose: &TurnSubject) -> SessionAside {
    let role = whose.role().clone();
    SessionAside { turn, role }
}

/// The turn begins in which a model chooses what a role works with.
fn begin_aside(pen: &mut FlowPen, role: &RoleInstance) -> Result<TurnId, DriverError> {
    let aside = TurnId(pen.state().next_turn);
    pen.append(Fact::TurnStarted(TurnStarted {
        turn: aside,
        attempt: 1,
        role: role.clone(),
        node: None,
        cause: Cause::Selection,
    }))?;
    Ok(aside)
}

/// A role works with this from now on.
pub(super) fn configure(
    pen: &mut FlowPen,
    role: &RoleInstance,
    settings: BTreeMap<String, String>,
    by: ChosenBy,
) -> Result<(), DriverError> {
    pen.input(Input::ConfigureRole {
        role: role.clone(),
        settings,
        by,
    })
    .map(drop)
}

#[cfg(test)]
mod tests {
    use a_society_facts::{Hash, Verb, fact::budget::Measure};
    use a_society_in_memory::FaultyDisk;
    use a_society_roles::turn::step::{StepReply, Worst};

    use super::*;
    use crate::driver::core::Core;
    use crate::driver::tests::{HELLO, SCRIPT, begin};

    fn asks(tokens: u64) -> Choose {
        Choose::Ask(Asking {
            model: "m".to_owned(),
            hash: Hash::of(b"request"),
            frame: None,
            worst: Worst {
                tokens,
                ..Worst::default()
            },
        })
    }

    /// What follows from a step for the flow's first turn.
    fn step(core: &mut Core, turn: TurnId, choose: Choose) -> Onward {
        let Core {
            pen,
            live,
            budgets,
            choices,
            ..
        } = core;
        let live = live.get_mut(turn).unwrap();
        choices.step(pen, budgets, live, choose).unwrap()
    }

    fn begun(disk: &FaultyDisk) -> (Core, TurnId) {
        let mut core = begin(disk, HELLO, SCRIPT);
        let turn = core.advance().unwrap().remove(0).turn;
        (core, turn)
    }

    fn aside_of(core: &Core, turn: TurnId) -> Option<TurnId> {
        core.choices.under_way.get(&turn).copied()
    }

    #[test]
    fn a_choice_is_one_turn_aside_until_it_fails_and_its_turn_then_waits_for_the_operator() {
        let disk = FaultyDisk::new();
        let (mut core, turn) = begun(&disk);
        for _ in 0..2 {
            let onward = step(&mut core, turn, asks(5));
            assert!(matches!(onward, Onward::Go(StepReply::Done { call: None })));
            let (text, usage) = ("nothing".to_owned(), Usage::default());
            step(&mut core, turn, Choose::Wrong { text, usage });
        }
        let aside = aside_of(&core, turn).unwrap();
        assert_eq!(core.pen.request_of(aside), 2);
        let why = "it names no model".to_owned();
        let onward = step(&mut core, turn, Choose::Failed { why });
        let ends = Onward::Ends(TurnEnding::NeedsConfiguration {
            why: "it names no model".to_owned(),
        });
        assert_eq!(format!("{onward:?}"), format!("{ends:?}"));
        assert!(core.pen.open_turn(aside).is_none() && aside_of(&core, turn).is_none());
        assert!(core.pen.open_turn(turn).is_some(), "the loop ends it");
    }

    #[test]
    fn a_choice_that_the_budget_lacks_begins_nothing_and_ends_its_turn() {
        let disk = FaultyDisk::new();
        let (mut core, turn) = begun(&disk);
        let budget = Verb::Budget {
            role: None,
            measure: Measure::Tokens,
            limit: Some(4),
        };
        core.obey(budget, None).unwrap();
        let onward = step(&mut core, turn, asks(5));
        assert!(
            matches!(onward, Onward::Ends(TurnEnding::BudgetReached { .. })),
            "{onward:?}"
        );
        assert!(aside_of(&core, turn).is_none());
        let turns = core.state().turns.len();
        assert_eq!(turns, 1);
    }
}
