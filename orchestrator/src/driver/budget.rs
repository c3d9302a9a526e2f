//! Budgets: what a request may cost at most is looked at before it leaves.

use a_society_facts::fact::budget::Measure;
use a_society_facts::id::{RoleInstance, TurnId};
use a_society_roles::turn::step::Worst;

use super::core::Core;

/// Why a request may not leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Short {
    /// The budget lacks what it may cost, in words.
    Of(String),
    /// It would fit if those under way were over.
    Busy,
}

impl Core {
    /// Sets the most that a request can cost aside, or says which budget lacks it. What the requests
    /// of other roles may still cost is not free either.
    pub(super) fn over_budget(&mut self, turn: TurnId, worst: Worst) -> Option<Short> {
        let role = self.live.get(&turn)?.role.clone();
        let mut busy = false;
        for whose in [None, Some(&role)] {
            for (measure, wants) in [
                (Measure::Tokens, worst.tokens),
                (Measure::CostMicros, worst.cost_micros),
            ] {
                let Some(left) = self.state().left(whose, measure) else {
                    continue;
                };
                // A request that costs nothing may leave as long as anything is left.
                if wants > left || left == 0 {
                    return Some(Short::Of(words(whose, measure, wants, left)));
                }
                let free = left.saturating_sub(self.reserved(whose, turn, measure));
                busy |= wants > free;
            }
        }
        if busy {
            return Some(Short::Busy);
        }
        if let Some(live) = self.live.get_mut(&turn) {
            live.reserved = worst;
        }
        None
    }

    /// What the other requests under way may still cost.
    fn reserved(&self, whose: Option<&RoleInstance>, but: TurnId, measure: Measure) -> u64 {
        let others = self.live.iter().filter(|(turn, _)| **turn != but);
        let theirs = others.filter(|(_, live)| whose.is_none_or(|role| live.role == *role));
        theirs
            .map(|(_, live)| match measure {
                Measure::Tokens => live.reserved.tokens,
                Measure::CostMicros => live.reserved.cost_micros,
                Measure::Turns | Measure::WallMs => 0,
            })
            .fold(0, u64::saturating_add)
    }

    /// The request has its answer, whose cost is known.
    pub(super) fn release(&mut self, turn: TurnId) {
        if let Some(live) = self.live.get_mut(&turn) {
            live.reserved = Worst::default();
        }
    }
}

fn words(whose: Option<&RoleInstance>, measure: Measure, wants: u64, free: u64) -> String {
    let unit = match measure {
        Measure::Tokens => "tokens",
        Measure::CostMicros => "millionths of cost",
        Measure::Turns => "turns",
        Measure::WallMs => "milliseconds of work",
    };
    let whose = whose.map_or_else(|| "the flow".to_owned(), ToString::to_string);
    format!("the next request may take {wants} {unit}, and {whose} has {free} left")
}
