//! What is spent, what is held for requests under way, and what is left.
//!
//! A request leaves only when its worst case fits beside everything that is under way, so that
//! roles that work at the same time cannot spend the same money twice.

use std::collections::BTreeMap;

/// One budget.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    limit: Option<u64>,
    spent: u64,
    held: BTreeMap<Hold, u64>,
}

/// What is held for one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hold(u64);

/// What is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Short {
    /// Whose budget it is; the flow's if absent.
    pub role: Option<String>,
    /// The limit.
    pub limit: u64,
    /// What is spent.
    pub spent: u64,
    /// What is held for others.
    pub held: u64,
    /// What was wanted.
    pub wanted: u64,
}

impl Short {
    /// Whether it may fit when those who are under way are done. Otherwise the budget is reached.
    #[must_use]
    pub fn may_fit_later(&self) -> bool {
        self.spent.saturating_add(self.wanted) <= self.limit
    }
}

impl Ledger {
    fn held(&self) -> u64 {
        self.held
            .values()
            .fold(0, |sum, held| sum.saturating_add(*held))
    }

    fn short_of(&self, wanted: u64, role: Option<&str>) -> Option<Short> {
        let limit = self.limit?;
        let held = self.held();
        let would_be = self.spent.saturating_add(held).saturating_add(wanted);
        // Nothing fits into a budget that is spent, not even what costs nothing.
        let is_spent = self.spent >= limit;
        (would_be > limit || is_spent).then(|| Short {
            role: role.map(ToOwned::to_owned),
            limit,
            spent: self.spent,
            held,
            wanted,
        })
    }

    fn settle(&mut self, hold: Hold, cost: u64) {
        self.held.remove(&hold);
        self.spent = self.spent.saturating_add(cost);
    }
}

/// The budgets of a flow and of its roles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledgers {
    flow: Ledger,
    roles: BTreeMap<String, Ledger>,
    /// Whose each hold is.
    holders: BTreeMap<Hold, String>,
    next: u64,
}

impl Ledgers {
    /// Sets a limit, or takes it away: of a role, or of the flow.
    pub fn set_limit(&mut self, role: Option<&str>, limit: Option<u64>) {
        self.ledger(role).limit = limit;
    }

    /// Counts what was spent without a hold, as when a flow is opened again.
    pub fn count(&mut self, role: &str, cost: u64) {
        for ledger in [None, Some(role)] {
            let ledger = self.ledger(ledger);
            ledger.spent = ledger.spent.saturating_add(cost);
        }
    }

    /// Holds the worst case of a request in the role's budget and in the flow's, or in neither.
    ///
    /// # Errors
    ///
    /// If it does not fit into one of them.
    pub fn hold(&mut self, role: &str, worst: u64) -> Result<Hold, Short> {
        for (whose, name) in [(None, None), (Some(role), Some(role))] {
            if let Some(short) = self.ledger(whose).short_of(worst, name) {
                return Err(short);
            }
        }
        let hold = Hold(self.next);
        self.next += 1;
        for whose in [None, Some(role)] {
            self.ledger(whose).held.insert(hold, worst);
        }
        self.holders.insert(hold, role.to_owned());
        Ok(hold)
    }

    /// The request is over and cost this much; 0, if it never left.
    pub fn settle(&mut self, hold: Hold, cost: u64) {
        if let Some(role) = self.holders.remove(&hold) {
            for whose in [None, Some(role.as_str())] {
                self.ledger(whose).settle(hold, cost);
            }
        }
    }

    /// What is spent: by a role, or by the flow.
    #[must_use]
    pub fn spent(&self, role: Option<&str>) -> u64 {
        match role {
            None => self.flow.spent,
            Some(role) => self.roles.get(role).map_or(0, |ledger| ledger.spent),
        }
    }

    fn ledger(&mut self, role: Option<&str>) -> &mut Ledger {
        match role {
            None => &mut self.flow,
            Some(role) => self.roles.entry(role.to_owned()).or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limited(flow: u64, role: u64) -> Ledgers {
        let mut ledgers = Ledgers::default();
        ledgers.set_limit(None, Some(flow));
        ledgers.set_limit(Some("owner"), Some(role));
        ledgers
    }

    #[test]
    fn what_is_under_way_is_not_spent_twice() {
        let mut ledgers = limited(100, 80);
        let first = ledgers.hold("owner", 60).unwrap();
        let short = ledgers.hold("owner", 30).unwrap_err();
        assert_eq!((short.role.as_deref(), short.held), (Some("owner"), 60));
        assert!(short.may_fit_later());
        let short = ledgers.hold("worker", 50).unwrap_err();
        assert_eq!((short.role, short.limit), (None, 100));
        ledgers.settle(first, 10);
        let second = ledgers.hold("worker", 50).unwrap();
        ledgers.settle(second, 50);
        assert_eq!(
            (ledgers.spent(None), ledgers.spent(Some("owner"))),
            (60, 10)
        );
        assert!(!ledgers.hold("worker", 50).unwrap_err().may_fit_later());
    }

    #[test]
    fn a_raised_limit_lets_work_go_on_and_a_hold_is_settled_once() {
        let mut ledgers = limited(10, 10);
        ledgers.count("owner", 10);
        assert!(ledgers.hold("owner", 0).is_err());
        ledgers.set_limit(None, Some(20));
        ledgers.set_limit(Some("owner"), None);
        let hold = ledgers.hold("owner", 5).unwrap();
        ledgers.settle(hold, 5);
        ledgers.settle(hold, 5);
        assert_eq!(ledgers.spent(None), 15);
    }

    #[derive(Debug, Clone)]
    enum Deed {
        Hold(u8, u64),
        Settle(usize, u64),
    }

    proptest! {
        #[test]
        fn no_order_of_requests_spends_more_than_the_limits(
            deeds in prop::collection::vec(
                prop_oneof![
                    (0..3_u8, 0..60_u64).prop_map(|(role, worst)| Deed::Hold(role, worst)),
                    (0..8_usize, 0..100_u64).prop_map(|(at, share)| Deed::Settle(at, share)),
                ],
                0..80,
            ),
        ) {
            let mut ledgers = Ledgers::default();
            ledgers.set_limit(None, Some(200));
            ledgers.set_limit(Some("r0"), Some(90));
            let mut open: Vec<(Hold, u64)> = Vec::new();
            for deed in deeds {
                match deed {
                    Deed::Hold(role, worst) => {
                        if let Ok(hold) = ledgers.hold(&format!("r{role}"), worst) {
                            open.push((hold, worst));
                        }
                    }
                    Deed::Settle(at, share) if at < open.len() => {
                        let (hold, worst) = open.remove(at);
                        ledgers.settle(hold, worst * share / 100);
                    }
                    Deed::Settle(..) => {}
                }
            }
            for (hold, worst) in open {
                ledgers.settle(hold, worst);
            }
            prop_assert!(ledgers.spent(None) <= 200);
            prop_assert!(ledgers.spent(Some("r0")) <= 90);
            let roles: u64 = (0..3).map(|role| ledgers.spent(Some(&format!("r{role}")))).sum();
            prop_assert_eq!(roles, ledgers.spent(None));
        }
    }
}
