//! Budgets: what a request may cost at most is looked at before it leaves.

use std::collections::BTreeMap;

use a_society_facts::fact::budget::{Lack, Measure};
use a_society_facts::id::{RoleInstance, TurnId};
use a_society_facts::view::flow::FlowState;
use a_society_roles::turn::step::Worst;

use super::live_turn::TurnSubject;

/// Why a request may not leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Short {
    /// The budget lacks what it may cost.
    Of(Lack),
    /// It would fit if those under way were over.
    Busy,
}

/// What the requests under way may still cost, of all turns that run here.
#[derive(Debug, Default)]
pub(super) struct Budgets {
    reserved: BTreeMap<TurnId, ReservedCost>,
}

/// The most that the request of one turn can cost.
#[derive(Debug)]
struct ReservedCost {
    role: RoleInstance,
    worst: Worst,
}

impl ReservedCost {
    const fn of(&self, measure: Measure) -> u64 {
        match measure {
            Measure::Tokens => self.worst.tokens,
            Measure::CostMicros => self.worst.cost_micros,
            Measure::Turns | Measure::WallMs => 0,
        }
    }
}

impl Budgets {
    /// Sets the most that a request of a turn can cost aside, or says which budget lacks it.
    pub(super) fn reserve(
        &mut self,
        state: &FlowState,
        whose: &TurnSubject,
        worst: Worst,
    ) -> Option<Short> {
        let (turn, role) = (whose.turn(), whose.role());
        let short = self.short_of(state, turn, role, worst);
        if short.is_none() {
            let role = role.clone();
            self.reserved.insert(turn, ReservedCost { role, worst });
        }
        short
    }

    /// The request of a turn has its answer, whose cost is known, or the turn is over.
    pub(super) fn release(&mut self, turn: TurnId) {
        self.reserved.remove(&turn);
    }

    /// What the requests under way may still cost, all or those of one role, but for those of one turn.
    fn reserved(&self, whose: Option<&RoleInstance>, but: TurnId, measure: Measure) -> u64 {
        let others = self.reserved.iter().filter(|(turn, _)| **turn != but);
        let theirs = others.filter(|(_, cost)| whose.is_none_or(|role| cost.role == *role));
        theirs
            .map(|(_, cost)| cost.of(measure))
            .fold(0, u64::saturating_add)
    }

    /// Why a request may not leave that costs so much at most. What the other requests under way may still cost is
    /// not free either.
    fn short_of(
        &self,
        state: &FlowState,
        turn: TurnId,
        role: &RoleInstance,
        worst: Worst,
    ) -> Option<Short> {
        let mut busy = false;
        for whose in [None, Some(role)] {
            for (measure, wants) in [
                (Measure::Tokens, worst.tokens),
                (Measure::CostMicros, worst.cost_micros),
            ] {
                let Some(left) = state.left(whose, measure) else {
                    continue;
                };
                // A request that costs nothing may leave as long as anything is left.
                if wants > left || left == 0 {
                    return Some(Short::Of(Lack {
                        role: whose.cloned(),
                        measure,
                        wants,
                        left,
                    }));
                }
                let free = left.saturating_sub(self.reserved(whose, turn, measure));
                busy |= wants > free;
            }
        }
        busy.then_some(Short::Busy)
    }
}

/// Why a turn must not begin, if a budget of turns is used up. It has begun for the record, and
/// counts itself.
pub(super) fn over_turns(state: &FlowState, turn: TurnId, role: &RoleInstance) -> Option<Lack> {
    let begins = state
        .turns
        .get(&turn)
        .is_some_and(|open| open.requests == 0);
    let own = state.role_accounts.get(role);
    let accounts = [(None, Some(&state.account)), (Some(role), own)];
    let over = accounts.into_iter().find_map(|(whose, account)| {
        let account = account?;
        let limit = *account.limits.get(&Measure::Turns)?;
        (account.spent.turns > limit).then(|| Lack {
            role: whose.cloned(),
            measure: Measure::Turns,
            wants: 1,
            left: 0,
        })
    });
    over.filter(|_| begins)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::attempt::TurnAttempt;

    fn tokens(tokens: u64) -> Worst {
        Worst {
            tokens,
            ..Worst::default()
        }
    }

    fn subject(turn: u64, role: &str) -> TurnSubject {
        let whose = TurnAttempt {
            turn: TurnId(turn),
            attempt: 1,
        };
        TurnSubject::new(whose, role.parse().unwrap(), None)
    }

    /// A flow that may use so many tokens.
    fn limited(limit: u64) -> FlowState {
        let mut state = FlowState::default();
        state.account.limits.insert(Measure::Tokens, limit);
        state
    }

    #[test]
    fn what_others_reserved_counts_until_it_is_released() {
        let mut budgets = Budgets::default();
        let state = FlowState::default();
        for (turn, role, most) in [(1, "owner", 5), (2, "owner", 7), (3, "critic", 11)] {
            assert_eq!(
                budgets.reserve(&state, &subject(turn, role), tokens(most)),
                None
            );
        }
        let (owner, but) = ("owner".parse().unwrap(), TurnId(1));
        assert_eq!(budgets.reserved(None, but, Measure::Tokens), 18);
        assert_eq!(budgets.reserved(Some(&owner), but, Measure::Tokens), 7);
        assert_eq!(budgets.reserved(None, but, Measure::Turns), 0);
        budgets.release(TurnId(3));
        assert_eq!(budgets.reserved(None, but, Measure::Tokens), 7);
    }

    #[test]
    fn a_request_that_only_another_one_keeps_from_fitting_waits_and_one_that_is_too_large_never_leaves()
     {
        let mut budgets = Budgets::default();
        let state = limited(10);
        let (first, second) = (subject(1, "owner"), subject(2, "critic"));
        assert_eq!(budgets.reserve(&state, &first, tokens(6)), None);
        assert_eq!(
            budgets.reserve(&state, &second, tokens(5)),
            Some(Short::Busy)
        );
        let lack = budgets.reserve(&state, &second, tokens(11));
        assert!(
            matches!(
                lack,
                Some(Short::Of(Lack {
                    wants: 11,
                    left: 10,
                    ..
                }))
            ),
            "{lack:?}"
        );
        // Its own earlier request is not in its way.
        assert_eq!(budgets.reserve(&state, &first, tokens(10)), None);
        budgets.release(TurnId(1));
        assert_eq!(budgets.reserve(&state, &second, tokens(5)), None);
    }

    #[test]
    fn a_budget_that_is_used_up_lets_nothing_leave_not_even_what_costs_nothing() {
        let mut budgets = Budgets::default();
        let used_up = budgets.reserve(&limited(0), &subject(1, "owner"), tokens(0));
        assert!(matches!(used_up, Some(Short::Of(_))), "{used_up:?}");
        assert_eq!(
            budgets.reserve(&limited(1), &subject(1, "owner"), tokens(0)),
            None
        );
    }
}
