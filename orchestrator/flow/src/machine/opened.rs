//! What a process says first when it takes a flow over (rows X1 to X10).
//!
//! Facts that belong together are appended together, but a crash may cut between them. Whatever follows
//! from the facts that remained is appended now, so that a flow never waits for a fact that no process
//! will write. A flow in which nothing was cut off is left as it is.
//!
//! Only a process that drives the flow gives every open turn another try, and late answers of an
//! earlier one are then ignored. One that opens it for a single command leaves them alone.

use a_society_facts::At as Time;
use a_society_facts::Fact;
use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::fact::node::{NodeSuspended, NodeWoken, WaitReason};
use a_society_facts::fact::operator::{AnsweredBefore, ConsentAnswer, ConsentMode};
use a_society_facts::fact::turn::{Cause, TurnEnd, TurnEnded};
use a_society_facts::id::{ConsentId, TurnId};
use a_society_facts::legal::legal;
use a_society_facts::line::Recorded;
use a_society_facts::view::flow::{FlowPhase, OpenConsent, OpenTurn, OperatorWait};
use a_society_facts::view::{FactView as _, flow::FlowState};

use super::consent::{answered_before, consent_awaited, resolved};
use super::improve::{completed, returned};
use super::operate::{reflection_configured, resumed};
use super::reply::{applied, guidance_awaited};
use super::session;
use super::turn::{TurnAt, ends_waiting, place};

/// Facts that are being put together, and the state they lead to.
#[derive(Debug)]
pub(super) struct FactSketch {
    state: FlowState,
    facts: Vec<Fact>,
}

impl FactSketch {
    pub(super) fn of(state: &FlowState) -> Self {
        Self {
            state: state.clone(),
            facts: Vec::new(),
        }
    }

    pub(super) fn state(&self) -> &FlowState {
        &self.state
    }

    pub(super) fn facts(self) -> Vec<Fact> {
        self.facts
    }

    pub(super) fn say(&mut self, fact: Fact) {
        let at = self.state.updated_at.unwrap_or(Time::from_ms(0));
        let seq = self.state.seq.saturating_add(1);
        self.state.apply(&Recorded::new(seq, at, fact.clone()));
        self.facts.push(fact);
    }

    fn say_all(&mut self, facts: impl IntoIterator<Item = Fact>) {
        facts.into_iter().for_each(|fact| self.say(fact));
    }
}

pub(super) fn opened(state: &FlowState) -> Vec<Fact> {
    let mut sketch = FactSketch::of(state);
    staged(&mut sketch);
    for (consent, open) in state.consents.clone() {
        asked(&mut sketch, &consent, &open);
    }
    answered(&mut sketch);
    for (id, turn) in state.turns.clone() {
        let end = cut_off(sketch.state(), id, &turn);
        sketch.say_all(end);
    }
    decided(&mut sketch);
    let roles: Vec<_> = sketch.state.configurations.keys().cloned().collect();
    for role in roles {
        let fact = reflection_configured(sketch.state(), &role);
        sketch.say_all(fact);
    }
    endings(&mut sketch);
    let begun = chat_begun(sketch.state());
    sketch.say_all(begun);
    let asides = session::cut_off(sketch.state());
    sketch.say_all(asides);
    sketch.facts()
}

/// X4: an open turn goes on with another try. A compaction does not: one that was cut off is over,
/// and one that is open was begun by this process.
pub(super) fn driven(state: &FlowState) -> Vec<Fact> {
    let turns = state.turns.iter();
    turns
        .filter(|(_, turn)| turn.cause != Cause::Compaction)
        .map(|(id, turn)| resumed(*id, turn))
        .collect()
}

/// X1: a handoff was staged, and its node does not wait for the word yet.
fn staged(sketch: &mut FactSketch) {
    let state = &sketch.state;
    let open = state.staged.iter().filter(|(_, staged)| !staged.approved);
    let waits: Vec<Fact> = open
        .filter_map(|(approval, staged)| {
            let running = state.running.get(&staged.node)?;
            Some(Fact::NodeSuspended(NodeSuspended {
                approval: Some(approval.clone()),
                ..NodeSuspended::of(
                    Some(staged.node.clone()),
                    running.role.clone(),
                    WaitReason::HandoffApproval,
                )
            }))
        })
        .collect();
    sketch.say_all(waits);
}

/// X2: a request for consent is open, and no role waits for its answer, or none is needed any more.
fn asked(sketch: &mut FactSketch, consent: &ConsentId, open: &OpenConsent) {
    let state = &sketch.state;
    let turn = state.calls.get(&open.call).map(|call| call.turn);
    let turn = turn.and_then(|turn| state.turns.get(&turn));
    let waits = state
        .waits()
        .any(|(_, w)| w.consent.as_ref() == Some(consent));
    let answer = if state.phase.is_over() || turn.is_none_or(|turn| turn.stop) {
        Some(resolved(consent, open, ConsentAnswer::Withdrawn, None))
    } else if state.consent_mode == ConsentMode::FullAccess && !open.narrowed {
        let before = AnsweredBefore::FullAccess;
        Some(answered_before(consent, open, before))
    } else {
        None
    };
    match answer {
        Some(answer) => sketch.say(answer),
        None if !waits => {
            let wait = consent_awaited(consent, open);
            if legal(&sketch.state, &wait).is_ok() {
                sketch.say(wait);
            }
        }
        None => {}
    }
}

/// X3: wakes a node whose consent request was answered before the crash. A node that an import left waiting
/// for consent is woken as well: its request was not imported, so the role asks again.
fn answered(sketch: &mut FactSketch) {
    let state = &sketch.state;
    let is_open = |waiting: &OperatorWait| {
        let consent = waiting.consent.as_ref();
        consent.is_some_and(|consent| state.consents.contains_key(consent))
    };
    let waits = state.waits();
    let waits = waits.filter(|(_, waiting)| waiting.reason == WaitReason::Consent);
    let settled = waits.filter(|(_, waiting)| !is_open(waiting));
    let settled: Vec<Fact> = settled
        .map(|(node, waiting)| {
            Fact::NodeWoken(NodeWoken {
                on_time: false,
                client: None,
                node: node.cloned(),
                role: waiting.role.clone(),
                reason: waiting.reason,
            })
        })
        .collect();
    sketch.say_all(settled);
}

/// X5 and X6: a turn whose outcome is known already is over.
fn cut_off(state: &FlowState, id: TurnId, turn: &OpenTurn) -> Option<Fact> {
    let settled = turn
        .request
        .as_ref()
        .is_none_or(|request| request.is_settled() && request.drafted_bytes == 0);
    let end = match turn.cause {
        Cause::Compaction | Cause::Selection => None,
        Cause::Node | Cause::Reflection | Cause::Feedback => match place(state, id, turn) {
            Some(TurnAt::Node(_) | TurnAt::Reflection | TurnAt::Feedback) => None,
            // The driver ends the turns of a cancelled flow.
            Some(TurnAt::Nothing) if state.phase == FlowPhase::Cancelled => None,
            Some(TurnAt::Nothing) => Some(TurnEnd::Outcome),
            None => waited(state, id, turn),
        },
    };
    let end = end.filter(|_| settled)?;
    Some(Fact::TurnEnded(TurnEnded {
        turn: id,
        attempt: turn.attempt,
        role: turn.role.clone(),
        end,
        error: None,
    }))
}

/// How a turn ended whose node waits; only a wait for consent keeps its turn open.
fn waited(state: &FlowState, id: TurnId, turn: &OpenTurn) -> Option<TurnEnd> {
    let mut waits = state.waits();
    let (_, waiting) = waits.find(|(_, waiting)| waiting.turn == Some(id))?;
    match waiting.reason {
        WaitReason::Consent => None,
        WaitReason::Message => Some(TurnEnd::Outcome),
        WaitReason::AutonomousAbort if turn.stop => Some(TurnEnd::Stopped),
        WaitReason::AutonomousAbort
        | WaitReason::RepairLimit
        | WaitReason::Budget
        | WaitReason::Provider => Some(TurnEnd::Failed),
        WaitReason::PromptHuman
        | WaitReason::ConsentDenied
        | WaitReason::RoleConfiguration
        | WaitReason::HandoffApproval => Some(ends_waiting(turn)),
    }
}

/// X7: a staged handoff was decided, and the consequence is not recorded yet.
fn decided(sketch: &mut FactSketch) {
    let approved = sketch.state.staged.iter().filter(|(_, s)| s.approved);
    let handoffs: Vec<Fact> = approved.map(|(id, staged)| applied(id, staged)).collect();
    for handoff in handoffs {
        if legal(&sketch.state, &handoff).is_ok() {
            sketch.say(handoff);
        }
    }
    let state = &sketch.state;
    let waits = state.awaiting_operator.iter();
    let declined: Vec<Fact> = waits
        .filter(|(_, w)| w.reason == WaitReason::HandoffApproval)
        .filter(|(_, w)| (w.approval.as_ref()).is_none_or(|id| !state.staged.contains_key(id)))
        .map(|(node, waiting)| guidance_awaited(node, &waiting.role))
        .collect();
    sketch.say_all(declined);
}

/// X10: a chat that has just begun waits for its first message.
fn chat_begun(state: &FlowState) -> Option<Fact> {
    state.chat.as_ref()?;
    let node = state.graph.nodes.first()?;
    let is_known =
        state.visited.contains(&node.id) || state.awaiting_operator.contains_key(&node.id);
    if is_known || state.phase.is_over() {
        return None;
    }
    let (node, role) = (Some(node.id.clone()), node.role.clone());
    Some(Fact::NodeSuspended(NodeSuspended::of(
        node,
        role,
        WaitReason::Message,
    )))
}

/// X9: the last input that a flow waited for is recorded, and its end is not.
fn endings(sketch: &mut FactSketch) {
    let improvement = sketch.state.improvement.as_ref();
    let done = improvement.is_some_and(|improvement| match sketch.state.phase {
        FlowPhase::Improving => improvement.mode == ImprovementMode::None,
        FlowPhase::FeedbackConsent => improvement.feedback.granted == Some(false),
        FlowPhase::Feedback => improvement.feedback.report().is_some(),
        FlowPhase::Forward
        | FlowPhase::ImprovementChoice
        | FlowPhase::Completed
        | FlowPhase::Cancelled => false,
    });
    if done {
        let facts = completed(&sketch.state);
        sketch.say_all(facts);
    } else if sketch.state.phase.is_over() {
        let facts = returned(&sketch.state);
        sketch.say_all(facts);
    }
}
