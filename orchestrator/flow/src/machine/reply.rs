//! What the operator says to nodes and roles (rows R1 to R11).

use a_society_facts::At;
use a_society_facts::Fact;
use a_society_facts::Whom;
use a_society_facts::fact::flow::FlowTitled;
use a_society_facts::fact::node::{HandoffApplied, HandoffDecided, NodeSuspended, WaitReason};
use a_society_facts::fact::operator::{OperatorReplied, OperatorSteered, SteerWhen};
use a_society_facts::id::{ApprovalId, ClientId, NodeId, RoleInstance};
use a_society_facts::legal::legal;
use a_society_facts::message::Text;
use a_society_facts::view::flow::FlowState;
use a_society_facts::view::flow::{FlowPhase, OperatorWait, StagedHandoff};

use super::command::{SaidWords, spoken};
use super::input::OperatorWords;
use super::limits::CHAT_TITLE_CHARS_MAX;
use super::opened::FactSketch;
use super::refusal::{AddressCandidate, NOBODY, Refusal, Want};

/// Whom a text reaches: a role at its node, or without one in the improvement phase.
#[derive(Debug, Clone, Copy)]
struct Addressee<'a> {
    node: Option<&'a NodeId>,
    role: &'a RoleInstance,
}

/// Everybody whom a text would reach, and who awaits a handoff.
pub(super) fn candidates(state: &FlowState) -> Vec<AddressCandidate> {
    let waits = state.waits().filter(|(_, waiting)| waiting.takes_text());
    let waits = waits.map(|(node, waiting)| candidate(node, waiting));
    let awaits = (state.awaiting_handoff.iter())
        .filter_map(|node| Some((node, state.role_of(node)?)))
        .map(|(node, role)| AddressCandidate {
            node: Some(node.clone()),
            role: role.clone(),
            want: Want::Handoff,
        });
    waits.chain(awaits).collect()
}

/// A role that waits for the operator.
pub(super) fn candidate(node: Option<&NodeId>, waiting: &OperatorWait) -> AddressCandidate {
    AddressCandidate {
        node: node.cloned(),
        role: waiting.role.clone(),
        want: Want::Operator(waiting.reason),
    }
}

pub(super) fn reply(
    state: &FlowState,
    to: &Whom,
    asked: Option<At>,
    said: SaidWords<'_>,
    client: Option<&ClientId>,
) -> Result<Vec<Fact>, Refusal> {
    let whom = match to {
        Whom::Node(node) => at_node(state, node)?,
        Whom::Role(role) => of_role(state, role)?,
        Whom::Only => only_one(state)?,
    };
    if let Some(asked) = asked {
        still_asked(state, whom, asked)?;
    }
    let words = said.kept()?.clone();
    let title = chat_title(state, &words.text).map(Fact::FlowTitled);
    let replied = replied(whom, words, client);
    Ok(title.into_iter().chain([replied]).collect())
}

/// A chat without a label is called by its first message.
fn chat_title(state: &FlowState, text: &Text) -> Option<FlowTitled> {
    let chat = state.chat.as_ref()?;
    let is_first = state.visited.is_empty() && state.replies.is_empty();
    if chat.label.is_some() || !is_first {
        return None;
    }
    let words: Vec<&str> = text.beginning().split_whitespace().collect();
    let mut title = words.join(" ");
    if let Some((end, _)) = title.char_indices().nth(CHAT_TITLE_CHARS_MAX) {
        title.truncate(end);
        title.pop();
        title.push('…');
    }
    (!title.is_empty()).then_some(FlowTitled { title })
}

fn replied(whom: Addressee<'_>, words: OperatorWords, client: Option<&ClientId>) -> Fact {
    Fact::OperatorReplied(OperatorReplied {
        reply: words.message,
        node: whom.node.cloned(),
        role: whom.role.clone(),
        text: words.text,
        client: client.cloned(),
    })
}

/// An answer to a question that was seen applies to that question and to no later one; of two such
/// answers, the first one counts.
fn still_asked(state: &FlowState, whom: Addressee<'_>, asked: At) -> Result<(), Refusal> {
    let Addressee { node, role } = whom;
    let mut waits = state.waits();
    let waits =
        waits.any(|(at, waiting)| at == node && waiting.role == *role && waiting.since == asked);
    let answered = match node {
        Some(node) => state.replies.contains_key(node),
        None => (state.reflecting(role)).is_some_and(|reflecting| !reflecting.replies.is_empty()),
    };
    if waits && !answered {
        return Ok(());
    }
    Err(Refusal::AlreadyAnswered {
        who: node.map_or_else(|| role.to_string(), ToString::to_string),
    })
}

fn not_waiting(state: &FlowState, who: &str) -> Refusal {
    Refusal::NotWaiting {
        who: who.to_owned(),
        candidates: candidates(state),
    }
}

fn takes_text(who: &str, waiting: &OperatorWait) -> Result<(), Refusal> {
    if waiting.takes_text() {
        return Ok(());
    }
    Err(Refusal::TakesNoText {
        who: who.to_owned(),
        reason: waiting.reason,
    })
}

fn at_node<'a>(state: &'a FlowState, node: &NodeId) -> Result<Addressee<'a>, Refusal> {
    let Some(known) = state.graph.node(node) else {
        return Err(Refusal::UnknownNode { node: node.clone() });
    };
    match state.awaiting_operator.get(node) {
        Some(waiting) => takes_text(node.as_str(), waiting)?,
        None if state.awaiting_handoff.contains(node) => {}
        None => return Err(not_waiting(state, node.as_str())),
    }
    Ok(Addressee {
        node: Some(&known.id),
        role: &known.role,
    })
}

fn of_role<'a>(state: &'a FlowState, role: &RoleInstance) -> Result<Addressee<'a>, Refusal> {
    if let Some((node, waiting)) = state.waits().find(|(_, w)| w.role == *role) {
        takes_text(role.as_str(), waiting)?;
        return Ok(Addressee {
            node,
            role: &waiting.role,
        });
    }
    let awaiting = state.awaiting_handoff.iter();
    let nodes = awaiting.filter_map(|node| state.graph.node(node));
    let mut own = nodes.filter(|node| node.role == *role);
    match (own.next(), own.next()) {
        (Some(node), None) => Ok(Addressee {
            node: Some(&node.id),
            role: &node.role,
        }),
        (Some(_), Some(_)) => Err(Refusal::ManyWait {
            candidates: candidates(state),
        }),
        (None, _) => Err(not_waiting(state, role.as_str())),
    }
}

fn only_one(state: &FlowState) -> Result<Addressee<'_>, Refusal> {
    let mut texts = state.waits().filter(|(_, w)| w.takes_text());
    match (texts.next(), texts.next()) {
        (Some((node, waiting)), None) => Ok(Addressee {
            node,
            role: &waiting.role,
        }),
        (Some(_), Some(_)) => Err(Refusal::ManyWait {
            candidates: candidates(state),
        }),
        (None, _) => Err(match state.waits().next() {
            Some((node, waiting)) => Refusal::TakesNoText {
                who: node.map_or_else(|| waiting.role.to_string(), ToString::to_string),
                reason: waiting.reason,
            },
            None => not_waiting(state, NOBODY),
        }),
    }
}

/// A role at work gets it with its next request, and a role whose turn is still to come with the first
/// request of that; one that waits is answered.
pub(super) fn steer(
    state: &FlowState,
    role: &RoleInstance,
    when: SteerWhen,
    said: SaidWords<'_>,
    client: Option<&ClientId>,
) -> Result<Vec<Fact>, Refusal> {
    if state.main_turn_of(role).is_none() && !is_to_come(state, role) {
        return Err(Refusal::NotAtWork {
            role: role.clone(),
            candidates: candidates(state),
        });
    }
    let words = said.kept()?.clone();
    Ok(vec![Fact::OperatorSteered(OperatorSteered {
        steer: words.message,
        role: role.clone(),
        text: words.text,
        when,
        client: client.cloned(),
    })])
}

/// Whether the graph still has a turn for a role that is not at work and does not wait for words.
fn is_to_come(state: &FlowState, role: &RoleInstance) -> bool {
    let mut waits = state.waits();
    let is_asked = waits.any(|(_, waiting)| waiting.role == *role && waiting.takes_text());
    let mut nodes = state.graph.nodes.iter().filter(|node| node.role == *role);
    state.phase == FlowPhase::Forward
        && !is_asked
        && nodes.any(|node| {
            !state.visited.contains(&node.id) || state.awaiting_handoff.contains(&node.id)
        })
}

/// The staged handoff that is meant: the one that is named, or the only one.
fn staged<'a>(
    state: &'a FlowState,
    named: Option<&ApprovalId>,
) -> Result<(&'a ApprovalId, &'a StagedHandoff), Refusal> {
    let mut open = state.staged.iter().filter(|(_, staged)| !staged.approved);
    let names = || {
        let open = state.staged.iter().filter(|(_, staged)| !staged.approved);
        open.map(|(approval, _)| approval.clone()).collect()
    };
    if let Some(named) = named {
        let unknown = || Refusal::UnknownApproval {
            approval: named.clone(),
            open: names(),
        };
        return open.find(|(known, _)| *known == named).ok_or_else(unknown);
    }
    match (open.next(), open.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err(Refusal::NothingStaged),
        (Some(_), Some(_)) => Err(Refusal::ManyStaged { open: names() }),
    }
}

fn word(approval: &ApprovalId, approved: bool, client: Option<&ClientId>) -> Fact {
    Fact::HandoffDecided(HandoffDecided {
        approval: approval.clone(),
        approved,
        client: client.cloned(),
    })
}

/// An approved handoff is applied exactly as it was emitted; its role does not run again for it.
pub(super) fn approve(
    state: &FlowState,
    named: Option<&ApprovalId>,
    client: Option<&ClientId>,
) -> Result<Vec<Fact>, Refusal> {
    let (approval, staged) = staged(state, named)?;
    let mut sketch = FactSketch::of(state);
    sketch.say(word(approval, true, client));
    let applied = applied(approval, staged);
    if let Err(why) = legal(sketch.state(), &applied) {
        return Err(Refusal::StagedOutdated {
            approval: approval.clone(),
            why,
        });
    }
    sketch.say(applied);
    Ok(sketch.facts())
}

pub(super) fn applied(approval: &ApprovalId, staged: &StagedHandoff) -> Fact {
    Fact::HandoffApplied(HandoffApplied {
        node: staged.node.clone(),
        turn: staged.turn,
        deliveries: staged.deliveries.clone(),
        approval: Some(approval.clone()),
    })
}

/// Guidance that is given at once is an ordinary reply, so that no role waits for it. The command's
/// name is then in the reply, because whatever a crash cuts off was never acknowledged.
pub(super) fn decline(
    state: &FlowState,
    named: Option<&ApprovalId>,
    reason: Option<SaidWords<'_>>,
    client: Option<&ClientId>,
) -> Result<Vec<Fact>, Refusal> {
    let (approval, staged) = staged(state, named)?;
    let node = &staged.node;
    let Some(waiting) = state.awaiting_operator.get(node) else {
        return Ok(vec![word(approval, false, client)]);
    };
    let awaited = guidance_awaited(node, &waiting.role);
    let Some(guidance) = spoken(reason)? else {
        return Ok(vec![word(approval, false, client), awaited]);
    };
    let whom = Addressee {
        node: Some(node),
        role: &waiting.role,
    };
    let reply = replied(whom, guidance.clone(), client);
    Ok(vec![word(approval, false, None), awaited, reply])
}

/// After its handoff was declined, a node waits for new instructions.
pub(super) fn guidance_awaited(node: &NodeId, role: &RoleInstance) -> Fact {
    Fact::NodeSuspended(NodeSuspended {
        question: Some("The handoff was declined. What should be done instead?".into()),
        own_turn: Some(false),
        ..NodeSuspended::of(Some(node.clone()), role.clone(), WaitReason::PromptHuman)
    })
}
