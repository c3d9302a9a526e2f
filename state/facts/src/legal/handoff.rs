//! When work may go from one node to another.

use super::Illegal;
use super::node::node;
use super::turn::concluded;
use crate::fact::node::{HandoffApplied, HandoffAwaited, HandoffDecided, HandoffStaged};
use crate::handoff::{Delivery, HandoffWay};
use crate::id::{ApprovalId, NodeId, TurnId};
use crate::view::FlowState;

fn runs_in(state: &FlowState, node: &NodeId, turn: TurnId) -> Result<(), Illegal> {
    match state.running.get(node) {
        Some(running) if running.turn == turn && running.begun => concluded(state, turn),
        Some(_) | None => Err(Illegal::NodeNotRunning {
            node: node.clone(),
            turn,
        }),
    }
}

pub(super) fn applied(state: &FlowState, f: &HandoffApplied) -> Result<(), Illegal> {
    let outline = node(state, &f.node)?;
    if let Some(approval) = &f.approval {
        approved(state, f, approval)?;
    } else {
        runs_in(state, &f.node, f.turn)?;
        let forward = f.deliveries.iter().any(|d| d.way == HandoffWay::Forward);
        if outline.human_colab && forward {
            return Err(Illegal::NeedsApproval {
                node: f.node.clone(),
            });
        }
    }
    let owes = state.graph.leaving(&f.node).any(|edge| !edge.optional);
    if f.deliveries.is_empty() && owes {
        return Err(Illegal::NoTarget {
            node: f.node.clone(),
        });
    }
    may_travel(state, &f.node, &f.deliveries)
}

/// What goes through is exactly what was staged.
fn approved(state: &FlowState, f: &HandoffApplied, approval: &ApprovalId) -> Result<(), Illegal> {
    let refuse = |why| {
        Err(Illegal::Approval {
            approval: approval.clone(),
            why,
        })
    };
    match state.staged.get(approval) {
        None => refuse("there is none"),
        Some(staged) if !staged.approved => refuse("it is not approved"),
        Some(staged) if staged.node != f.node || staged.turn != f.turn => {
            refuse("it is another node's, or another turn's")
        }
        Some(staged) if staged.deliveries != f.deliveries => refuse("something else was approved"),
        Some(_) => Ok(()),
    }
}

fn may_travel(state: &FlowState, from: &NodeId, deliveries: &[Delivery]) -> Result<(), Illegal> {
    for (place, delivery) in deliveries.iter().enumerate() {
        let edge = &delivery.edge;
        if state.graph.edge(edge).is_none() {
            return Err(Illegal::UnknownEdge { edge: edge.clone() });
        }
        let sender = match delivery.way {
            HandoffWay::Forward => &edge.from,
            HandoffWay::Backward => &edge.to,
        };
        if sender != from {
            return Err(Illegal::NotNeighbour {
                node: from.clone(),
                edge: edge.clone(),
            });
        }
        let to = delivery.receiver();
        if deliveries[..place].iter().any(|d| d.receiver() == to) {
            return Err(Illegal::TargetTwice { node: to.clone() });
        }
        if state.was_passed(edge, &delivery.artifact.path) {
            return Err(Illegal::PassedBefore {
                edge: edge.clone(),
                path: delivery.artifact.path.clone(),
            });
        }
        if delivery.way == HandoffWay::Backward && !state.completed_edges.contains(edge) {
            return Err(Illegal::NotCompleted { edge: edge.clone() });
        }
    }
    Ok(())
}

pub(super) fn staged(state: &FlowState, f: &HandoffStaged) -> Result<(), Illegal> {
    runs_in(state, &f.node, f.turn)?;
    let waits = state.staged.values().any(|staged| staged.node == f.node);
    if waits || state.staged.contains_key(&f.approval) {
        return Err(Illegal::Approval {
            approval: f.approval.clone(),
            why: "the node has staged a handoff already",
        });
    }
    if f.deliveries.is_empty() {
        return Err(Illegal::NoTarget {
            node: f.node.clone(),
        });
    }
    may_travel(state, &f.node, &f.deliveries)
}

pub(super) fn decided(state: &FlowState, f: &HandoffDecided) -> Result<(), Illegal> {
    match state.staged.get(&f.approval) {
        Some(staged) if !staged.approved => Ok(()),
        Some(_) | None => Err(Illegal::Approval {
            approval: f.approval.clone(),
            why: "it is not open",
        }),
    }
}

pub(super) fn awaited(state: &FlowState, f: &HandoffAwaited) -> Result<(), Illegal> {
    runs_in(state, &f.node, f.turn)
}
