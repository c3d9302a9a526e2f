//! A handoff: judged in a fixed order, all of it before anything changes (rows H1 to H7), and then
//! applied whole or staged whole (rows H8 to H11).

use std::collections::BTreeSet;

use a_society_facts::Fact;
use a_society_facts::fact::node::{
    FaultCode, HandoffApplied, HandoffStaged, NodeSuspended, WaitReason,
};
use a_society_facts::fact::turn::TurnEnd;
use a_society_facts::handoff::{Artifact, Delivery, HandoffWay};
use a_society_facts::id::{ApprovalId, NodeId};
use a_society_facts::view::flow::FlowState;

use super::input::{Product, Receiver};
use super::limits::{NAMES_SHOWN_MAX, QUOTED_CHARS_MAX};
use super::live::Board;
use super::refusal::Refusal;
use super::turn::{OutcomeFault, PresentTurn};
use crate::graph::{EdgeIndex, FlowGraph, NodeIndex};

/// Where a node may hand its work to at present.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AllowedTargets {
    /// Its successors, in the order of the file.
    pub forward: Vec<NodeId>,
    /// The predecessors whose work it has, in the order of the file.
    pub backward: Vec<NodeId>,
    /// Whether it is the node that closes the forward work.
    pub closes: bool,
}

/// Where a node may hand its work to at present; nowhere, if the graph has no such node.
#[must_use]
pub fn allowed(graph: &FlowGraph, state: &FlowState, node: &NodeId) -> AllowedTargets {
    let Some(index) = graph.index_of(node) else {
        return AllowedTargets::default();
    };
    let name = |index: NodeIndex| graph.node_at(index).id.clone();
    let done = |edge: &&EdgeIndex| state.completed_edges.contains(&graph.edge_id(**edge));
    AllowedTargets {
        forward: graph.successors(index).map(name).collect(),
        backward: (graph.incoming(index).iter().filter(done))
            .map(|edge| name(graph.edge_at(*edge).from))
            .collect(),
        closes: index == graph.closing(),
    }
}

pub(super) fn handoff(
    graph: &FlowGraph,
    state: &FlowState,
    turn: &PresentTurn<'_>,
    node: &NodeId,
    targets: &[Receiver],
    approval: Option<ApprovalId>,
) -> Result<Vec<Fact>, Refusal> {
    let Some(index) = graph.index_of(node) else {
        return Err(Refusal::UnknownNode { node: node.clone() });
    };
    let deliveries = match judged(graph, state, index, targets) {
        Ok(deliveries) => deliveries,
        Err(fault) => return turn.repair(fault),
    };
    let forward = deliveries.iter().any(|d| d.way == HandoffWay::Forward);
    if forward && graph.node_at(index).is_human_colab() {
        let approval = approval.ok_or_else(|| Refusal::NeedsApproval { node: node.clone() })?;
        return Ok(staged(turn, node, deliveries, approval));
    }
    Ok(vec![
        Fact::HandoffApplied(HandoffApplied {
            node: node.clone(),
            turn: turn.id,
            deliveries,
            approval: None,
        }),
        turn.ended(TurnEnd::Outcome, None),
    ])
}

/// The whole handoff waits for one word, so that it is applied exactly as it was emitted.
fn staged(
    turn: &PresentTurn<'_>,
    node: &NodeId,
    deliveries: Vec<Delivery>,
    approval: ApprovalId,
) -> Vec<Fact> {
    vec![
        Fact::HandoffStaged(HandoffStaged {
            approval: approval.clone(),
            node: node.clone(),
            turn: turn.id,
            deliveries,
        }),
        approval_awaited(turn, approval),
        turn.ended(TurnEnd::Waiting, None),
    ]
}

pub(super) fn approval_awaited(turn: &PresentTurn<'_>, approval: ApprovalId) -> Fact {
    Fact::NodeSuspended(NodeSuspended {
        approval: Some(approval),
        ..NodeSuspended::of(
            turn.open.node.clone(),
            turn.role.clone(),
            WaitReason::HandoffApproval,
        )
    })
}

/// One target whose way is known.
struct RoutedTarget<'t> {
    edge: EdgeIndex,
    way: HandoffWay,
    to: NodeIndex,
    product: &'t Product,
}

/// Every rule over all targets before the next rule, so that a wrong target is named before a
/// missing artifact is.
fn judged(
    graph: &FlowGraph,
    state: &FlowState,
    from: NodeIndex,
    targets: &[Receiver],
) -> Result<Vec<Delivery>, OutcomeFault> {
    if targets.is_empty() {
        return nowhere(graph, state, from).map(|()| Vec::new());
    }
    let found: Vec<RoutedTarget<'_>> = (targets.iter())
        .map(|target| neighbour(graph, state, from, target))
        .collect::<Result<_, _>>()?;
    let artifacts: Vec<&Artifact> = (found.iter())
        .map(|target| available(target.product))
        .collect::<Result<_, _>>()?;
    named_once(graph, &found)?;
    for artifact in &artifacts {
        if state.passed.contains(&artifact.path) {
            let path = quoted(&artifact.path);
            let summary = format!("{path} was handed over before; it takes a new artifact");
            return Err(OutcomeFault::new(FaultCode::ArtifactUnavailable, summary));
        }
    }
    for target in &found {
        let edge = graph.edge_id(target.edge);
        if target.way == HandoffWay::Backward && !state.completed_edges.contains(&edge) {
            let to = &graph.node_at(target.to).id;
            let summary = format!("nothing of `{to}` is here at present that could go back to it");
            return Err(OutcomeFault::new(FaultCode::InvalidTransition, summary));
        }
    }
    let pairs = found.iter().zip(artifacts);
    Ok(pairs
        .map(|(target, artifact)| Delivery {
            edge: graph.edge_id(target.edge),
            way: target.way,
            artifact: artifact.clone(),
        })
        .collect())
}

fn neighbour<'t>(
    graph: &FlowGraph,
    state: &FlowState,
    from: NodeIndex,
    target: &'t Receiver,
) -> Result<RoutedTarget<'t>, OutcomeFault> {
    let wrong = |what: String| {
        let ways = ways(&allowed(graph, state, &graph.node_at(from).id));
        OutcomeFault::new(FaultCode::InvalidTransition, format!("{what}; {ways}"))
    };
    let named = target.node.parse::<NodeId>().ok();
    let Some(to) = named.and_then(|node| graph.index_of(&node)) else {
        return Err(wrong(format!("there is no node {}", quoted(&target.node))));
    };
    let forward = graph
        .edge_between(from, to)
        .map(|edge| (edge, HandoffWay::Forward));
    let backward = graph
        .edge_between(to, from)
        .map(|edge| (edge, HandoffWay::Backward));
    let Some((edge, way)) = forward.or(backward) else {
        return Err(wrong(format!("`{}` is no neighbour", target.node)));
    };
    Ok(RoutedTarget {
        edge,
        way,
        to,
        product: &target.artifact,
    })
}

/// The ways there are, in words.
fn ways(allowed: &AllowedTargets) -> String {
    let list = |nodes: &[NodeId]| {
        let shown: Vec<String> = (nodes.iter().take(NAMES_SHOWN_MAX))
            .map(|node| format!("`{node}`"))
            .collect();
        let more = nodes.len() - shown.len();
        match more {
            0 => shown.join(", "),
            more => format!("{} and {more} more", shown.join(", ")),
        }
    };
    match (allowed.forward.as_slice(), allowed.backward.as_slice()) {
        ([], []) => "there is no way from here".to_owned(),
        (forward, []) => format!("forward to {}", list(forward)),
        ([], backward) => format!("back to {}", list(backward)),
        (forward, backward) => format!("forward to {}, back to {}", list(forward), list(backward)),
    }
}

pub(super) fn available(product: &Product) -> Result<&Artifact, OutcomeFault> {
    match product {
        Product::Kept(artifact) => Ok(artifact),
        Product::Unavailable { path, why } => Err(OutcomeFault::new(
            FaultCode::ArtifactUnavailable,
            format!("{}: {why}", quoted(path)),
        )),
    }
}

fn named_once(graph: &FlowGraph, found: &[RoutedTarget<'_>]) -> Result<(), OutcomeFault> {
    let mut named = BTreeSet::new();
    match found.iter().find(|target| !named.insert(target.to)) {
        Some(twice) => Err(OutcomeFault::new(
            FaultCode::InvalidTransition,
            format!("`{}` is named twice", graph.node_at(twice.to).id),
        )),
        None => Ok(()),
    }
}

/// A handoff without a target: only from a node without outgoing edges, and only if the flow goes on.
fn nowhere(graph: &FlowGraph, state: &FlowState, from: NodeIndex) -> Result<(), OutcomeFault> {
    if !graph.outgoing(from).is_empty() {
        let summary = "there is work to hand on from here, and the handoff names no node";
        return Err(OutcomeFault::new(FaultCode::InvalidTargetShape, summary));
    }
    if from == graph.closing() {
        let summary = "this node closes the forward work: say that it is done, send work back, \
                       or await a handoff";
        return Err(OutcomeFault::new(FaultCode::InvalidTransition, summary));
    }
    let closing = &graph.node_at(graph.closing()).id;
    let node = &graph.node_at(from).id;
    let board = Board::of(graph, state);
    let goes_on = state.visited.contains(closing)
        || !state.awaiting_handoff.is_empty()
        || board.others_go_on(node)
        || board.reads(node).next().is_some();
    if goes_on {
        return Ok(());
    }
    let summary =
        format!("nothing else can run, and nothing has come to `{closing}`: send work back");
    Err(OutcomeFault::new(FaultCode::InvalidTransition, summary))
}

/// A name that a role wrote, cut to a readable length.
fn quoted(text: &str) -> String {
    if text.chars().count() <= QUOTED_CHARS_MAX {
        return format!("`{text}`");
    }
    let cut: String = text.chars().take(QUOTED_CHARS_MAX).collect();
    format!("`{cut}…`")
}
