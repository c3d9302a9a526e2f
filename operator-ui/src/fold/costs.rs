//! What a flow used, folded from its facts: by role, by model and by node.

use std::collections::BTreeMap;

use a_society_facts::Fact;
use a_society_facts::fact::turn::Usage;
use a_society_facts::id::TurnId;
use a_society_facts::{At, Recorded};

use crate::protocol::http::{Cost, Costs};

/// A turn that is not over.
#[derive(Debug)]
struct Open {
    role: String,
    node: Option<String>,
    /// Whether it works beside a turn of its role, as a compaction does, whose time it takes.
    is_aside: bool,
    since: At,
    /// The request that was not answered yet: its model, and since when.
    asked: Option<(String, At)>,
}

/// What was used by the facts so far.
#[derive(Debug, Default)]
pub(crate) struct Used {
    /// When the record before was made.
    before: Option<At>,
    turns: BTreeMap<TurnId, Open>,
    all: Cost,
    roles: BTreeMap<String, Cost>,
    models: BTreeMap<String, Cost>,
    nodes: BTreeMap<String, Cost>,
}

impl Used {
    /// Takes the next fact.
    pub(crate) fn hear(&mut self, recorded: &Recorded) {
        let at = recorded.at;
        let before = self.before.replace(at).unwrap_or(at);
        match recorded.fact() {
            // A fork begins later than what it shares, and a process later than the last one ended: between them
            // nothing worked.
            Some(Fact::FlowForked(_) | Fact::WriterOpened(_)) => self.rested(before, at),
            Some(Fact::TurnStarted(f)) => {
                let open = Open {
                    role: f.role.to_string(),
                    node: f.node.as_ref().map(ToString::to_string),
                    is_aside: f.cause.is_aside(),
                    since: at,
                    asked: None,
                };
                let first = self.turns.insert(f.turn, open).is_none();
                let is_new = first && f.attempt <= 1 && !f.cause.is_aside();
                self.each(f.turn, |cost| cost.turns += u64::from(is_new));
            }
            Some(Fact::ModelRequested(f)) => {
                if let Some(open) = self.turns.get_mut(&f.turn) {
                    open.asked = Some((f.model.clone(), at));
                }
                self.each(f.turn, |cost| cost.requests += 1);
                self.models.entry(f.model.clone()).or_default().requests += 1;
            }
            Some(Fact::ModelAnswered(f)) => {
                self.each(f.turn, |cost| add(cost, &f.usage));
                self.answered(f.turn, at, Some(&f.usage));
            }
            Some(Fact::ModelFailed(f)) => self.answered(f.turn, at, None),
            Some(Fact::TurnEnded(f)) => {
                self.worked(f.turn, at);
                self.turns.remove(&f.turn);
            }
            Some(_) | None => {}
        }
    }

    /// Counts the time of a turn until now, and begins anew.
    fn worked(&mut self, turn: TurnId, now: At) {
        let Some(open) = self.turns.get(&turn) else {
            return;
        };
        let mut others = self.turns.values();
        let is_within =
            open.is_aside && others.any(|other| !other.is_aside && other.role == open.role);
        let ms = if is_within { 0 } else { since(open.since, now) };
        self.each(turn, |cost| cost.ms += ms);
        if let Some(open) = self.turns.get_mut(&turn) {
            open.since = now;
        }
    }

    /// Nothing worked between these moments.
    fn rested(&mut self, from: At, to: At) {
        let open: Vec<TurnId> = self.turns.keys().copied().collect();
        for turn in open {
            self.worked(turn, from);
            if let Some(open) = self.turns.get_mut(&turn) {
                open.since = to;
                // What was asked was not answered to it.
                open.asked = None;
            }
        }
    }

    /// Counts something for the flow, and for the role and the node of a turn.
    fn each(&mut self, turn: TurnId, count: impl Fn(&mut Cost)) {
        count(&mut self.all);
        let Some(open) = self.turns.get(&turn) else {
            return;
        };
        count(self.roles.entry(open.role.clone()).or_default());
        // What belongs to no node is the looking back at the end.
        let node = open.node.clone().unwrap_or_default();
        count(self.nodes.entry(node).or_default());
    }

    fn answered(&mut self, turn: TurnId, at: At, usage: Option<&Usage>) {
        let asked = self.turns.get_mut(&turn).and_then(|open| open.asked.take());
        let Some((model, asked_at)) = asked else {
            return;
        };
        let cost = self.models.entry(model).or_default();
        cost.ms += since(asked_at, at);
        if let Some(usage) = usage {
            add(cost, usage);
        }
    }

    /// What was used in all, what cost most first.
    pub(crate) fn told(self) -> Costs {
        let list = |costs: BTreeMap<String, Cost>| {
            let mut list: Vec<Cost> = costs
                .into_iter()
                .map(|(name, cost)| Cost { name, ..cost })
                .collect();
            // What cost most comes first.
            list.sort_by_key(|one| std::cmp::Reverse((one.cost_micros, one.tokens, one.ms)));
            list
        };
        Costs {
            all: self.all,
            roles: list(self.roles),
            models: list(self.models),
            nodes: list(self.nodes),
        }
    }
}

fn since(from: At, to: At) -> u64 {
    u64::try_from(to.ms().saturating_sub(from.ms())).unwrap_or(0)
}

fn add(cost: &mut Cost, usage: &Usage) {
    cost.tokens = cost.tokens.saturating_add(usage.all_tokens());
    cost.output = cost.output.saturating_add(usage.output_tokens);
    cost.cached = cost.cached.saturating_add(usage.cache_read_tokens);
    cost.cost_micros = cost.cost_micros.saturating_add(usage.cost_micros);
}

#[cfg(test)]
mod tests {
    use a_society_facts::fact::flow::FlowForked;
    use a_society_facts::fact::turn::{Cause, TurnEnd, TurnEnded, TurnResumed, TurnStarted};

    use super::*;

    fn used(facts: Vec<(i64, Fact)>) -> Costs {
        let mut used = Used::default();
        for (seq, (ms, fact)) in (1..).zip(facts) {
            used.hear(&Recorded::new(seq, At::from_ms(ms), fact));
        }
        used.told()
    }

    fn starts(turn: u64, cause: Cause) -> Fact {
        let is_main = cause == Cause::Node;
        Fact::TurnStarted(TurnStarted {
            turn: TurnId(turn),
            attempt: 1,
            role: "writer".parse().unwrap(),
            node: is_main.then(|| "draft".parse().unwrap()),
            cause,
        })
    }

    fn ends(turn: u64) -> Fact {
        Fact::TurnEnded(TurnEnded {
            turn: TurnId(turn),
            attempt: 1,
            role: "writer".parse().unwrap(),
            end: TurnEnd::Outcome,
            error: None,
        })
    }

    #[test]
    fn a_compaction_is_no_turn_and_takes_the_time_of_the_turn_that_it_is_in() {
        let costs = used(vec![
            (0, starts(1, Cause::Node)),
            (10_000, starts(2, Cause::Compaction)),
            (40_000, ends(2)),
            (50_000, ends(1)),
        ]);
        assert_eq!((costs.all.turns, costs.all.ms), (1, 50_000));
        // By itself it takes its own time.
        let alone = used(vec![(0, starts(1, Cause::Compaction)), (30_000, ends(1))]);
        assert_eq!((alone.all.turns, alone.all.ms), (0, 30_000));
    }

    #[test]
    fn the_time_between_what_a_fork_shares_and_its_beginning_is_nobodys() {
        let forked = FlowForked {
            parent: "20260303T132940000Z-ledger".parse().unwrap(),
            at_seq: 2,
            name: None,
        };
        let resumed = TurnResumed {
            turn: TurnId(1),
            attempt: 2,
            role: "writer".parse().unwrap(),
        };
        let day = 86_400_000;
        let costs = used(vec![
            (0, starts(1, Cause::Node)),
            (5_000, starts(2, Cause::Compaction)),
            (day, Fact::FlowForked(forked)),
            (day + 100, Fact::TurnResumed(resumed)),
            (day + 7_000, ends(1)),
        ]);
        assert_eq!((costs.all.turns, costs.all.ms), (1, 12_000));
    }
}
