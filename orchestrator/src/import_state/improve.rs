//! How far the improvement of a flow had come.

use std::collections::BTreeMap;

use a_society_facts::Fact;
use a_society_facts::fact::flow::{FlowCompleted, ForwardPassClosed};
use a_society_facts::fact::improvement::{
    FeedbackDecided, FeedbackRecorded, FeedbackStarted, FindingsRecorded, ImprovementChosen,
    ImprovementMode, ReflectionStarted,
};
use a_society_facts::fact::node::WaitReason;
use a_society_facts::fact::turn::{Cause, TurnEnd, TurnEnded};
use a_society_facts::handoff::Artifact;
use a_society_facts::id::{RoleInstance, TurnId};
use a_society_flow::machine::{plan, report_path};
use a_society_state::disk::Disk;

use super::names::Names;
use super::open::{begin, cut_off, reason, said, suspend};
use super::sessions::{AtWork, ForeignTail};
use super::sketch::ImportSketch;
use super::source::ForeignFlow;
use super::version11::{
    FeedbackConsent, ForeignFlowStatus, ForeignWaitReason, ImprovementPhase, PhaseStatus,
};
use crate::driver::core::FEEDBACK_ROLE;

/// How far a flow had come after its forward pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ForeignProgress {
    Forward,
    Choice,
    Improving,
    FeedbackConsent,
    Feedback,
    Completed,
}

pub(super) fn reached(source: &ForeignFlow) -> ForeignProgress {
    let phase = source.run.improvement_phase.as_ref();
    let granted =
        |phase: &ImprovementPhase| phase.feedback_consent == Some(FeedbackConsent::Granted);
    match (source.run.status, phase) {
        (ForeignFlowStatus::Completed, _) => ForeignProgress::Completed,
        (ForeignFlowStatus::AwaitingImprovementChoice, _) => ForeignProgress::Choice,
        (ForeignFlowStatus::AwaitingFeedbackConsent, _) => ForeignProgress::FeedbackConsent,
        (ForeignFlowStatus::Running, None) => ForeignProgress::Forward,
        (ForeignFlowStatus::Running, Some(phase)) => match phase.status {
            PhaseStatus::AwaitingChoice => ForeignProgress::Choice,
            PhaseStatus::Running if granted(phase) => ForeignProgress::Feedback,
            PhaseStatus::Running => ForeignProgress::Improving,
            PhaseStatus::AwaitingFeedbackConsent => ForeignProgress::FeedbackConsent,
            PhaseStatus::Completed | PhaseStatus::Skipped => ForeignProgress::Completed,
        },
    }
}

/// The roles that were at work after the forward pass.
pub(super) fn at_work(source: &ForeignFlow) -> AtWork {
    let Some(phase) = &source.run.improvement_phase else {
        return AtWork::new();
    };
    let asked = phase.awaiting_human_roles.iter();
    let asked = asked.filter(|(_, waiting)| waiting.reason == ForeignWaitReason::Consent);
    let running = phase.running_roles.iter();
    let running = running.filter(|role| !phase.awaiting_human_roles.contains_key(*role));
    let mut roles: Vec<&str> = running.map(String::as_str).collect();
    roles.extend(asked.map(|(role, _)| role.as_str()));
    if reached(source) == ForeignProgress::Feedback {
        roles.push(FEEDBACK_ROLE);
    }
    let parsed = roles.into_iter().filter_map(|role| role.parse().ok());
    parsed.map(|role| (role, None)).collect()
}

/// Says that the forward pass is over, and how roles reflect. Every step is needed: a flow that is
/// over must not begin to run again.
pub(super) fn close(sketch: &mut ImportSketch<'_>, source: &ForeignFlow) -> Result<(), String> {
    let reached = reached(source);
    if reached == ForeignProgress::Forward {
        return Ok(());
    }
    let graph = &source.graph.graph;
    sketch.say(Fact::ForwardPassClosed(ForwardPassClosed {
        node: graph.node_at(graph.closing()).id.clone(),
    }))?;
    if reached == ForeignProgress::Choice {
        return Ok(());
    }
    let mode = mode(source);
    sketch.say(Fact::ImprovementChosen(ImprovementChosen {
        mode,
        plan: plan(graph, &sketch.state, mode),
        beforehand: false,
        client: None,
    }))
}

fn mode(source: &ForeignFlow) -> ImprovementMode {
    let phase = source.run.improvement_phase.as_ref();
    let mode = phase.and_then(|phase| phase.mode);
    mode.unwrap_or(ImprovementMode::None)
}

/// Says how far it came.
pub(super) fn import(
    sketch: &mut ImportSketch<'_>,
    disk: &dyn Disk,
    source: &ForeignFlow,
    names: &mut Names,
    tails: &BTreeMap<RoleInstance, ForeignTail>,
) -> Result<(), String> {
    let reached = reached(source);
    if reached <= ForeignProgress::Choice {
        return Ok(());
    }
    let phase = source.run.improvement_phase.as_ref();
    let Some(phase) = phase.filter(|_| mode(source) != ImprovementMode::None) else {
        return sketch.say(Fact::FlowCompleted(FlowCompleted {}));
    };
    reflections(sketch, disk, source, names, phase, tails)?;
    let granted = phase.feedback_consent == Some(FeedbackConsent::Granted);
    let decided = granted || reached == ForeignProgress::Completed;
    if decided && reached > ForeignProgress::FeedbackConsent {
        sketch.say(Fact::FeedbackDecided(FeedbackDecided {
            granted,
            beforehand: false,
            client: None,
        }))?;
    }
    if granted && reached > ForeignProgress::FeedbackConsent {
        feedback(sketch, disk, source, names, phase, tails, reached)?;
    }
    if reached == ForeignProgress::Completed {
        sketch.say(Fact::FlowCompleted(FlowCompleted {}))?;
    }
    Ok(())
}

/// The roles that had reflected, and those that did.
fn reflections(
    sketch: &mut ImportSketch<'_>,
    disk: &dyn Disk,
    source: &ForeignFlow,
    names: &mut Names,
    phase: &ImprovementPhase,
    tails: &BTreeMap<RoleInstance, ForeignTail>,
) -> Result<(), String> {
    let planned = sketch.state.improvement.as_ref();
    let planned = planned.map(|improvement| improvement.plan.clone());
    for reflection in planned.unwrap_or_default() {
        let role = reflection.role;
        let is = |list: &[String]| list.iter().any(|other| other == role.as_str());
        if is(&phase.completed_roles) {
            let written = phase.findings_produced.get(role.as_str());
            let assigned = a_society_flow::machine::findings_path(&role);
            let written = written.map_or(assigned.as_str(), String::as_str);
            let findings = names.artifact(disk, sketch, written);
            let turn = reflect(sketch, &role)?;
            sketch.open_session(&role)?;
            begin(sketch, &role, turn, None, Cause::Reflection)?;
            sketch.say(Fact::FindingsRecorded(FindingsRecorded {
                role: role.clone(),
                turn,
                findings,
            }))?;
            ended(sketch, &role, turn, TurnEnd::Outcome)?;
        } else if is(&phase.running_roles) || phase.awaiting_human_roles.contains_key(role.as_str())
        {
            let what = format!("{role}, which reflected");
            sketch.try_all(&what, |s| open(s, source, phase, &role, tails.get(&role)));
        }
    }
    Ok(())
}

fn reflect(sketch: &mut ImportSketch<'_>, role: &RoleInstance) -> Result<TurnId, String> {
    let turn = sketch.next_turn();
    sketch.say(Fact::ReflectionStarted(ReflectionStarted {
        role: role.clone(),
        turn,
        replies: Vec::new(),
    }))?;
    Ok(turn)
}

fn ended(
    sketch: &mut ImportSketch<'_>,
    role: &RoleInstance,
    turn: TurnId,
    end: TurnEnd,
) -> Result<(), String> {
    sketch.say(Fact::TurnEnded(TurnEnded {
        turn,
        attempt: 1,
        role: role.clone(),
        end,
        error: None,
    }))
}

/// A role that reflected, or waited for the operator while it did.
fn open(
    sketch: &mut ImportSketch<'_>,
    source: &ForeignFlow,
    phase: &ImprovementPhase,
    role: &RoleInstance,
    tail: Option<&ForeignTail>,
) -> Result<(), String> {
    let turn = reflect(sketch, role)?;
    let waiting = phase.awaiting_human_roles.get(role.as_str());
    match waiting {
        Some(waiting) if waiting.reason != ForeignWaitReason::Consent => {
            suspend(sketch, source, None, role, reason(waiting.reason))?;
        }
        Some(_) => {
            goes_on(sketch, source, role, turn, Cause::Reflection, tail)?;
            suspend(sketch, source, None, role, WaitReason::Consent)?;
        }
        None => goes_on(sketch, source, role, turn, Cause::Reflection, tail)?,
    }
    match phase.pending_human_inputs.get(role.as_str()) {
        Some(input) => said(sketch, None, role.clone(), input),
        None => Ok(()),
    }
}

/// A turn of the phase that was cut off. Its role got its packet from the program that began
/// it, and that try is over; the next one goes on without another packet.
fn goes_on(
    sketch: &mut ImportSketch<'_>,
    source: &ForeignFlow,
    role: &RoleInstance,
    turn: TurnId,
    cause: Cause,
    tail: Option<&ForeignTail>,
) -> Result<(), String> {
    let Some(tail) = tail else { return Ok(()) };
    begin(sketch, role, turn, None, cause)?;
    ended(sketch, role, turn, TurnEnd::Failed)?;
    let turn = sketch.next_turn();
    if cause == Cause::Feedback {
        start_feedback(sketch, role, turn)?;
    } else {
        reflect(sketch, role)?;
    }
    begin(sketch, role, turn, None, cause)?;
    cut_off(sketch, source, role, turn, tail, true)
}

fn start_feedback(
    sketch: &mut ImportSketch<'_>,
    role: &RoleInstance,
    turn: TurnId,
) -> Result<(), String> {
    sketch.say(Fact::FeedbackStarted(FeedbackStarted {
        role: role.clone(),
        turn,
        replies: Vec::new(),
    }))
}

fn feedback(
    sketch: &mut ImportSketch<'_>,
    disk: &dyn Disk,
    source: &ForeignFlow,
    names: &mut Names,
    phase: &ImprovementPhase,
    tails: &BTreeMap<RoleInstance, ForeignTail>,
    reached: ForeignProgress,
) -> Result<(), String> {
    let role: RoleInstance = FEEDBACK_ROLE
        .parse()
        .map_err(|bad: a_society_facts::id::BadName| bad.to_string())?;
    if reached != ForeignProgress::Completed && !source.sessions.contains_key(&role) {
        // It had not begun; it is begun when the flow goes on.
        return Ok(());
    }
    let turn = sketch.next_turn();
    start_feedback(sketch, &role, turn)?;
    if reached != ForeignProgress::Completed {
        let tail = tails.get(&role);
        return goes_on(sketch, source, &role, turn, Cause::Feedback, tail);
    }
    let written = phase.feedback_artifact_path.as_deref();
    let report: Artifact = names.artifact(disk, sketch, written.unwrap_or(report_path()));
    sketch.open_session(&role)?;
    begin(sketch, &role, turn, None, Cause::Feedback)?;
    sketch.say(Fact::FeedbackRecorded(FeedbackRecorded { turn, report }))?;
    ended(sketch, &role, turn, TurnEnd::Outcome)
}
