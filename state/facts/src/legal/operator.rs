//! When the operator may answer, steer, allow; and when a budget is used up.

use super::Illegal;
use super::node::{node_of, waiting};
use crate::fact::budget::{BudgetReached, Measure};
use crate::fact::operator::{
    ConsentAnswer, ConsentRequested, ConsentResolved, ConsentRuled, ConsentRulesAdded, Grant,
    OperatorReplied, OperatorSteered, ReplyReturned,
};
use crate::id::MessageId;
use crate::limits::{CONSENT_RULES_MAX, OPEN_ITEMS_MAX};
use crate::view::FlowState;
use crate::view::flow::{CallState, OperatorMessage};

fn unused(queue: &[OperatorMessage], id: &MessageId) -> Result<(), Illegal> {
    if queue.len() >= OPEN_ITEMS_MAX {
        return Err(Illegal::TooMany { what: "messages" });
    }
    if queue.iter().any(|said| said.id == *id) {
        return Err(Illegal::Message {
            message: id.clone(),
            why: "it is queued already",
        });
    }
    Ok(())
}

pub(super) fn replied(state: &FlowState, f: &OperatorReplied) -> Result<(), Illegal> {
    let mut awaits_handoff = false;
    if let Some(node) = &f.node {
        node_of(state, node, &f.role)?;
        awaits_handoff = state.awaiting_handoff.contains(node);
    }
    let takes_text = match waiting(state, f.node.as_ref(), &f.role) {
        Ok(waiting) => waiting.takes_text(),
        Err(_) if awaits_handoff => true,
        Err(why) => return Err(why),
    };
    if !takes_text {
        return Err(Illegal::NotWaiting {
            role: f.role.clone(),
        });
    }
    let queue = match &f.node {
        Some(node) => state.replies.get(node).map(Vec::as_slice),
        None => state.reflecting(&f.role).map(|r| r.replies.as_slice()),
    };
    unused(queue.unwrap_or(&[]), &f.reply)
}

pub(super) fn returned(state: &FlowState, f: &ReplyReturned) -> Result<(), Illegal> {
    let queued = |said: &OperatorMessage| said.id == f.reply;
    let nodes = state.replies.values().flatten().any(queued);
    let roles = state.steers.values().flatten().any(queued);
    let reflecting = state.improvement.iter().any(|improvement| {
        let work = improvement.feedback.work.iter();
        (improvement.roles.values().chain(work)).any(|role| role.replies.iter().any(queued))
    });
    if nodes || roles || reflecting {
        Ok(())
    } else {
        Err(Illegal::UnknownReply {
            reply: f.reply.clone(),
        })
    }
}

pub(super) fn steered(state: &FlowState, f: &OperatorSteered) -> Result<(), Illegal> {
    // A role whose first turn is still to come has no session yet.
    let is_of_graph = || state.graph.nodes.iter().any(|node| node.role == f.role);
    if state.session(&f.role).is_none() && !is_of_graph() {
        super::session::known(state, &f.role)?;
    }
    let queue = state.steers.get(&f.role).map_or(&[][..], Vec::as_slice);
    unused(queue, &f.steer)
}

pub(super) fn consent_requested(state: &FlowState, f: &ConsentRequested) -> Result<(), Illegal> {
    let refuse = |why| {
        Err(Illegal::Consent {
            consent: f.consent.clone(),
            why,
        })
    };
    if state.consents.contains_key(&f.consent) {
        return refuse("it is open already");
    }
    if state.consents.values().any(|open| open.role == f.role) {
        return refuse("the role asks something else already");
    }
    match state.calls.get(&f.call) {
        Some(call) if call.role != f.role || call.tool != f.tool => {
            refuse("its call is another one")
        }
        Some(call) => match call.state {
            // What was allowed is asked about anew where it would be something else by now.
            CallState::Intended | CallState::Allowed => Ok(()),
            CallState::Consent | CallState::Denied | CallState::Started => {
                Err(Illegal::CallState {
                    call: f.call.clone(),
                    state: call.state,
                })
            }
        },
        None => refuse("its call is not open"),
    }
}

/// A rule speaks of a call that has not begun, and only says yes or no.
pub(super) fn consent_ruled(state: &FlowState, f: &ConsentRuled) -> Result<(), Illegal> {
    let refuse = |why| {
        Err(Illegal::Call {
            call: f.call.clone(),
            why,
        })
    };
    match f.answer {
        ConsentAnswer::AllowOnce | ConsentAnswer::Deny => {}
        ConsentAnswer::AllowFlow | ConsentAnswer::Withdrawn => {
            return refuse("a rule allows this call or denies it");
        }
    }
    match state.calls.get(&f.call) {
        Some(call) if call.role != f.role || call.tool != f.tool => refuse("it is another one"),
        Some(call) => match call.state {
            CallState::Intended | CallState::Allowed => Ok(()),
            CallState::Consent | CallState::Denied | CallState::Started => {
                Err(Illegal::CallState {
                    call: f.call.clone(),
                    state: call.state,
                })
            }
        },
        None => refuse("it is not open"),
    }
}

pub(super) fn rules_added(state: &FlowState, f: &ConsentRulesAdded) -> Result<(), Illegal> {
    let mut rules = state.rules.clone();
    rules.add(&f.rules);
    if rules.len() > CONSENT_RULES_MAX {
        return Err(Illegal::TooMany { what: "rules" });
    }
    Ok(())
}

pub(super) fn consent_resolved(state: &FlowState, f: &ConsentResolved) -> Result<(), Illegal> {
    let refuse = |why| {
        Err(Illegal::Consent {
            consent: f.consent.clone(),
            why,
        })
    };
    match state.consents.get(&f.consent) {
        Some(open) if open.action == f.action => Ok(()),
        Some(_) => refuse("the answer is about something else"),
        None => refuse("it is not open"),
    }
}

pub(super) fn granted(state: &FlowState, grant: &Grant) -> Result<(), Illegal> {
    if state.grants.contains(grant) {
        return Err(Illegal::Nothing {
            what: "a grant that is there already",
        });
    }
    Ok(())
}

pub(super) fn budget_reached(state: &FlowState, f: &BudgetReached) -> Result<(), Illegal> {
    let account = match &f.role {
        None => Some(&state.account),
        Some(role) => state.role_accounts.get(role),
    };
    let used_up = account.is_some_and(|account| {
        let spent = match f.measure {
            // A turn that still runs is not counted yet, but the process that watches the clock knows.
            Measure::WallMs => f.spent.max(account.spent.wall_ms),
            Measure::Tokens | Measure::CostMicros | Measure::Turns => account.spent.of(f.measure),
        };
        account.limits.get(&f.measure) == Some(&f.limit)
            && spent >= f.limit
            && !account.reached.contains(&f.measure)
    });
    if used_up {
        Ok(())
    } else {
        Err(Illegal::Budget)
    }
}
