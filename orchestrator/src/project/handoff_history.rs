//! What was handed along the edges of a flow, as packets describe it.

use std::collections::BTreeMap;

use a_society_facts::handoff::{Delivery, EdgeName};
use a_society_facts::id::NodeId;
use a_society_facts::view::flow::FlowState;

/// What arrived, in the order of the graph's edges: a role reads the same whichever was first.
pub(super) fn in_order_of_the_graph<'a>(
    state: &FlowState,
    node: &NodeId,
    read: &'a [Delivery],
) -> Vec<&'a Delivery> {
    let around = state.graph.entering(node).chain(state.graph.leaving(node));
    let places: BTreeMap<&EdgeName, usize> = around
        .enumerate()
        .map(|(place, edge)| (&edge.edge, place))
        .collect();
    let mut sorted: Vec<&Delivery> = read.iter().collect();
    // What came twice along one edge stays in the order in which it came.
    sorted.sort_by_key(|delivery| places.get(&delivery.edge).copied());
    sorted
}

/// The artifacts that were ever passed along an edge.
fn passed<'a>(state: &'a FlowState, edge: &EdgeName) -> impl Iterator<Item = &'a String> {
    let from = state
        .history
        .get(&edge.from)
        .and_then(|to| to.get(&edge.to));
    from.into_iter().flatten()
}

pub(super) fn passed_before(state: &FlowState, edge: &EdgeName) -> bool {
    passed(state, edge).count() > 1
}

pub(super) fn last_passed(state: &FlowState, edge: &EdgeName) -> String {
    passed(state, edge).last().cloned().unwrap_or_default()
}
