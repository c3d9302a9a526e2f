//! When roles may reflect, when the report may be written, when a proposal is open.

use super::Illegal;
use super::flow::{in_phase, not_paused};
use super::node::{all_queued, next_turn};
use super::turn::concluded;
use crate::fact::improvement::{
    ChangeDecided, ChangeProposed, FeedbackRecorded, FeedbackStarted, FindingsRecorded,
    ImprovementChosen, ImprovementMode, ReflectionStarted,
};
use crate::id::{MessageId, RoleInstance};
use crate::view::FlowState;
use crate::view::flow::{FlowPhase, Improvement, Reflecting};

fn bad(role: &RoleInstance, why: &'static str) -> Illegal {
    Illegal::Improvement {
        role: role.clone(),
        why,
    }
}

fn phase(state: &FlowState, phase: FlowPhase) -> Result<&Improvement, Illegal> {
    in_phase(state, phase)?;
    state.improvement.as_ref().ok_or(Illegal::WrongPhase {
        status: state.phase.status().word(),
    })
}

pub(super) fn chosen(state: &FlowState, f: &ImprovementChosen) -> Result<(), Illegal> {
    in_phase(state, FlowPhase::ImprovementChoice)?;
    for (place, reflection) in f.plan.iter().enumerate() {
        let role = &reflection.role;
        if f.plan[..place].iter().any(|other| other.role == *role) {
            return Err(bad(role, "it is in the plan twice"));
        }
        let planned = |other: &&RoleInstance| f.plan.iter().any(|r| r.role == **other);
        if !reflection.after.iter().all(|other| planned(&other)) {
            return Err(bad(role, "it waits for a role that does not reflect"));
        }
    }
    match (f.mode, f.plan.first()) {
        (ImprovementMode::None, Some(first)) => Err(bad(&first.role, "no role reflects")),
        (ImprovementMode::GraphBased | ImprovementMode::Parallel, None) => Err(Illegal::Nothing {
            what: "a reflection without roles",
        }),
        (ImprovementMode::None, None)
        | (ImprovementMode::GraphBased | ImprovementMode::Parallel, Some(_)) => Ok(()),
    }
}

/// Going on after a wait needs something to go on with: a reply, or that the turn was lost.
fn goes_on(
    state: &FlowState,
    role: &RoleInstance,
    before: &Reflecting,
    replies: &[MessageId],
) -> Result<(), Illegal> {
    if before.findings.is_some() {
        return Err(bad(role, "it is done"));
    }
    if !before.begun || state.main_turn_of(role).is_some() {
        return Err(Illegal::RoleBusy { role: role.clone() });
    }
    if before.waiting.is_some() && replies.is_empty() {
        return Err(bad(role, "it waits for the operator"));
    }
    all_queued(&before.replies, replies)
}

pub(super) fn reflection(state: &FlowState, f: &ReflectionStarted) -> Result<(), Illegal> {
    let improvement = phase(state, FlowPhase::Improving)?;
    not_paused(state)?;
    next_turn(state, f.turn)?;
    let planned = improvement.plan.iter().find(|r| r.role == f.role);
    let planned = planned.ok_or_else(|| bad(&f.role, "it is not in the plan"))?;
    if let Some(before) = improvement.roles.get(&f.role) {
        return goes_on(state, &f.role, before, &f.replies);
    }
    let done = |role: &RoleInstance| {
        let other = improvement.roles.get(role);
        other.is_some_and(|other| other.findings.is_some())
    };
    if !planned.after.iter().all(done) {
        return Err(bad(&f.role, "a role it waits for is not done"));
    }
    if state.main_turn_of(&f.role).is_some() {
        return Err(Illegal::RoleBusy {
            role: f.role.clone(),
        });
    }
    all_queued(&[], &f.replies)
}

pub(super) fn findings(state: &FlowState, f: &FindingsRecorded) -> Result<(), Illegal> {
    let improvement = phase(state, FlowPhase::Improving)?;
    match improvement.roles.get(&f.role) {
        None => Err(bad(&f.role, "it did not begin")),
        Some(role) if role.findings.is_some() => Err(bad(&f.role, "it is done")),
        Some(role) if role.turn != f.turn || !role.begun => Err(bad(&f.role, "it is another turn")),
        Some(_) => concluded(state, f.turn),
    }
}

pub(super) fn feedback_decided(state: &FlowState) -> Result<(), Illegal> {
    let improvement = phase(state, FlowPhase::FeedbackConsent)?;
    if improvement.feedback.granted.is_some() {
        return Err(Illegal::Nothing {
            what: "deciding twice about the report",
        });
    }
    Ok(())
}

pub(super) fn feedback_started(state: &FlowState, f: &FeedbackStarted) -> Result<(), Illegal> {
    let improvement = phase(state, FlowPhase::Feedback)?;
    not_paused(state)?;
    next_turn(state, f.turn)?;
    if state.graph.nodes.iter().any(|node| node.role == f.role) {
        return Err(bad(&f.role, "the report is written by a role of its own"));
    }
    match (&improvement.feedback.role, &improvement.feedback.work) {
        (Some(role), _) if *role != f.role => Err(bad(&f.role, "another role writes it")),
        (Some(_), Some(before)) => goes_on(state, &f.role, before, &f.replies),
        (Some(_) | None, None) | (None, Some(_)) => all_queued(&[], &f.replies),
    }
}

pub(super) fn feedback_recorded(state: &FlowState, f: &FeedbackRecorded) -> Result<(), Illegal> {
    let improvement = phase(state, FlowPhase::Feedback)?;
    match &improvement.feedback.work {
        Some(work) if work.findings.is_some() => Err(Illegal::Nothing {
            what: "a second report",
        }),
        Some(work) if work.turn == f.turn && work.begun => concluded(state, f.turn),
        Some(_) | None => Err(Illegal::Turn {
            turn: f.turn,
            why: "no report is written in it",
        }),
    }
}

pub(super) fn change_proposed(state: &FlowState, f: &ChangeProposed) -> Result<(), Illegal> {
    if state.changes.contains_key(&f.change) {
        return Err(Illegal::Change {
            change: f.change.clone(),
        });
    }
    Ok(())
}

pub(super) fn change_decided(state: &FlowState, f: &ChangeDecided) -> Result<(), Illegal> {
    match state.changes.get(&f.change) {
        Some(change) if change.applied.is_none() => Ok(()),
        Some(_) | None => Err(Illegal::Change {
            change: f.change.clone(),
        }),
    }
}
