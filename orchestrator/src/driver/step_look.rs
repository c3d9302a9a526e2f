//! What a step names outside of the flow's own records is looked at before the step is handled: the files that an
//! outcome hands over, the health of the project, a graph that a role wrote, what the workspace lets a role do.
//!
//! The turn's own thread looks, and the core holds the step meanwhile. So the flow waits for none of these files, and
//! a turn that is stopped is over although its look hangs. What was found for a turn that is over changes nothing.

use a_society_facts::id::{CallId, RoleInstance, TurnId};
use a_society_facts::view::flow::OpenCall;
use a_society_roles::handoff::RoleOutcome;
use a_society_roles::turn::step::{TakerEnd, TurnStep};
use a_society_state::disk::SharedDisk;

use super::core::Core;
use super::error::DriverError;
use super::snapshot::names_snapshot;
use super::step_findings::{GraphLook, StepFindings, StepLook};
use crate::project::flow_file::SNAPSHOT_NAME;
use crate::record::{Places, find, find_in_record};

impl Core {
    /// What must be looked at before this step of a turn is handled, if anything.
    pub(super) fn look_before(
        &self,
        turn: TurnId,
        step: &TurnStep,
    ) -> Result<Option<Box<StepLook>>, DriverError> {
        Ok(match step {
            TurnStep::End(TakerEnd::Outcome { outcome, .. }) if !self.is_judged(turn) => {
                self.look_for_outcome(outcome)
            }
            TurnStep::Finish { call, ends, .. } => match ends.as_deref() {
                Some(TakerEnd::Outcome { outcome, .. }) => self.look_for_outcome(outcome),
                Some(_) => None,
                None => self.look_for_graph(call)?,
            },
            TurnStep::Refuse { tool_call, .. } => self.look_at_touched(turn, tool_call),
            TurnStep::Consent(_) | TurnStep::Begin { ask: Some(_), .. } => self.look_at_mode(turn),
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

    fn is_judged(&self, turn: TurnId) -> bool {
        let live = self.live.get(turn);
        live.is_some_and(|live| live.speech.has_judged())
    }

    fn look_for_outcome(&self, outcome: &RoleOutcome) -> Option<Box<StepLook>> {
        let (disk, places) = (self.flow.shared_disk(), self.places.clone());
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
                let mut roles = self.roles.another();
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

    fn look_for_graph(&self, call: &CallId) -> Result<Option<Box<StepLook>>, DriverError> {
        let open = self.state().calls.get(call);
        let look = open.map(|open| self.graph_look(open)).transpose()?;
        Ok(look.flatten().map(|look| {
            let mut roles = self.roles.another();
            StepLook::new(move || StepFindings {
                graph: look.run(roles.as_mut()),
                ..StepFindings::default()
            })
        }))
    }

    /// How it is found out whether a call wrote another graph, if it may have.
    pub(super) fn graph_look(&self, call: &OpenCall) -> Result<Option<GraphLook>, DriverError> {
        let asked = self.asked_call(&call.seat, &call.tool_call);
        let writes = asked.is_some_and(|asked| names_snapshot(&asked.name, asked.input.get()));
        if !writes || call.seat.role().is_none() {
            return Ok(None);
        }
        Ok(Some(GraphLook {
            disk: self.flow.shared_disk(),
            path: self.places.record.join(SNAPSHOT_NAME),
            before: self.flow.whole_text(&self.state().graph.source)?,
        }))
    }

    fn look_at_touched(&self, turn: TurnId, tool_call: &str) -> Option<Box<StepLook>> {
        let (_, open) = self.open_call(turn, tool_call)?;
        let (role, asked) = self.allowed_call(open)?;
        let mut roles = self.roles.another();
        Some(StepLook::new(move || StepFindings {
            touched: Some(roles.touched(&role, &asked)),
            ..StepFindings::default()
        }))
    }

    fn look_at_mode(&self, turn: TurnId) -> Option<Box<StepLook>> {
        let role: RoleInstance = self.live.role(turn)?.clone();
        let roles = self.roles.another();
        Some(StepLook::new(move || StepFindings {
            most: roles.most(&role),
            ..StepFindings::default()
        }))
    }
}

fn look_in_record(disk: SharedDisk, places: Places, path: String) -> Box<StepLook> {
    StepLook::new(move || StepFindings {
        assigned: Some(find_in_record(disk.as_ref(), &places, &path)),
        ..StepFindings::default()
    })
}
