//! What would let a flow go on whose budget lacks something: what page and terminal offer, from the lack
//! that was recorded and from what was spent since.

use super::FlowState;
use crate::fact::budget::Lack;

/// The least by which a limit is passed for anything to leave.
const ONE: u64 = 1;

impl Lack {
    /// The limit there is and what was spent of it; nothing if it was lifted.
    #[must_use]
    pub fn stands(&self, state: &FlowState) -> Option<(u64, u64)> {
        let account = match &self.role {
            None => &state.account,
            Some(role) => state.role_accounts.get(role)?,
        };
        let limit = *account.limits.get(&self.measure)?;
        Some((limit, account.spent.of(self.measure)))
    }

    /// The least limit with which it may go on.
    #[must_use]
    pub fn least(&self, spent: u64) -> u64 {
        spent.saturating_add(self.wants.max(ONE))
    }

    /// A limit that gives it room to go on: half as much again, at least twice what comes next, and
    /// a number that can be read.
    #[must_use]
    pub fn roomy(&self, limit: u64, spent: u64) -> u64 {
        let more = (limit / 2).max(self.wants.max(ONE).saturating_mul(2));
        let enough = limit.max(spent).saturating_add(more);
        rounded_up(enough.max(self.least(spent)))
    }
}

/// The next number with two digits that are not nought.
fn rounded_up(number: u64) -> u64 {
    let mut step: u64 = 1;
    while number / step >= 100 {
        step = step.saturating_mul(10);
    }
    number.div_ceil(step).saturating_mul(step)
}

#[cfg(test)]
mod tests {
    use crate::fact::budget::Measure;

    use super::*;

    #[test]
    fn a_limit_with_room_lets_what_comes_next_leave_and_is_a_number_that_can_be_read() {
        for (limit, spent, wants, least, roomy) in [
            (5_000_000, 4_970_000, 210_000, 5_180_000, 7_500_000),
            (5_010_000, 5_010_000, 1, 5_010_001, 7_600_000),
            (2_000, 1_990, 90_000, 91_990, 190_000),
            (3, 4, 1, 5, 6),
            (0, 0, 0, 1, 2),
            (u64::MAX, u64::MAX, 1, u64::MAX, u64::MAX),
        ] {
            let lack = Lack {
                role: None,
                measure: Measure::Tokens,
                wants,
                left: 0,
            };
            assert_eq!(lack.least(spent), least, "{limit} {spent} {wants}");
            assert_eq!(lack.roomy(limit, spent), roomy, "{limit} {spent} {wants}");
            assert!(lack.roomy(limit, spent) >= lack.least(spent));
        }
    }
}
