//! Closing the forward work: what it takes, and what is missing (rows K1 to K4).

use std::fmt;

use a_society_facts::Fact;
use a_society_facts::fact::flow::ForwardPassClosed;
use a_society_facts::fact::node::FaultCode;
use a_society_facts::fact::turn::TurnEnd;
use a_society_facts::handoff::EdgeName;
use a_society_facts::id::NodeId;
use a_society_facts::message::Text;
use a_society_facts::view::flow::FlowState;

use super::limits::NAMES_SHOWN_MAX;
use super::refusal::Refusal;
use super::turn::{OutcomeFault, PresentTurn};
use crate::graph::FlowGraph;

/// One thing that closing waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ClosingNeed {
    /// Another node runs.
    Runs(NodeId),
    /// A node waits for the operator.
    Waits(NodeId),
    /// A node awaits a handoff.
    Awaits(NodeId),
    /// A node is about to run because the operator wants it to.
    AboutToRun(NodeId),
    /// Something arrived at a node and was not read.
    Unread(NodeId),
    /// Work has not gone along an edge whose beginning owes it.
    Owed(EdgeName),
}

impl fmt::Display for ClosingNeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Runs(node) => write!(f, "`{node}` runs"),
            Self::Waits(node) => write!(f, "`{node}` waits for the operator"),
            Self::Awaits(node) => write!(f, "`{node}` awaits a handoff"),
            Self::AboutToRun(node) => write!(f, "`{node}` is about to run again"),
            Self::Unread(node) => write!(f, "`{node}` has not read what arrived"),
            Self::Owed(edge) => write!(f, "nothing went from `{}` to `{}`", edge.from, edge.to),
        }
    }
}

/// Everything that keeps this node from closing the forward work.
#[must_use]
pub(crate) fn missing(state: &FlowState, node: &NodeId) -> Vec<ClosingNeed> {
    let others = state.running.keys().filter(|other| *other != node);
    let staged = state.staged.values().map(|staged| &staged.node);
    let staged = staged.filter(|node| !state.awaiting_operator.contains_key(*node));
    let mut unread: Vec<&NodeId> = state.received.iter().map(|d| d.receiver()).collect();
    unread.sort_unstable();
    unread.dedup();
    let owed = state.owing.iter().flat_map(|node| state.owed(node));
    let about = state.wanted.keys().chain(state.replies.keys());
    (others.cloned().map(ClosingNeed::Runs))
        .chain(
            state
                .awaiting_operator
                .keys()
                .cloned()
                .map(ClosingNeed::Waits),
        )
        .chain(staged.cloned().map(ClosingNeed::Waits))
        .chain(
            state
                .awaiting_handoff
                .iter()
                .cloned()
                .map(ClosingNeed::Awaits),
        )
        .chain(about.cloned().map(ClosingNeed::AboutToRun))
        .chain(unread.into_iter().cloned().map(ClosingNeed::Unread))
        .chain(owed.cloned().map(ClosingNeed::Owed))
        .collect()
}

pub(super) fn close(
    graph: &FlowGraph,
    state: &FlowState,
    turn: &PresentTurn<'_>,
    node: &NodeId,
    health: &Result<(), String>,
    asks: Option<&Text>,
) -> Result<Vec<Fact>, Refusal> {
    match (judged(graph, state, node, health), asks) {
        (Err(fault), _) => turn.repair(fault),
        // No role can help what was wrong before the flow came here, so only the operator is asked.
        (Ok(()), Some(question)) => Ok(turn.asks_about_project(question.clone())),
        (Ok(()), None) => Ok(vec![
            Fact::ForwardPassClosed(ForwardPassClosed { node: node.clone() }),
            turn.ended(TurnEnd::Outcome, None),
        ]),
    }
}

fn judged(
    graph: &FlowGraph,
    state: &FlowState,
    node: &NodeId,
    health: &Result<(), String>,
) -> Result<(), OutcomeFault> {
    let closing = &graph.node_at(graph.closing()).id;
    if node != closing {
        let summary = format!("only `{closing}` closes the forward work");
        return Err(OutcomeFault::new(FaultCode::WrongSignal, summary));
    }
    if let Err(failed) = health {
        return Err(OutcomeFault::new(FaultCode::HealthCheck, failed.clone()));
    }
    let missing = missing(state, node);
    if missing.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> = (missing.iter().take(NAMES_SHOWN_MAX))
        .map(ToString::to_string)
        .collect();
    let more = match missing.len() - shown.len() {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let summary = format!("the forward work is not done: {}{more}", shown.join("; "));
    Err(OutcomeFault::new(FaultCode::InvalidTransition, summary))
}
