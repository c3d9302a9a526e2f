//! Pause, cancel, retry, reopen, configure, budgets (rows R12 to R17).

use std::collections::BTreeMap;

use a_society_facts::At;
use a_society_facts::Fact;
use a_society_facts::Whom;
use a_society_facts::fact::budget::{BudgetSet, Measure};
use a_society_facts::fact::flow::{
    FactAuthor, FlowCancelled, FlowPaused, FlowTitled, FlowUnpaused, NodeReopened, NodeRetried,
    PauseReason,
};
use a_society_facts::fact::node::{NodeWoken, WaitReason};
use a_society_facts::fact::operator::{ChosenBy, ConsentAnswer, ReplyReturned, RoleConfigured};
use a_society_facts::fact::turn::{Cause, TurnResumed};
use a_society_facts::id::{ClientId, NodeId, RoleInstance, TurnId};
use a_society_facts::view::flow::FlowState;
use a_society_facts::view::flow::{Account, FlowPhase, OpenTurn, OperatorWait};

use super::consent::resolved;
use super::improve::{returned, unheard};
use super::input::OperatorWords;
use super::limits::TITLE_CHARS_MAX;
use super::refusal::{NOBODY, Refusal};
use super::reply::candidate;
use crate::graph::FlowGraph;

/// Refuses when the flow is over.
pub(super) fn not_over(state: &FlowState) -> Result<(), Refusal> {
    if state.phase.is_over() {
        return Err(Refusal::Over {
            status: state.phase.status().word(),
        });
    }
    Ok(())
}

pub(super) fn pause(
    state: &FlowState,
    reason: PauseReason,
    detail: Option<&String>,
    client: Option<&ClientId>,
) -> Result<Vec<Fact>, Refusal> {
    not_over(state)?;
    if state.paused.is_some() {
        return Err(Refusal::Paused);
    }
    Ok(vec![Fact::FlowPaused(FlowPaused {
        reason,
        detail: detail.cloned(),
        client: client.cloned(),
    })])
}

/// Whether open turns go on in this pause. When the operator pauses, they come to their ends; when the
/// disk is full, or an outcome is unknown, they stay where they are.
pub(super) fn turns_go_on(state: &FlowState) -> bool {
    match state.paused.as_ref().map(|pause| pause.reason) {
        None | Some(PauseReason::Operator) => true,
        Some(PauseReason::DiskFull | PauseReason::Budget | PauseReason::Irreversible) => false,
    }
}

pub(super) fn unpause(state: &FlowState, client: Option<&ClientId>) -> Result<Vec<Fact>, Refusal> {
    not_over(state)?;
    if state.paused.is_none() {
        return Err(Refusal::NotPaused);
    }
    let mut facts = vec![Fact::FlowUnpaused(FlowUnpaused {
        by: FactAuthor::Operator,
        client: client.cloned(),
    })];
    if !turns_go_on(state) {
        facts.extend(state.turns.iter().map(|(id, turn)| resumed(*id, turn)));
    }
    Ok(facts)
}

/// Another try at an open turn; whatever an earlier one still says comes too late.
pub(super) fn resumed(id: TurnId, turn: &OpenTurn) -> Fact {
    Fact::TurnResumed(TurnResumed {
        turn: id,
        attempt: turn.attempt.saturating_add(1),
        role: turn.role.clone(),
    })
}

pub(super) fn cancel(
    state: &FlowState,
    why: Option<&String>,
    client: Option<&ClientId>,
) -> Vec<Fact> {
    let mut facts = vec![Fact::FlowCancelled(FlowCancelled {
        by: FactAuthor::Operator,
        why: why.cloned(),
        client: client.cloned(),
    })];
    let withdrawn = ConsentAnswer::Withdrawn;
    let consents = state.consents.iter();
    facts.extend(consents.map(|(consent, open)| resolved(consent, open, withdrawn, None)));
    facts.extend(returned(state));
    facts
}

pub(super) fn retry(
    state: &FlowState,
    to: &Whom,
    client: Option<&ClientId>,
) -> Result<Vec<Fact>, Refusal> {
    let who = match to {
        Whom::Node(node) => node.to_string(),
        Whom::Role(role) => role.to_string(),
        Whom::Only => NOBODY.to_owned(),
    };
    let meant = |(node, waiting): &(Option<&NodeId>, &OperatorWait)| match to {
        Whom::Node(meant) => *node == Some(meant),
        Whom::Role(meant) => waiting.role == *meant,
        Whom::Only => waiting.reason.may_retry(),
    };
    let mut found = state.waits().filter(meant);
    // A retry ends other waits than a text does, so that everybody who waits is named.
    let candidates = || {
        (state.waits())
            .map(|(node, waiting)| candidate(node, waiting))
            .collect()
    };
    let (node, waiting) = match (found.next(), found.next()) {
        (Some(one), None) => one,
        (Some(_), Some(_)) => {
            return Err(Refusal::ManyWait {
                candidates: candidates(),
            });
        }
        (None, _) => {
            return Err(Refusal::NotWaiting {
                who,
                candidates: candidates(),
            });
        }
    };
    if !waiting.reason.may_retry() {
        let reason = waiting.reason;
        return Err(Refusal::NotRetryable { who, reason });
    }
    Ok(vec![again(node, waiting, client, false)])
}

/// What waited until now, at the latest, goes on as if the operator had tried it again.
pub(super) fn time_came(state: &FlowState, now: At) -> Vec<Fact> {
    let is_due = |waiting: &OperatorWait| ends_at(state, waiting).is_some_and(|at| at <= now);
    let due = state.waits().filter(|(_, waiting)| is_due(waiting));
    due.map(|(node, waiting)| again(node, waiting, None, true))
        .collect()
}

/// When a wait ends by itself. None does while the flow is paused or over.
pub(super) fn ends_at(state: &FlowState, waiting: &OperatorWait) -> Option<At> {
    state.goes_on_at(waiting)
}

fn again(
    node: Option<&NodeId>,
    waiting: &OperatorWait,
    client: Option<&ClientId>,
    on_time: bool,
) -> Fact {
    match node {
        Some(node) => Fact::NodeRetried(NodeRetried {
            node: node.clone(),
            on_time,
            client: client.cloned(),
        }),
        None => woken(None, waiting, client, on_time),
    }
}

fn woken(
    node: Option<&NodeId>,
    waiting: &OperatorWait,
    client: Option<&ClientId>,
    on_time: bool,
) -> Fact {
    Fact::NodeWoken(NodeWoken {
        node: node.cloned(),
        role: waiting.role.clone(),
        reason: waiting.reason,
        on_time,
        client: client.cloned(),
    })
}

/// Whether a node can be reopened. That takes the flow back to its forward work: turns of a later phase must be over
/// by then, because nothing would be left that they are for.
pub(super) fn may_reopen(
    graph: &FlowGraph,
    state: &FlowState,
    node: &NodeId,
) -> Result<(), Refusal> {
    if !graph.has_node(node) {
        return Err(Refusal::UnknownNode { node: node.clone() });
    }
    let refuse = |why: String| {
        Err(Refusal::NotReopenable {
            node: node.clone(),
            why,
        })
    };
    if !state.visited.contains(node) {
        return refuse("it was never entered".to_owned());
    }
    if state.running.contains_key(node) {
        return refuse("it runs".to_owned());
    }
    if let Some(waiting) = state.awaiting_operator.get(node) {
        let wants = waiting.reason.needs(None);
        return refuse(format!("it waits for {wants}"));
    }
    if state.wanted.contains_key(node) {
        return refuse("it is about to run".to_owned());
    }
    let own = |turn: &OpenTurn| match turn.cause {
        Cause::Node | Cause::Reflection | Cause::Feedback => true,
        Cause::Compaction | Cause::Selection => false,
    };
    let later = state.phase != FlowPhase::Forward;
    if let Some((turn, open)) = (state.turns.iter()).find(|(_, turn)| later && own(turn)) {
        return refuse(format!(
            "{turn} of {} is still open; stop it first",
            open.role
        ));
    }
    Ok(())
}

/// A node runs again.
pub(super) fn reopened(
    state: &FlowState,
    node: &NodeId,
    note: Option<&OperatorWords>,
    client: Option<&ClientId>,
) -> Vec<Fact> {
    let later = state.phase != FlowPhase::Forward;
    let unheard = state.improvement.iter().filter(|_| later).flat_map(unheard);
    let mut facts: Vec<Fact> = unheard
        .map(|said| {
            Fact::ReplyReturned(ReplyReturned {
                reply: said.id.clone(),
                why: "the flow went back to its forward work".to_owned(),
            })
        })
        .collect();
    facts.push(Fact::NodeReopened(NodeReopened {
        node: node.clone(),
        note: note.map(|words| words.text.clone()),
        client: client.cloned(),
    }));
    facts
}

/// What is not named stays as it was chosen before. A node that waits for its role to be configured is runnable by that;
/// a role that reflects has to be woken.
pub(super) fn configure(
    state: &FlowState,
    role: &RoleInstance,
    new: &BTreeMap<String, String>,
    by: ChosenBy,
    client: Option<&ClientId>,
) -> Vec<Fact> {
    let known = state.configurations.get(role);
    let mut settings = known.map_or_else(BTreeMap::new, |known| known.settings.clone());
    settings.extend(new.clone());
    let mut facts = vec![Fact::RoleConfigured(RoleConfigured {
        role: role.clone(),
        settings,
        by,
        client: client.cloned(),
    })];
    facts.extend(reflection_configured(state, role));
    facts
}

/// A role that reflects and waits for its configuration goes on.
pub(super) fn reflection_configured(state: &FlowState, role: &RoleInstance) -> Option<Fact> {
    let waiting = state.reflecting(role)?.waiting.as_ref()?;
    (waiting.reason == WaitReason::RoleConfiguration).then(|| woken(None, waiting, None, false))
}

/// Roles that wait only for this budget go on. The budget itself comes last, because it bears the
/// command's name.
pub(super) fn set_budget(
    state: &FlowState,
    role: Option<&RoleInstance>,
    measure: Measure,
    limit: Option<u64>,
    client: Option<&ClientId>,
) -> Vec<Fact> {
    let account = match role {
        None => Some(&state.account),
        Some(role) => state.role_accounts.get(role),
    };
    let spent = account.map_or(0, |account| account.spent.of(measure));
    let mut facts = Vec::new();
    if limit.is_none_or(|limit| limit > spent) {
        let waits = state
            .waits()
            .filter(|(_, w)| w.reason == WaitReason::Budget);
        let freed = waits.filter(|(_, w)| {
            let own = role.is_none_or(|role| *role == w.role);
            let flow = left(&state.account, role.is_none().then_some(measure));
            let roles = state.role_accounts.get(&w.role);
            own && flow && roles.is_none_or(|a| left(a, role.map(|_| measure)))
        });
        facts.extend(freed.map(|(node, waiting)| woken(node, waiting, None, false)));
    }
    facts.push(Fact::BudgetSet(BudgetSet {
        role: role.cloned(),
        measure,
        limit,
        client: client.cloned(),
    }));
    facts
}

/// Whether nothing of an account is used up, besides what is being raised.
fn left(account: &Account, raised: Option<Measure>) -> bool {
    account
        .reached
        .iter()
        .all(|reached| Some(*reached) == raised)
}

/// What a flow or a chat is called from now on, on one line.
pub(super) fn title(title: &str) -> Result<Vec<Fact>, Refusal> {
    let words: Vec<&str> = title.split_whitespace().collect();
    let title = words.join(" ");
    if !(1..=TITLE_CHARS_MAX).contains(&title.chars().count()) {
        return Err(Refusal::BadTitle);
    }
    Ok(vec![Fact::FlowTitled(FlowTitled { title })])
}
