//! When a flow may be created, forked, revised, paused, closed, completed.

use super::Illegal;
use super::turn::concluded;
use crate::fact::flow::{FlowCreated, FlowForked, ForwardPassClosed, GraphRevised, Outline};
use crate::fact::improvement::ImprovementMode;
use crate::handoff::EdgeName;
use crate::id::NodeId;
use crate::view::FlowState;
use crate::view::flow::FlowPhase;

pub(super) fn created(f: &FlowCreated) -> Result<(), Illegal> {
    if f.graph.start().is_none() {
        return Err(Illegal::Graph {
            why: "it has no start node".to_owned(),
        });
    }
    if f.chat.is_some() && f.graph.nodes.len() > 1 {
        return Err(Illegal::Graph {
            why: "a chat has one node".to_owned(),
        });
    }
    Ok(())
}

pub(super) fn forked(state: &FlowState, f: &FlowForked) -> Result<(), Illegal> {
    // The fork shares what came before it, not what comes after.
    if f.at_seq > state.seq {
        return Err(Illegal::Nothing {
            what: "a fork from the future",
        });
    }
    Ok(())
}

pub(super) fn paused(state: &FlowState) -> Result<(), Illegal> {
    if state.paused.is_none() {
        return Err(Illegal::NotPaused);
    }
    Ok(())
}

pub(super) fn not_paused(state: &FlowState) -> Result<(), Illegal> {
    if state.paused.is_some() {
        return Err(Illegal::Paused);
    }
    Ok(())
}

pub(super) fn in_phase(state: &FlowState, phase: FlowPhase) -> Result<(), Illegal> {
    if state.phase != phase {
        return Err(Illegal::WrongPhase {
            status: state.phase.status().word(),
        });
    }
    Ok(())
}

/// A revised graph keeps a place for everything that happened and for everything that is open.
pub(super) fn revised(state: &FlowState, f: &GraphRevised) -> Result<(), Illegal> {
    let graph = &f.graph;
    let refuse = |why: String| Err(Illegal::Graph { why });
    if graph.start().is_none() {
        return refuse("it has no start node".to_owned());
    }
    if state.chat.is_some() {
        return refuse("a chat keeps its graph".to_owned());
    }
    if let Some(node) = needed(state).find(|node| graph.node(node).is_none()) {
        return refuse(format!("{node} is in use and would be gone"));
    }
    let roles = state.awaiting_operator.iter().map(|(n, w)| (n, &w.role));
    let running = state.running.iter().map(|(n, r)| (n, &r.role));
    for (node, role) in roles.chain(running) {
        if graph.node(node).is_some_and(|now| now.role != *role) {
            return refuse(format!("{node} is in use by {role}, who would lose it"));
        }
    }
    let travelled = state.completed_edges.iter();
    let received = state.received.iter().map(|delivery| &delivery.edge);
    if let Some(edge) = travelled.chain(received).find(|edge| !has(graph, edge)) {
        return refuse(format!("{edge} was travelled and would be gone"));
    }
    Ok(())
}

fn has(graph: &Outline, edge: &EdgeName) -> bool {
    graph.edge(edge).is_some()
}

/// The nodes that a revision must keep.
fn needed(state: &FlowState) -> impl Iterator<Item = &NodeId> {
    let staged = state.staged.values().map(|staged| &staged.node);
    let waiting = state.awaiting_operator.keys();
    (state.running.keys())
        .chain(waiting)
        .chain(&state.visited)
        .chain(state.replies.keys())
        .chain(staged)
}

pub(super) fn closed(state: &FlowState, f: &ForwardPassClosed) -> Result<(), Illegal> {
    in_phase(state, FlowPhase::Forward)?;
    let refuse = |why: String| Err(Illegal::NotClosable { why });
    if state.chat.is_some() {
        return refuse("a chat goes on until it is ended".to_owned());
    }
    let Some(role) = state.role_of(&f.node) else {
        return Err(Illegal::UnknownNode {
            node: f.node.clone(),
        });
    };
    if state.owner.as_ref() != Some(role) || state.graph.leaving(&f.node).next().is_some() {
        return refuse(format!("{} is not the closing node", f.node));
    }
    if !state.visited.contains(&f.node) {
        return refuse(format!("{} did not run", f.node));
    }
    if let Some(running) = state.running.get(&f.node) {
        concluded(state, running.turn)?;
    }
    if let Some(node) = state.running.keys().find(|node| **node != f.node) {
        return refuse(format!("{node} runs"));
    }
    if let Some(node) = state.awaiting_operator.keys().next() {
        return refuse(format!("{node} waits for the operator"));
    }
    if let Some(staged) = state.staged.values().next() {
        return refuse(format!("a handoff of {} waits for a word", staged.node));
    }
    if let Some(node) = state.awaiting_handoff.first() {
        return refuse(format!("{node} awaits a handoff"));
    }
    if let Some(delivery) = state.received.first() {
        return refuse(format!("{} holds something unread", delivery.receiver()));
    }
    if let Some(node) = state.wanted.keys().next() {
        return refuse(format!("{node} is about to run"));
    }
    // A node that was never entered owes nothing: an optional edge was not taken on the way to it.
    let mut owed = state.owing.iter().flat_map(|node| state.owed(node));
    if let Some(edge) = owed.next() {
        return refuse(format!("{edge} is not completed"));
    }
    Ok(())
}

pub(super) fn completed(state: &FlowState) -> Result<(), Illegal> {
    let done = state.improvement.as_ref().is_some_and(|improvement| {
        let nothing = improvement.mode == ImprovementMode::None;
        match state.phase {
            FlowPhase::Improving => nothing,
            FlowPhase::FeedbackConsent => improvement.feedback.granted == Some(false),
            FlowPhase::Feedback => improvement.feedback.report().is_some(),
            FlowPhase::Forward
            | FlowPhase::ImprovementChoice
            | FlowPhase::Completed
            | FlowPhase::Cancelled => false,
        }
    });
    if !done {
        return Err(Illegal::WrongPhase {
            status: state.phase.status().word(),
        });
    }
    let outlives = |cause| match cause {
        crate::fact::turn::Cause::Compaction | crate::fact::turn::Cause::Selection => true,
        crate::fact::turn::Cause::Node
        | crate::fact::turn::Cause::Reflection
        | crate::fact::turn::Cause::Feedback => false,
    };
    match state.turns.iter().find(|(_, turn)| !outlives(turn.cause)) {
        Some((turn, _)) => Err(Illegal::Turn {
            turn: *turn,
            why: "it is not over",
        }),
        None => Ok(()),
    }
}
