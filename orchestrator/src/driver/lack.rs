//! What a budget lacks, in the words that are recorded, and read back from them: what a page offers
//! as a remedy is made from what was recorded, and no other record of it is kept.

use a_society_facts::fact::budget::Measure;
use a_society_facts::id::{BadName, RoleInstance};
use a_society_facts::view::FlowState;

/// How the flow as a whole is called. No role instance has a name with a space.
const FLOW: &str = "the flow";

/// The least by which a limit is passed for anything to leave.
const ONE: u64 = 1;

/// A budget that lacks what comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lack {
    /// Whose; the whole flow's if absent.
    pub role: Option<RoleInstance>,
    /// Of what.
    pub measure: Measure,
    /// What comes next may take this much.
    pub wants: u64,
}

/// Why a request may not leave.
pub(super) fn of_request(
    whose: Option<&RoleInstance>,
    measure: Measure,
    wants: u64,
    free: u64,
) -> String {
    let unit = unit(measure);
    let whose = name(whose);
    format!("the next request may take {wants} {unit}, and {whose} has {free} left")
}

/// Why a turn may not begin.
pub(super) fn of_turns(whose: Option<&RoleInstance>, limit: u64, spent: u64) -> String {
    let whose = name(whose);
    format!("{whose} may take {limit} turns, and this is number {spent}")
}

fn name(whose: Option<&RoleInstance>) -> String {
    whose.map_or_else(|| FLOW.to_owned(), ToString::to_string)
}

const fn unit(measure: Measure) -> &'static str {
    match measure {
        Measure::Tokens => "tokens",
        Measure::CostMicros => "millionths of cost",
        Measure::Turns => "turns",
        Measure::WallMs => "milliseconds of work",
    }
}

impl Lack {
    /// Reads what was recorded. Other words say nothing.
    #[must_use]
    pub fn read(words: &str) -> Option<Self> {
        Self::read_request(words).or_else(|| Self::read_turns(words))
    }

    fn read_request(words: &str) -> Option<Self> {
        let rest = words.strip_prefix("the next request may take ")?;
        let (wants, rest) = rest.split_once(' ')?;
        let (of, rest) = rest.split_once(", and ")?;
        let (whose, _) = rest.split_once(" has ")?;
        let all = [
            Measure::Tokens,
            Measure::CostMicros,
            Measure::Turns,
            Measure::WallMs,
        ];
        Some(Self {
            role: named(whose).ok()?,
            measure: all.into_iter().find(|measure| unit(*measure) == of)?,
            wants: wants.parse().ok()?,
        })
    }

    fn read_turns(words: &str) -> Option<Self> {
        let (whose, rest) = words.split_once(" may take ")?;
        rest.split_once(" turns, and this is number ")?;
        Some(Self {
            role: named(whose).ok()?,
            measure: Measure::Turns,
            wants: ONE,
        })
    }

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

/// Whose a budget is by the name in a sentence.
fn named(whose: &str) -> Result<Option<RoleInstance>, BadName> {
    if whose == FLOW {
        return Ok(None);
    }
    whose.parse().map(Some)
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
    use super::*;

    #[test]
    fn what_is_recorded_of_a_budget_is_read_back_as_it_was_meant() {
        let writer: RoleInstance = "writer_2".parse().unwrap();
        for role in [None, Some(writer)] {
            for measure in [
                Measure::Tokens,
                Measure::CostMicros,
                Measure::Turns,
                Measure::WallMs,
            ] {
                let words = of_request(role.as_ref(), measure, 4_096, 12);
                let expected = Lack {
                    role: role.clone(),
                    measure,
                    wants: 4_096,
                };
                assert_eq!(Lack::read(&words), Some(expected), "{words}");
            }
            let words = of_turns(role.as_ref(), 3, 4);
            let expected = Lack {
                role,
                measure: Measure::Turns,
                wants: 1,
            };
            assert_eq!(Lack::read(&words), Some(expected), "{words}");
        }
        for other in [
            "",
            "the provider is busy",
            "the next request may take many tokens, and the flow has 1 left",
            "the next request may take 9 sheep, and the flow has 1 left",
            "The Flow may take 3 turns, and this is number 4",
        ] {
            assert_eq!(Lack::read(other), None, "{other}");
        }
    }

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
            };
            assert_eq!(lack.least(spent), least, "{limit} {spent} {wants}");
            assert_eq!(lack.roomy(limit, spent), roomy, "{limit} {spent} {wants}");
            assert!(lack.roomy(limit, spent) >= lack.least(spent));
        }
    }
}
