//! What a flow used: by role, by model and by node, also once it is over.

use std::collections::BTreeMap;

use a_society_facts::fact::Fact;
use a_society_facts::fact::turn::Usage;
use a_society_facts::id::{Seq, TurnId};
use a_society_facts::{At, Recorded};
use a_society_state::{FlowRef, Store};

use super::feed_at::each_in;
use crate::protocol::Fault;
use crate::protocol::http::{Cost, Costs};

/// What was used up to a record.
pub(super) fn of(store: &Store, flow: &FlowRef, at: Option<Seq>) -> Result<Costs, Fault> {
    let mut used = Used::default();
    each_in(store, flow, at, &mut |recorded| used.hear(recorded))?;
    Ok(used.told())
}

/// A turn that is not over.
#[derive(Debug)]
struct Open {
    role: String,
    node: Option<String>,
    since: At,
    /// The request that was not answered yet: its model, and since when.
    asked: Option<(String, At)>,
}

#[derive(Debug, Default)]
struct Used {
    turns: BTreeMap<TurnId, Open>,
    all: Cost,
    roles: BTreeMap<String, Cost>,
    models: BTreeMap<String, Cost>,
    nodes: BTreeMap<String, Cost>,
}

impl Used {
    fn hear(&mut self, recorded: &Recorded) {
        let at = recorded.at;
        match recorded.fact() {
            Some(Fact::TurnStarted(f)) => {
                let open = Open {
                    role: f.role.to_string(),
                    node: f.node.as_ref().map(ToString::to_string),
                    since: at,
                    asked: None,
                };
                let first = self.turns.insert(f.turn, open).is_none();
                self.each(f.turn, |cost| {
                    cost.turns += u64::from(first && f.attempt <= 1)
                });
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
                let ms = self
                    .turns
                    .get(&f.turn)
                    .map_or(0, |open| since(open.since, at));
                self.each(f.turn, |cost| cost.ms += ms);
                self.turns.remove(&f.turn);
            }
            Some(_) | None => {}
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

    fn told(self) -> Costs {
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
