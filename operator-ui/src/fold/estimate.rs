//! What it would take to let roles look back, from the turns that they took in the flow.
//!
//! A role that looks back takes a turn in its own session. So its turns' averages estimate the time and
//! the cost. Where a role took none, there is no estimate.

use std::collections::BTreeMap;

use a_society_facts::fact::improvement::{ImprovementMode, Reflection};
use a_society_facts::id::RoleInstance;
use a_society_facts::view::FlowState;
use a_society_orchestrator::graph::FlowGraph;
use a_society_orchestrator::machine;

use crate::protocol::ask::Estimate;

/// What each way would take, as far as it is known.
pub(super) fn estimates(
    graph: &FlowGraph,
    state: &FlowState,
    modes: &[ImprovementMode],
) -> Vec<Estimate> {
    let each = modes.iter().filter_map(|mode| {
        let plan = machine::plan(graph, state, *mode);
        let usual = |role: &RoleInstance| usual_turn(state, role);
        let (ms, cost) = taken(&plan, &usual)?;
        Some(Estimate {
            mode: *mode,
            roles: plan.len() as u64,
            ms,
            cost_micros: (cost > 0).then_some(cost),
        })
    });
    each.collect()
}

/// How long a turn of a role took on average, and what it cost.
fn usual_turn(state: &FlowState, role: &RoleInstance) -> Option<(u64, u64)> {
    let spent = &state.role_accounts.get(role)?.spent;
    let each = |of: u64| of.checked_div(spent.turns);
    Some((each(spent.wall_ms)?, each(spent.cost_micros)?))
}

/// How long a plan takes if roles that depend on no other begin together, and what all of it costs.
fn taken(
    plan: &[Reflection],
    usual: &dyn Fn(&RoleInstance) -> Option<(u64, u64)>,
) -> Option<(u64, u64)> {
    let mut ends: BTreeMap<&RoleInstance, u64> = BTreeMap::new();
    let (mut last, mut cost) = (0, 0_u64);
    for step in plan {
        let begins = step.after.iter().filter_map(|role| ends.get(role)).max();
        let (lasts, costs) = usual(&step.role)?;
        let end = begins.copied().unwrap_or(0).saturating_add(lasts);
        ends.insert(&step.role, end);
        last = last.max(end);
        cost = cost.saturating_add(costs);
    }
    (!plan.is_empty()).then_some((last, cost))
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
        let usual = |role: &RoleInstance| match role.as_str() {
            "owner" => Some((10, 1)),
            "writer" => Some((20, 2)),
            "critic" => Some((40, 4)),
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
                Some((70, 7)),
            ),
            // Both at once, and the owner last.
            (
                plan(&[
                    ("writer", &[]),
                    ("critic", &[]),
                    ("owner", &["writer", "critic"]),
                ]),
                Some((50, 7)),
            ),
            (plan(&[("owner", &[])]), Some((10, 1))),
            // For a role without turns there is no estimate.
            (plan(&[("owner", &[]), ("person", &[])]), None),
            (plan(&[]), None),
        ] {
            assert_eq!(taken(&steps, &usual), wanted, "{steps:?}");
        }
    }
}
