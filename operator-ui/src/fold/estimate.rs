//! What it would take to let roles look back, from the turns that they took in the flow.
//!
//! A role that looks back takes a turn in its own session. So its turns' averages estimate the time and
//! the cost. Where a role took none, there is no estimate.

use std::collections::BTreeMap;

use a_society_facts::fact::improvement::{ImprovementMode, Reflection};
use a_society_facts::id::RoleInstance;
use a_society_facts::view::flow::FlowState;
use a_society_orchestrator::graph::FlowGraph;
use a_society_orchestrator::machine;

use crate::protocol::ask::Estimate;

/// What turns take: how long, and what they cost in millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct EstimatedCost {
    ms: u64,
    micros: u64,
}

/// What each way would take, as far as it is known.
pub(super) fn estimates(
    graph: &FlowGraph,
    state: &FlowState,
    modes: &[ImprovementMode],
) -> Vec<Estimate> {
    let each = modes.iter().filter_map(|mode| {
        let plan = machine::plan(graph, state, *mode);
        let usual = |role: &RoleInstance| usual_turn(state, role);
        let EstimatedCost { ms, micros } = taken(&plan, &usual)?;
        Some(Estimate {
            mode: *mode,
            roles: plan.len() as u64,
            ms,
            cost_micros: (micros > 0).then_some(micros),
        })
    });
    each.collect()
}

/// How long a turn of a role took on average, and what it cost.
fn usual_turn(state: &FlowState, role: &RoleInstance) -> Option<EstimatedCost> {
    let spent = &state.role_accounts.get(role)?.spent;
    let each = |of: u64| of.checked_div(spent.turns);
    Some(EstimatedCost {
        ms: each(spent.wall_ms)?,
        micros: each(spent.cost_micros)?,
    })
}

/// How long a plan takes if roles that depend on no other begin together, and what all of it costs.
fn taken(
    plan: &[Reflection],
    usual: &dyn Fn(&RoleInstance) -> Option<EstimatedCost>,
) -> Option<EstimatedCost> {
    let mut ends: BTreeMap<&RoleInstance, u64> = BTreeMap::new();
    let mut all = EstimatedCost { ms: 0, micros: 0 };
    for step in plan {
        let begins = step.after.iter().filter_map(|role| ends.get(role)).max();
        let turn = usual(&step.role)?;
        let end = begins.copied().unwrap_or(0).saturating_add(turn.ms);
        ends.insert(&step.role, end);
        all.ms = all.ms.max(end);
        all.micros = all.micros.saturating_add(turn.micros);
    }
    (!plan.is_empty()).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(steps: &[(&str, &[&str])]) -> Vec<Reflection> {
        let name = |name: &&str| name.parse().unwrap();
        let each = steps.iter().map(|(role, after)| Reflection {
            role: name(role),
            after: after.iter().map(name).collect(),
        });
        each.collect()
    }

    #[test]
    fn roles_that_wait_for_nobody_take_as_long_as_the_slowest_and_cost_all_they_cost() {
        let spent = |ms, micros| Some(EstimatedCost { ms, micros });
        let usual = |role: &RoleInstance| match role.as_str() {
            "owner" => spent(10, 1),
            "writer" => spent(20, 2),
            "critic" => spent(40, 4),
            _ => None,
        };
        for (steps, wanted) in [
            // One after the other.
            (
                plan(&[
                    ("critic", &[]),
                    ("writer", &["critic"]),
                    ("owner", &["writer"]),
                ]),
                spent(70, 7),
            ),
            // Both at once, and the owner last.
            (
                plan(&[
                    ("writer", &[]),
                    ("critic", &[]),
                    ("owner", &["writer", "critic"]),
                ]),
                spent(50, 7),
            ),
            (plan(&[("owner", &[])]), spent(10, 1)),
            // For a role without turns there is no estimate.
            (plan(&[("owner", &[]), ("person", &[])]), None),
            (plan(&[]), None),
        ] {
            assert_eq!(taken(&steps, &usual), wanted, "{steps:?}");
        }
    }
}
