//! When a node may be entered, may wait, may go on.

use super::Illegal;
use super::flow::{in_phase, not_paused};
use super::turn::concluded;
use crate::fact::flow::{NodeOutline, NodeReopened, NodeRetried};
use crate::fact::node::{Inbound, NodeClaimed, NodeEntry, NodeSuspended, NodeWoken, WaitReason};
use crate::handoff::{EdgeName, HandoffWay};
use crate::id::{MessageId, NodeId, RoleInstance, TurnId};
use crate::view::FlowState;
use crate::view::flow::{FlowPhase, OperatorMessage, OperatorWait};

pub(super) fn node<'a>(state: &'a FlowState, id: &NodeId) -> Result<&'a NodeOutline, Illegal> {
    state
        .graph
        .node(id)
        .ok_or_else(|| Illegal::UnknownNode { node: id.clone() })
}

pub(super) fn node_of<'a>(
    state: &'a FlowState,
    id: &NodeId,
    role: &RoleInstance,
) -> Result<&'a NodeOutline, Illegal> {
    let node = node(state, id)?;
    if node.role != *role {
        return Err(Illegal::WrongRole {
            node: id.clone(),
            owner: node.role.clone(),
            role: role.clone(),
        });
    }
    Ok(node)
}

pub(super) fn next_turn(state: &FlowState, turn: TurnId) -> Result<(), Illegal> {
    if turn.0 != state.next_turn {
        return Err(Illegal::TurnNumber {
            turn,
            next: state.next_turn,
        });
    }
    Ok(())
}

pub(super) fn claimed(state: &FlowState, f: &NodeClaimed) -> Result<(), Illegal> {
    in_phase(state, FlowPhase::Forward)?;
    not_paused(state)?;
    let node = node_of(state, &f.node, &f.role)?;
    next_turn(state, f.turn)?;
    idle(state, f)?;
    free(state, f)?;
    wait_ends(state, f)?;
    reads(state, f)?;
    drops(state, f)?;
    hears(state, f)?;
    enters(state, f, node)
}

/// A running node is entered again only when its turn was lost with the process.
fn idle(state: &FlowState, f: &NodeClaimed) -> Result<(), Illegal> {
    let runs = state.running.get(&f.node);
    let lost = |turn: TurnId| f.entry == NodeEntry::Recovered && !state.turns.contains_key(&turn);
    match runs {
        Some(running) if !lost(running.turn) => Err(Illegal::NodeRuns {
            node: f.node.clone(),
        }),
        Some(_) | None => Ok(()),
    }
}

/// One role instance, one turn at a time; one that waits on another node is occupied.
fn free(state: &FlowState, f: &NodeClaimed) -> Result<(), Illegal> {
    let other = |node: &NodeId| *node != f.node;
    let runs = state.running_of(&f.role).is_some_and(|(n, _)| other(n));
    let waits = state.waiting_of(&f.role).is_some_and(|(n, _)| other(n));
    if runs || waits || state.main_turn_of(&f.role).is_some() {
        return Err(Illegal::RoleBusy {
            role: f.role.clone(),
        });
    }
    Ok(())
}

fn wait_ends(state: &FlowState, f: &NodeClaimed) -> Result<(), Illegal> {
    let Some(waiting) = state.awaiting_operator.get(&f.node) else {
        return Ok(());
    };
    let ends = match waiting.reason {
        WaitReason::PromptHuman => !f.replies.is_empty() || !f.consumed.is_empty(),
        WaitReason::RoleConfiguration => f.entry == NodeEntry::Configured,
        WaitReason::Consent | WaitReason::HandoffApproval => false,
        WaitReason::AutonomousAbort
        | WaitReason::ConsentDenied
        | WaitReason::RepairLimit
        | WaitReason::Budget
        | WaitReason::Provider
        | WaitReason::Message => !f.replies.is_empty(),
    };
    if ends {
        Ok(())
    } else {
        Err(Illegal::NodeWaits {
            node: f.node.clone(),
            reason: waiting.reason,
        })
    }
}

fn reads(state: &FlowState, f: &NodeClaimed) -> Result<(), Illegal> {
    for (place, inbound) in f.consumed.iter().enumerate() {
        let here = match inbound.way {
            HandoffWay::Forward => inbound.edge.to == f.node,
            HandoffWay::Backward => inbound.edge.from == f.node,
        };
        let stale = inbound.way == HandoffWay::Forward && state.has_unread_request(&inbound.edge);
        let twice = f.consumed[..place].contains(inbound);
        if !here || stale || twice || !state.has_received(&inbound.edge, inbound.way) {
            return Err(Illegal::NotReceived {
                edge: inbound.edge.clone(),
            });
        }
    }
    Ok(())
}

/// What is dropped is stale: the receiver asked for it to be corrected, and either the sender
/// reads that now, or the receiver is entered for another reason.
fn drops(state: &FlowState, f: &NodeClaimed) -> Result<(), Illegal> {
    let asked_back = |edge: &EdgeName| {
        let back = Inbound {
            edge: edge.clone(),
            way: HandoffWay::Backward,
        };
        edge.from == f.node && f.consumed.contains(&back)
    };
    let asked = |edge: &EdgeName| edge.to == f.node && state.has_unread_request(edge);
    for edge in &f.dropped {
        if !state.has_received(edge, HandoffWay::Forward) || !(asked_back(edge) || asked(edge)) {
            return Err(Illegal::NotReceived { edge: edge.clone() });
        }
    }
    Ok(())
}

fn hears(state: &FlowState, f: &NodeClaimed) -> Result<(), Illegal> {
    let queued = state.replies.get(&f.node).map_or(&[][..], Vec::as_slice);
    all_queued(queued, &f.replies)
}

pub(super) fn all_queued(queued: &[OperatorMessage], replies: &[MessageId]) -> Result<(), Illegal> {
    match (replies.iter()).find(|reply| !queued.iter().any(|said| said.id == **reply)) {
        Some(reply) => Err(Illegal::UnknownReply {
            reply: reply.clone(),
        }),
        None => Ok(()),
    }
}

/// A node is entered first once, and not before what it waits for has arrived.
fn enters(state: &FlowState, f: &NodeClaimed, node: &NodeOutline) -> Result<(), Illegal> {
    let refuse = |why| {
        Err(Illegal::Entry {
            node: f.node.clone(),
            why,
        })
    };
    let visited = state.visited.contains(&f.node);
    match f.entry {
        NodeEntry::First if visited => refuse("it was entered before"),
        NodeEntry::First => first(state, f, node),
        NodeEntry::Reply if f.replies.is_empty() => refuse("there is no reply"),
        // The first message of a chat comes like every other.
        NodeEntry::Reply if state.chat.is_some() => Ok(()),
        NodeEntry::Reopened if !f.consumed.iter().any(|i| i.way == HandoffWay::Backward) => {
            match state.wanted.get(&f.node) {
                Some(_) => Ok(()),
                None => refuse("no work came back"),
            }
        }
        NodeEntry::Again
        | NodeEntry::Reopened
        | NodeEntry::Reply
        | NodeEntry::Configured
        | NodeEntry::Recovered
            if !visited =>
        {
            refuse("it was never entered")
        }
        NodeEntry::Again
        | NodeEntry::Reopened
        | NodeEntry::Reply
        | NodeEntry::Configured
        | NodeEntry::Recovered => Ok(()),
    }
}

fn first(state: &FlowState, f: &NodeClaimed, node: &NodeOutline) -> Result<(), Illegal> {
    let refuse = |why| {
        Err(Illegal::Entry {
            node: f.node.clone(),
            why,
        })
    };
    let start = state.graph.entering(&f.node).next().is_none();
    let wanted = state.wanted.contains_key(&f.node);
    if !start && !wanted && f.consumed.is_empty() {
        return refuse("nothing arrived");
    }
    // An edge from a node that was never entered may be one that nothing will come along.
    let missing = |edge: &&crate::fact::flow::EdgeOutline| {
        !edge.optional
            && !state.completed_edges.contains(&edge.edge)
            && state.visited.contains(&edge.edge.from)
    };
    if node.await_all_inputs && !wanted && state.graph.entering(&f.node).any(|e| missing(&e)) {
        return refuse("not everything arrived");
    }
    Ok(())
}

pub(super) fn reopened(state: &FlowState, f: &NodeReopened) -> Result<(), Illegal> {
    node(state, &f.node)?;
    if !state.visited.contains(&f.node) {
        return Err(Illegal::Entry {
            node: f.node.clone(),
            why: "it was never entered",
        });
    }
    if state.running.contains_key(&f.node) {
        return Err(Illegal::NodeRuns {
            node: f.node.clone(),
        });
    }
    if let Some(waiting) = state.awaiting_operator.get(&f.node) {
        return Err(Illegal::NodeWaits {
            node: f.node.clone(),
            reason: waiting.reason,
        });
    }
    if state.wanted.contains_key(&f.node) {
        return Err(Illegal::Nothing {
            what: "reopening a node that is about to run",
        });
    }
    Ok(())
}

pub(super) fn retried(state: &FlowState, f: &NodeRetried) -> Result<(), Illegal> {
    in_phase(state, FlowPhase::Forward)?;
    let Some(waiting) = state.awaiting_operator.get(&f.node) else {
        return Err(Illegal::NodeIdle {
            node: f.node.clone(),
        });
    };
    if waiting.reason.may_retry() {
        return Ok(());
    }
    Err(Illegal::NodeWaits {
        node: f.node.clone(),
        reason: waiting.reason,
    })
}

pub(super) fn suspended(state: &FlowState, f: &NodeSuspended) -> Result<(), Illegal> {
    asks_something_real(state, f)?;
    if matches!(f.reason, WaitReason::PromptHuman | WaitReason::Message)
        && let Some((turn, open)) = state.main_turn_of(&f.role)
        && open.node == f.node
    {
        concluded(state, turn)?;
    }
    let Some(id) = &f.node else {
        let reflecting = state.reflecting(&f.role).ok_or(Illegal::Improvement {
            role: f.role.clone(),
            why: "it did not begin",
        })?;
        if reflecting.findings.is_some() {
            return Err(Illegal::Improvement {
                role: f.role.clone(),
                why: "it is done",
            });
        }
        return no_repetition(reflecting.waiting.as_ref(), f);
    };
    node_of(state, id, &f.role)?;
    let waiting = state.awaiting_operator.get(id);
    let is_new_chat = f.reason == WaitReason::Message && !state.visited.contains(id);
    if waiting.is_none() && !state.running.contains_key(id) && !is_new_chat {
        return Err(Illegal::NodeIdle { node: id.clone() });
    }
    no_repetition(waiting, f)
}

fn no_repetition(waiting: Option<&OperatorWait>, f: &NodeSuspended) -> Result<(), Illegal> {
    match waiting {
        Some(waiting) if waiting.reason == f.reason && waiting.consent == f.consent => {
            Err(Illegal::Nothing {
                what: "waiting for what is waited for",
            })
        }
        Some(_) | None => Ok(()),
    }
}

/// A wait for consent or for a word names an open question.
fn asks_something_real(state: &FlowState, f: &NodeSuspended) -> Result<(), Illegal> {
    if let Some(consent) = &f.consent
        && (state.consents.get(consent)).is_none_or(|open| open.role != f.role)
    {
        return Err(Illegal::Consent {
            consent: consent.clone(),
            why: "it is not open",
        });
    }
    if let Some(approval) = &f.approval
        && (state.staged.get(approval)).is_none_or(|staged| Some(&staged.node) != f.node.as_ref())
    {
        return Err(Illegal::Approval {
            approval: approval.clone(),
            why: "it is not open",
        });
    }
    let named = match f.reason {
        // What another program had asked for is not known; it is asked for again.
        WaitReason::Consent => f.consent.is_some() || state.imported.is_some(),
        WaitReason::HandoffApproval => f.approval.is_some(),
        WaitReason::Message => state.chat.is_some(),
        WaitReason::PromptHuman
        | WaitReason::AutonomousAbort
        | WaitReason::ConsentDenied
        | WaitReason::RoleConfiguration
        | WaitReason::RepairLimit
        | WaitReason::Budget
        | WaitReason::Provider => true,
    };
    if named {
        Ok(())
    } else {
        Err(Illegal::NotWaiting {
            role: f.role.clone(),
        })
    }
}

/// The wait of a node, or of a role that reflects.
pub(super) fn waiting<'a>(
    state: &'a FlowState,
    node: Option<&NodeId>,
    role: &RoleInstance,
) -> Result<&'a OperatorWait, Illegal> {
    let waiting = match node {
        Some(node) => state.awaiting_operator.get(node),
        None => state.reflecting(role).and_then(|r| r.waiting.as_ref()),
    };
    waiting
        .filter(|waiting| waiting.role == *role)
        .ok_or_else(|| Illegal::NotWaiting { role: role.clone() })
}

pub(super) fn woken(state: &FlowState, f: &NodeWoken) -> Result<(), Illegal> {
    let waiting = waiting(state, f.node.as_ref(), &f.role)?;
    if waiting.reason != f.reason {
        return Err(Illegal::NotWaiting {
            role: f.role.clone(),
        });
    }
    let asked = waiting.consent.as_ref();
    if let Some(consent) = asked.filter(|id| state.consents.contains_key(id.as_str())) {
        return Err(Illegal::Consent {
            consent: consent.clone(),
            why: "it is not answered",
        });
    }
    let staged = |id: &&crate::id::ApprovalId| state.staged.get(*id).is_some_and(|s| !s.approved);
    if let Some(approval) = waiting.approval.as_ref().filter(staged) {
        return Err(Illegal::Approval {
            approval: approval.clone(),
            why: "it is not decided",
        });
    }
    Ok(())
}
