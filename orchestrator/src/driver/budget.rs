//! Budgets: what a request may cost at most is looked at before it leaves.

use a_society_facts::Verb;
use a_society_facts::fact::budget::{Lack, Measure};
use a_society_facts::fact::flow::TokenBudget;
use a_society_facts::id::{ClientId, RoleInstance, TurnId};
use a_society_facts::view::FlowState;
use a_society_roles::turn::step::Worst;

use super::core::Core;
use super::error::DriverError;
use super::live_turn::LiveTurns;

/// A limit that a flow's file sets, for the flow or for one role.
#[derive(Debug)]
pub(crate) struct BudgetLimit {
    pub(crate) role: Option<RoleInstance>,
    pub(crate) measure: Measure,
    pub(crate) limit: u64,
}

/// Why a request may not leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Short {
    /// The budget lacks what it may cost.
    Of(Lack),
    /// It would fit if those under way were over.
    Busy,
}

impl Core {
    /// Sets the most that a request can cost aside, or says which budget lacks it.
    pub(super) fn over_budget(&mut self, turn: TurnId, worst: Worst) -> Option<Short> {
        let role = self.live.role(turn)?.clone();
        let short = short_of(self.state(), &self.live, turn, &role, worst);
        if short.is_none()
            && let Some(live) = self.live.get_mut(turn)
        {
            live.bounds.reserve(worst);
        }
        short
    }

    /// Sets the limits of the flow's file, before anything was spent. A process that died in between
    /// may have set none or some of them; limits that were changed since stay as they are. Each is sent
    /// under a name of its own, so that it counts once.
    ///
    /// # Errors
    /// When the journal refuses.
    pub(crate) fn limit(&mut self, limits: Vec<BudgetLimit>) -> Result<(), DriverError> {
        if self.state().account.spent.turns > 0 || self.state().status.is_over() {
            return Ok(());
        }
        let unlimited = self.state().tokens == Some(TokenBudget::Unlimited);
        for set in limits {
            let BudgetLimit {
                role,
                measure,
                limit,
            } = set;
            if unlimited && role.is_none() && measure == Measure::Tokens {
                continue;
            }
            // Journals whose limits were set without a name are known by the limit itself.
            if self.state().left(role.as_ref(), measure).is_some() {
                continue;
            }
            let client = name_of(role.as_ref(), measure);
            let limit = Some(limit);
            let set = Verb::Budget {
                role,
                measure,
                limit,
            };
            self.obey(set, client)?;
        }
        Ok(())
    }
}

/// Why a request may not leave that costs so much at most. What the other requests under way may still cost is
/// not free either.
fn short_of(
    state: &FlowState,
    live: &LiveTurns,
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
            let free = left.saturating_sub(live.reserved(whose, turn, measure));
            busy |= wants > free;
        }
    }
    busy.then_some(Short::Busy)
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

/// The client's name under which a limit of the flow's file is sent.
fn name_of(role: Option<&RoleInstance>, measure: Measure) -> Option<ClientId> {
    let whose = role.map_or("", RoleInstance::as_str);
    let measure = match measure {
        Measure::Tokens => "tokens",
        Measure::CostMicros => "cost",
        Measure::Turns => "turns",
        Measure::WallMs => "time",
    };
    format!("flow-file:{measure}:{whose}").parse().ok()
}
