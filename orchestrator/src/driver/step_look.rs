//! What a step names outside of the flow's own records is looked at before the step is handled: the files that an
//! outcome hands over, the health of the project, a graph that a role wrote, what the workspace lets a role do, and what a role
//! received whose session is compacted.
//!
//! The turn's own thread looks, and the core holds the step meanwhile. So the flow waits for none of these files, and
//! a turn that is stopped is over although its look hangs. What was found for a turn that is over changes nothing.

use a_society_facts::id::{CallId, RoleInstance, TurnId};
use a_society_facts::view::flow::OpenCall;
use a_society_roles::handoff::RoleOutcome;
use a_society_roles::turn::step::{TakerEnd, TurnStep};
use a_society_state::disk::SharedDisk;

use super::calls::{allowed_call, open_call};
use super::compact::Compactions;
use super::cut_calls;
use super::error::DriverError;
use super::live_turn::{LiveTurn, TurnSubject};
use super::pen::FlowPen;
use super::snapshot::names_snapshot;
use super::step_findings::{FactsLook, GraphLook, StepFindings, StepLook};
use crate::project::flow_file::SNAPSHOT_NAME;
use crate::record::{Places, find, find_in_record};

/// What must be looked at before this step of a turn is handled, if anything.
pub(super) fn look_before(
    pen: &FlowPen,
    compactions: &Compactions,
    live: &LiveTurn,
    step: &TurnStep,
) -> Result<Option<Box<StepLook>>, DriverError> {
    Ok(match step {
        TurnStep::End(TakerEnd::Outcome { outcome, .. }) if !live.speech.has_judged() => {
            look_for_outcome(pen, outcome)
        }
        TurnStep::Finish { call, ends, .. } => match ends.as_deref() {
            Some(TakerEnd::Outcome { outcome, .. }) => look_for_outcome(pen, outcome),
            Some(_) => None,
            None => look_for_graph(pen, call)?,
        },
        TurnStep::Refuse { tool_call, .. } => look_at_touched(pen, live.subject.turn(), tool_call),
        TurnStep::Compact(compact) if compactions.shortens(live.subject.turn(), compact) => {
            facts_look(pen, &live.subject).map(look_at_facts)
        }
        TurnStep::Consent(_) | TurnStep::Begin { ask: Some(_), .. } => {
            Some(look_at_mode(pen, live.subject.role()))
        }
        TurnStep::Ask(_)
        | TurnStep::Draft { .. }
        | TurnStep::Stalled { .. }
        | TurnStep::Cut
        | TurnStep::Discard { .. }
        | TurnStep::Answer { .. }
        | TurnStep::Failed { .. }
        | TurnStep::Intend(_)
        | TurnStep::Begin { ask: None, .. }
        | TurnStep::Start { .. }
        | TurnStep::Trust { .. }
        | TurnStep::Absent { .. }
        | TurnStep::Compact(_)
        | TurnStep::Choose(_)
        | TurnStep::Held { .. }
        | TurnStep::Wait { .. }
        | TurnStep::End(_) => None,
    })
}

fn look_for_outcome(pen: &FlowPen, outcome: &RoleOutcome) -> Option<Box<StepLook>> {
    let (disk, places) = (pen.flow.shared_disk(), pen.places.clone());
    match outcome {
        RoleOutcome::Handoff(targets) => {
            let targets = targets.iter().map(|target| target.artifact_path.clone());
            let paths: Vec<String> = targets.collect();
            Some(StepLook::new(move || {
                let found = paths.iter().map(|path| find(disk.as_ref(), &places, path));
                StepFindings {
                    products: found.collect(),
                    ..StepFindings::default()
                }
            }))
        }
        RoleOutcome::ForwardPassClosed => {
            let mut roles = pen.roles.another();
            Some(StepLook::new(move || StepFindings {
                ailments: roles.health(),
                ..StepFindings::default()
            }))
        }
        RoleOutcome::MetaAnalysisComplete {
            findings_path: path,
        }
        | RoleOutcome::BackwardPassComplete {
            artifact_path: path,
        } => Some(look_in_record(disk, places, path.clone())),
        RoleOutcome::PromptHuman | RoleOutcome::AwaitHandoff => None,
    }
}

fn look_for_graph(pen: &FlowPen, call: &CallId) -> Result<Option<Box<StepLook>>, DriverError> {
    let open = pen.state().calls.get(call);
    let look = open.map(|open| graph_look(pen, open)).transpose()?;
    Ok(look.flatten().map(|look| {
        let mut roles = pen.roles.another();
        StepLook::new(move || StepFindings {
            graph: look.run(roles.as_mut()),
            ..StepFindings::default()
        })
    }))
}

/// How it is found out whether a call wrote another graph, if it may have.
pub(super) fn graph_look(pen: &FlowPen, call: &OpenCall) -> Result<Option<GraphLook>, DriverError> {
    let asked = cut_calls::asked_call(pen, &call.role, &call.tool_call);
    let writes = asked.is_some_and(|asked| names_snapshot(&asked.name, asked.input.get()));
    if !writes {
        return Ok(None);
    }
    Ok(Some(GraphLook {
        disk: pen.flow.shared_disk(),
        path: pen.places.record.join(SNAPSHOT_NAME),
        before: pen.flow.whole_text(&pen.state().graph.source)?,
    }))
}

fn look_at_touched(pen: &FlowPen, turn: TurnId, tool_call: &str) -> Option<Box<StepLook>> {
    let (_, open) = open_call(pen, turn, tool_call)?;
    let (role, asked) = allowed_call(pen, open)?;
    let mut roles = pen.roles.another();
    Some(StepLook::new(move || StepFindings {
        touched: Some(roles.touched(&role, &asked)),
        ..StepFindings::default()
    }))
}

fn look_at_mode(pen: &FlowPen, role: &RoleInstance) -> Box<StepLook> {
    let role = role.clone();
    let roles = pen.roles.another();
    StepLook::new(move || StepFindings {
        most: roles.most(&role),
        ..StepFindings::default()
    })
}

fn look_in_record(disk: SharedDisk, places: Places, path: String) -> Box<StepLook> {
    StepLook::new(move || StepFindings {
        assigned: Some(find_in_record(disk.as_ref(), &places, &path)),
        ..StepFindings::default()
    })
}

/// How it is found out what the flow knows about the work of a turn's role, if it is known what that is.
pub(super) fn facts_look(pen: &FlowPen, whose: &TurnSubject) -> Option<FactsLook> {
    let task = whose.task()?.clone();
    let (roles, state, graph) = pen.roles_apart();
    Some(FactsLook {
        roles,
        state,
        graph,
        role: whose.role().clone(),
        task,
    })
}

fn look_at_facts(look: FactsLook) -> Box<StepLook> {
    StepLook::new(move || StepFindings {
        facts: look.run(),
        ..StepFindings::default()
    })
}
