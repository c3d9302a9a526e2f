//! A role instance takes a node, and its turn begins (rows C11 and C12).

use a_society_facts::Fact;
use a_society_facts::fact::node::{Inbound, NodeClaimed};
use a_society_facts::fact::session::{SessionKind, SessionOpened};
use a_society_facts::fact::turn::{Cause, TurnStarted};
use a_society_facts::handoff::{EdgeName, HandoffWay};
use a_society_facts::id::{MessageId, NodeId, RoleInstance, TurnId};
use a_society_facts::legal::legal;
use a_society_facts::view::flow::FlowState;
use a_society_facts::view::flow::{FlowPhase, OperatorMessage};

use super::input::{Claim, NewSession};
use super::live::Board;
use super::refusal::Refusal;
use super::turn::in_phase;
use crate::graph::FlowGraph;

pub(super) fn claim(
    graph: &FlowGraph,
    state: &FlowState,
    claim: &Claim,
) -> Result<Vec<Fact>, Refusal> {
    in_phase(state, FlowPhase::Forward)?;
    if state.paused.is_some() {
        return Err(Refusal::Paused);
    }
    let board = Board::of(graph, state);
    let offers = board.offers();
    let Some(offer) = offers.iter().find(|offer| *offer.node == claim.node) else {
        return Err(not_offered(&board, &claim.node));
    };
    let session = open_session(state, offer.role, claim.session.as_ref())?;
    let unbegun = state.running.get(&claim.node).filter(|r| !r.begun);
    let turn = unbegun.map_or(TurnId(state.next_turn), |running| running.turn);
    let mut facts = Vec::with_capacity(3);
    if unbegun.is_none() {
        facts.push(Fact::NodeClaimed(enter(&board, offer.node, offer.role)));
    }
    facts.extend(session);
    facts.push(Fact::TurnStarted(TurnStarted {
        turn,
        attempt: 1,
        role: offer.role.clone(),
        node: Some(claim.node.clone()),
        cause: Cause::Node,
    }));
    Ok(facts)
}

/// What is read, dropped and taken up on entering.
fn enter(board: &Board<'_>, node: &NodeId, role: &RoleInstance) -> NodeClaimed {
    let mut consumed: Vec<Inbound> = Vec::new();
    let mut dropped: Vec<EdgeName> = Vec::new();
    for delivery in board.reads(node) {
        let inbound = Inbound {
            edge: delivery.edge.clone(),
            way: delivery.way,
        };
        if consumed.contains(&inbound) {
            continue;
        }
        // What this node had sent along the edge before it read the request is stale by it.
        let stale = board
            .state
            .has_received(&delivery.edge, HandoffWay::Forward);
        if delivery.way == HandoffWay::Backward && stale {
            dropped.push(delivery.edge.clone());
        }
        consumed.push(inbound);
    }
    NodeClaimed {
        node: node.clone(),
        role: role.clone(),
        turn: TurnId(board.state.next_turn),
        entry: board.entry(node),
        consumed,
        dropped,
        replies: (board.state.replies.get(node)).map_or_else(Vec::new, |said| names(said)),
    }
}

pub(super) fn names(said: &[OperatorMessage]) -> Vec<MessageId> {
    said.iter().map(|said| said.id.clone()).collect()
}

/// The session of a role is opened with its first turn.
pub(super) fn open_session(
    state: &FlowState,
    role: &RoleInstance,
    names: Option<&NewSession>,
) -> Result<Option<Fact>, Refusal> {
    if state.session(role).is_some() {
        return Ok(None);
    }
    let names = names.ok_or_else(|| Refusal::NeedsSession { role: role.clone() })?;
    let fact = Fact::SessionOpened(SessionOpened {
        role: role.clone(),
        key: names.key.clone(),
        session: names.session.clone(),
        generation: 1,
        kind: match &state.chat {
            Some(chat) => SessionKind::of_chat(&chat.key),
            None => SessionKind::Role,
        },
        parent: None,
        user: None,
    });
    legal(state, &fact)?;
    Ok(Some(fact))
}

fn not_offered(board: &Board<'_>, node: &NodeId) -> Refusal {
    let Some(known) = board.graph.node(node) else {
        return Refusal::UnknownNode { node: node.clone() };
    };
    let why = if board.state.running.contains_key(node) {
        "it runs already"
    } else if !board.in_order().iter().any(|offer| offer.node == node) {
        "nothing is there for it to do"
    } else if board.is_free(&known.role, node) {
        "another node of its role comes first"
    } else {
        "its role is busy"
    };
    Refusal::NotOffered {
        what: node.to_string(),
        why,
    }
}
