//! Another graph for a running flow: it counts if it has a place for all that happened (row R18).

use std::collections::{BTreeMap, BTreeSet};

use a_society_facts::Fact;
use a_society_facts::fact::flow::{FactAuthor, GraphRevised};
use a_society_facts::fact::operator::ReplyReturned;
use a_society_facts::handoff::{EdgeName, HandoffWay};
use a_society_facts::id::{ClientId, NodeId, RoleInstance};
use a_society_facts::view::flow::FlowPhase;
use a_society_facts::view::flow::FlowState;

use super::input::{Brought, NewGraph, VerbNeed};
use super::outline::outline;
use super::refusal::Refusal;
use super::turn::in_phase;
use crate::graph::{FlowGraph, LiveFacts, RevisionObstacle, check_revision};

/// The operator wants another flow file walked.
pub(super) fn said(
    graph: &FlowGraph,
    state: &FlowState,
    source: &str,
    brought: &Brought,
    client: Option<&ClientId>,
) -> Result<Vec<Fact>, Refusal> {
    in_phase(state, FlowPhase::Forward)?;
    let Brought::Graph(new) = brought else {
        return Err(Refusal::Needs(VerbNeed::Graph(source.to_owned())));
    };
    revise(graph, state, new, FactAuthor::Operator, client)
}

pub(super) fn revise(
    graph: &FlowGraph,
    state: &FlowState,
    new: &NewGraph,
    by: FactAuthor,
    client: Option<&ClientId>,
) -> Result<Vec<Fact>, Refusal> {
    in_phase(state, FlowPhase::Forward)?;
    let mut reasons = check_revision(graph, &new.graph, &live(state));
    reasons.extend(lost_ways(state, &new.graph));
    reasons.sort_unstable();
    reasons.dedup();
    if !reasons.is_empty() {
        return Err(Refusal::Revision { reasons });
    }
    let mut facts = unheard(state, &new.graph);
    facts.push(Fact::GraphRevised(GraphRevised {
        graph: outline(&new.graph, new.source.clone()),
        by,
        client: client.cloned(),
    }));
    Ok(facts)
}

/// The operator's messages to roles that the new graph has no turn for, given back.
fn unheard(state: &FlowState, new: &FlowGraph) -> Vec<Fact> {
    let stays = |role: &RoleInstance| {
        state.session(role).is_some() || new.role_instances().any(|known| known == role)
    };
    let gone = state.steers.iter().filter(|(role, _)| !stays(role));
    gone.flat_map(|(role, said)| said.iter().map(move |said| (role, said)))
        .map(|(role, said)| {
            Fact::ReplyReturned(ReplyReturned {
                reply: said.id.clone(),
                why: format!("the graph that is walked now has no {role}"),
            })
        })
        .collect()
}

/// What travels, or is staged to travel, does so along a forward edge of its name.
fn lost_ways(state: &FlowState, new: &FlowGraph) -> Vec<RevisionObstacle> {
    let has_ends = |edge: &EdgeName| new.has_node(&edge.from) && new.has_node(&edge.to);
    let lost = |edge: &EdgeName| has_ends(edge) && new.edge(edge).is_none();
    let received = state.received.iter().map(|delivery| &delivery.edge);
    let staged = state.staged.values().flat_map(|staged| &staged.deliveries);
    let staged = staged.map(|delivery| &delivery.edge);
    let edge = |edge: &EdgeName| edge.clone();
    (received.filter(|edge| lost(edge)))
        .map(|lost| RevisionObstacle::ReceivedEdgeGone { edge: edge(lost) })
        .chain(
            (staged.filter(|edge| lost(edge)))
                .map(|lost| RevisionObstacle::StagedEdgeGone { edge: edge(lost) }),
        )
        .collect()
}

fn live(state: &FlowState) -> LiveFacts {
    let waiting = state.awaiting_operator.iter();
    let awaiting = state.awaiting_handoff.iter();
    let awaiting = awaiting.filter_map(|node| Some((node.clone(), state.role_of(node)?.clone())));
    let mut staged: BTreeMap<NodeId, BTreeSet<NodeId>> = BTreeMap::new();
    for handoff in state.staged.values() {
        let forward = handoff
            .deliveries
            .iter()
            .filter(|d| d.way == HandoffWay::Forward);
        let targets = staged.entry(handoff.node.clone()).or_default();
        targets.extend(forward.map(|delivery| delivery.receiver().clone()));
    }
    let inbox = state.received.iter().map(|d| d.receiver().clone());
    let passed = state
        .history
        .iter()
        .flat_map(|(from, to)| to.keys().chain([from]));
    LiveFacts {
        running: state.running.keys().cloned().collect(),
        waiting: (waiting.map(|(node, w)| (node.clone(), w.role.clone())))
            .chain(awaiting)
            .collect(),
        visited: state.visited.clone(),
        queued: state.replies.keys().cloned().chain(inbox).collect(),
        staged,
        completed: state.completed_edges.clone(),
        received: (state.received.iter())
            .map(|delivery| match delivery.way {
                HandoffWay::Forward => delivery.edge.clone(),
                HandoffWay::Backward => EdgeName {
                    from: delivery.edge.to.clone(),
                    to: delivery.edge.from.clone(),
                },
            })
            .collect(),
        in_handoffs: passed.cloned().collect(),
    }
}
