//! What must now go on: turns first, then what may be taken, then what the operator is asked.
//!
//! It is asked after every change and after every start, and it is answered from the state alone.
//! What it names and does not run is started; what runs and it does not name is ended.

use a_society_facts::fact::node::WaitReason;
use a_society_facts::fact::turn::Cause;
use a_society_facts::id::{NodeId, TurnId};
use a_society_facts::view::flow::FlowState;
use a_society_facts::view::flow::{FlowPhase, OpenTurn, OperatorWait};

use super::improve::{is_end_chosen, modes, offers, report_is_offered};
use super::live::Board;
use super::operate::{ends_at, turns_go_on};
use super::turn::{TurnAt, place};
use super::work::{OperatorQuestion, TurnTask, Work};
use crate::graph::FlowGraph;

/// What must be started now, unless it runs already, in order.
#[must_use]
pub fn pending(graph: &FlowGraph, state: &FlowState) -> Vec<Work> {
    if !state.is_created() {
        return Vec::new();
    }
    let turns = state.turns.iter();
    let mut work: Vec<Work> = turns
        .filter_map(|(id, turn)| of_turn(state, *id, turn))
        .collect();
    if state.paused.is_none() && !state.is_closed_chat() {
        starts(graph, state, &mut work);
    }
    questions(graph, state, &mut work);
    work
}

fn of_turn(state: &FlowState, id: TurnId, open: &OpenTurn) -> Option<Work> {
    let task = match (open.cause, &open.node) {
        (Cause::Node, Some(node)) => TurnTask::Node(node.clone()),
        (Cause::Reflection, _) => TurnTask::Reflection,
        (Cause::Feedback, _) => TurnTask::Feedback,
        // These work for another turn, which goes on with them.
        (Cause::Compaction | Cause::Selection, _) | (Cause::Node, None) => return None,
    };
    let (turn, attempt, role) = (id, open.attempt, open.role.clone());
    // A turn that waits for the operator has nothing to start.
    let at = place(state, id, open)?;
    if open.stop || at == TurnAt::Nothing {
        return Some(Work::StopTurn {
            turn,
            attempt,
            role,
            task,
        });
    }
    turns_go_on(state).then_some(Work::RunTurn {
        turn,
        attempt,
        role,
        task,
    })
}

fn starts(graph: &FlowGraph, state: &FlowState, work: &mut Vec<Work>) {
    match state.phase {
        FlowPhase::Forward => {
            let board = Board::of(graph, state);
            work.extend(board.offers().into_iter().map(|offer| Work::Claim {
                node: offer.node.clone(),
                role: offer.role.clone(),
                entry: board.entry(offer.node),
            }));
        }
        FlowPhase::Improving => {
            work.extend(
                offers(state)
                    .into_iter()
                    .map(|offer| Work::StartReflection {
                        role: offer.role.clone(),
                        after: offer.after.clone(),
                    }),
            );
        }
        FlowPhase::Feedback if report_is_offered(state) => {
            let improvement = state.improvement.as_ref();
            work.push(Work::StartFeedback {
                role: improvement.and_then(|i| i.feedback.role.clone()),
            });
        }
        FlowPhase::ImprovementChoice | FlowPhase::FeedbackConsent
            if is_end_chosen(graph, state) =>
        {
            work.push(Work::ApplyEnds);
        }
        FlowPhase::Feedback
        | FlowPhase::ImprovementChoice
        | FlowPhase::FeedbackConsent
        | FlowPhase::Completed
        | FlowPhase::Cancelled => {}
    }
}

fn questions(graph: &FlowGraph, state: &FlowState, work: &mut Vec<Work>) {
    if state.phase.is_over() {
        return;
    }
    let asks = |question| Work::AskOperator(question);
    for (node, waiting) in state.waits() {
        let question = question_of(state, node, waiting);
        work.extend(question.map(|question| match ends_at(state, waiting) {
            Some(at) => Work::WaitUntil {
                node: node.cloned(),
                role: waiting.role.clone(),
                at,
            },
            None => asks(question),
        }));
    }
    if let Some(pause) = &state.paused {
        let reason = pause.reason;
        work.push(asks(OperatorQuestion::Unpause { reason }));
    }
    match state.phase {
        FlowPhase::ImprovementChoice | FlowPhase::FeedbackConsent
            if is_end_chosen(graph, state) => {}
        FlowPhase::ImprovementChoice => work.push(asks(OperatorQuestion::Improvement {
            modes: modes(graph, state),
        })),
        FlowPhase::FeedbackConsent => work.push(asks(OperatorQuestion::Feedback)),
        FlowPhase::Forward if work.is_empty() && !asks_again(state) => {
            work.push(asks(OperatorQuestion::Stalled))
        }
        FlowPhase::Forward
        | FlowPhase::Improving
        | FlowPhase::Feedback
        | FlowPhase::Completed
        | FlowPhase::Cancelled => {}
    }
}

/// Whether a role waits for a consent that another program had requested, and asks again as soon as the
/// flow is opened.
fn asks_again(state: &FlowState) -> bool {
    let mut waits = state.waits();
    waits.any(|(_, w)| w.reason == WaitReason::Consent && w.consent.is_none())
}

/// The question of a wait, unless it is answered and the role only has to take it up.
#[must_use]
pub fn question_of(
    state: &FlowState,
    node: Option<&NodeId>,
    waiting: &OperatorWait,
) -> Option<OperatorQuestion> {
    if !state.is_asked(node, waiting) {
        return None;
    }
    let (role, owned) = (waiting.role.clone(), node.cloned());
    Some(match waiting.reason {
        WaitReason::Consent => OperatorQuestion::Consent {
            consent: waiting.consent.clone()?,
            node: owned,
            role,
        },
        WaitReason::HandoffApproval => OperatorQuestion::Approval {
            approval: waiting.approval.clone()?,
            node: owned?,
        },
        WaitReason::RoleConfiguration => OperatorQuestion::Configuration { node: owned, role },
        WaitReason::PromptHuman
        | WaitReason::AutonomousAbort
        | WaitReason::ConsentDenied
        | WaitReason::RepairLimit
        | WaitReason::Budget
        | WaitReason::Provider
        | WaitReason::Message => OperatorQuestion::Text {
            node: owned,
            role,
            reason: waiting.reason,
        },
    })
}
