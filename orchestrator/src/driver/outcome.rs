//! A turn ends: what its taker says becomes an input of the machine, and a repair goes back.

use a_society_facts::fact::Fact;
use a_society_facts::fact::node::FaultCode;
use a_society_facts::fact::session::Origin;
use a_society_facts::id::{RoleInstance, TurnId};
use a_society_facts::limits::INLINE_HANDOFF_BYTES_MAX;
use a_society_facts::message::Message;
use a_society_flow::machine::{Input, Outcome, Product, Refusal, Target, Task, TurnOutcome};
use a_society_roles::handoff::{
    self, HandoffFault, Outcome as Said, output_limit_message, repair_message,
};
use a_society_roles::turn::conclude::conclude;
use a_society_roles::turn::step::{End, Told};

use super::core::Core;
use super::error::DriverError;
use super::step::Heard;
use crate::mint;
use crate::record::{Found, find, find_in_record, inline_bytes};

impl Core {
    pub(super) fn end(
        &mut self,
        turn: TurnId,
        attempt: u32,
        end: End,
    ) -> Result<Heard, DriverError> {
        let fault = match &end {
            End::Fault(fault) => Some(fault.clone()),
            End::Outcome { .. }
            | End::OutputLimit
            | End::Aborted { .. }
            | End::Provider { .. }
            | End::Configuration { .. } => None,
        };
        match &end {
            // What the role lacks may have come to light while calls of an answer were still open.
            End::Aborted { .. } | End::Provider { .. } | End::Configuration { .. } => {
                self.leave_calls(turn)?;
            }
            End::Outcome { .. } | End::Fault(_) | End::OutputLimit => {
                if let Some(told) = self.steered(turn, super::steer::Said::AfterItsEnd)? {
                    return Ok(told);
                }
            }
        }
        let outcome = match end {
            End::Outcome { outcome, words } => self.judged(outcome, words)?,
            End::Fault(fault) => Outcome::Fault {
                code: code_of(fault.code),
                summary: fault.summary(),
            },
            End::OutputLimit => Outcome::OutputLimit,
            End::Aborted { why } => Outcome::Aborted { why },
            End::Provider { why } => Outcome::ProviderProblem { why },
            End::Configuration { why } => Outcome::NeedsConfiguration { why },
        };
        let before = self.state().turns.get(&turn).map_or(0, |open| open.repairs);
        self.conclude(turn, attempt, outcome)?;
        let open = self
            .state()
            .turns
            .get(&turn)
            .filter(|open| open.repairs > before);
        if open.is_none() {
            self.leave(turn);
            return Ok(Heard::Over);
        }
        self.mend(turn, fault)
    }

    /// Hands an outcome to the machine.
    pub(super) fn conclude(
        &mut self,
        turn: TurnId,
        attempt: u32,
        outcome: Outcome,
    ) -> Result<(), DriverError> {
        let approval = Some(mint::name(self.mint.as_mut(), "a")?);
        let input = TurnOutcome {
            turn,
            attempt,
            outcome,
            approval,
        };
        match self.input(Input::Outcome(input)) {
            Ok(_) => Ok(()),
            // Another try counts by now: nothing of this one does.
            Err(DriverError::Refused(refusal)) if is_late(&refusal) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// A turn that cannot go on ends as failed.
    pub(super) fn fail_turn(
        &mut self,
        turn: TurnId,
        attempt: u32,
        why: String,
    ) -> Result<(), DriverError> {
        self.stop_calls(turn)?;
        self.conclude(turn, attempt, Outcome::Aborted { why })?;
        self.leave(turn);
        Ok(())
    }

    /// A turn that runs here has lost whoever took it, and fails wherever it was.
    pub(super) fn broke(
        &mut self,
        turn: TurnId,
        attempt: u32,
        why: String,
    ) -> Result<(), DriverError> {
        let live = self.live.get(&turn);
        if live.is_none_or(|live| live.attempt != attempt) {
            return Ok(());
        }
        self.keep_draft(turn)?;
        self.stop_asides(turn)?;
        self.fail_turn(turn, attempt, why)
    }

    /// The machine wants a turn stopped: its taker is told, or, if none runs here, it is settled.
    pub(super) fn stop_turn(
        &mut self,
        turn: TurnId,
        attempt: u32,
        role: RoleInstance,
        task: Task,
    ) -> Result<(), DriverError> {
        if let Some(live) = self.live.get_mut(&turn) {
            live.told_to_stop = true;
            live.stop.raise();
            return Ok(());
        }
        drop((role, task));
        self.stopped(turn, attempt).map(drop)
    }

    /// A stopped turn is settled and over.
    pub(super) fn stopped(&mut self, turn: TurnId, attempt: u32) -> Result<Heard, DriverError> {
        self.keep_draft(turn)?;
        self.stop_asides(turn)?;
        self.stop_calls(turn)?;
        self.conclude(turn, attempt, Outcome::Stopped)?;
        self.leave(turn);
        Ok(Heard::Over)
    }

    /// What the role was told to mend.
    fn mend(&mut self, turn: TurnId, fault: Option<HandoffFault>) -> Result<Heard, DriverError> {
        let Some(live) = self.live.get(&turn) else {
            return Ok(Heard::Over);
        };
        let (role, task) = (live.role.clone(), live.task.clone());
        let message = self.say_repair(turn, (&role, &task), fault)?;
        Ok(Heard::Go(Told::Mend { message }))
    }

    /// A process may end between the record of a repair and the words for it. The role hears them
    /// now: the words follow from its last answer, or from the record.
    pub(super) fn mend_untold(
        &mut self,
        turn: TurnId,
        role: &RoleInstance,
        task: &Task,
    ) -> Result<(), DriverError> {
        let Some(code) = self.untold_repair(turn) else {
            return Ok(());
        };
        let fault = self.last_fault(turn, role);
        let fault = fault.filter(|fault| code_of(fault.code) == code);
        self.say_repair(turn, (role, task), fault).map(drop)
    }

    /// The repair that was recorded and that the role was not told.
    fn untold_repair(&self, turn: TurnId) -> Option<FaultCode> {
        self.state().turns.get(&turn)?.repair
    }

    /// What is wrong with the last answer of a turn, as far as its text alone shows it.
    fn last_fault(&self, turn: TurnId, role: &RoleInstance) -> Option<HandoffFault> {
        let request = self.state().turns.get(&turn)?.request.as_ref()?;
        let session = self.flow.views().sessions.get(role)?;
        let mut entries = session.messages.iter().rev();
        let answer = entries.find(|entry| entry.id.is_some() && entry.id == request.message);
        // An answer that said nothing is no message.
        let content = match answer.map(|entry| &*entry.message) {
            Some(Message::Assistant { content }) => content.as_str(),
            Some(_) | None => "",
        };
        match conclude(content) {
            End::Fault(fault) => Some(fault),
            End::Outcome { .. }
            | End::OutputLimit
            | End::Aborted { .. }
            | End::Provider { .. }
            | End::Configuration { .. } => None,
        }
    }

    fn say_repair(
        &mut self,
        turn: TurnId,
        (role, task): (&RoleInstance, &Task),
        fault: Option<HandoffFault>,
    ) -> Result<String, DriverError> {
        let allowed = self.allowed(role, task);
        let message = match (fault, self.untold_repair(turn)) {
            (_, Some(FaultCode::OutputLimit)) => output_limit_message(&allowed),
            (Some(fault), _) => repair_message(&fault, &allowed),
            (None, code) => {
                let why = self.last_repair(role);
                let code = code.map_or(handoff::FaultCode::InvalidTransition, roles_code);
                repair_message(&HandoffFault::without_place(code, why), &allowed)
            }
        };
        let node = match task {
            Task::Node(node) => Some(node),
            Task::Reflection | Task::Feedback | Task::Send => None,
        };
        self.say(role, message.clone().into(), Origin::Repair, node)?;
        Ok(message)
    }

    /// The summary of the last repair, as the feed has it.
    fn last_repair(&self, role: &RoleInstance) -> String {
        let feed = self.flow.views().feeds.get(role);
        let repair = feed.and_then(|feed| {
            let mut items = feed.items().rev();
            items.find(|item| item.event.as_deref() == Some("repair.requested"))
        });
        repair.map(|item| item.text.clone()).unwrap_or_default()
    }

    /// What a role said, with its artifacts found and kept.
    fn judged(&mut self, said: Said, words: String) -> Result<Outcome, DriverError> {
        Ok(match said {
            Said::Handoff(targets) => {
                let mut receivers = Vec::with_capacity(targets.len());
                let mut room = INLINE_HANDOFF_BYTES_MAX;
                for target in targets {
                    let artifact = self.product(&target.artifact_path, &mut room)?;
                    receivers.push(Target {
                        node: target.target_node_id,
                        artifact,
                    });
                }
                Outcome::Handoff(receivers)
            }
            Said::PromptHuman => {
                let words = words.trim().to_owned();
                let question = (!words.is_empty()).then(|| self.flow.keep_text(words));
                Outcome::PromptHuman {
                    question: question.transpose()?,
                }
            }
            Said::AwaitHandoff => Outcome::AwaitHandoff,
            Said::ForwardPassClosed => Outcome::ForwardPassClosed {
                health: self.roles.health(),
            },
            Said::MetaAnalysisComplete { findings_path } => Outcome::MetaAnalysisComplete {
                findings: self.assigned(&findings_path)?,
            },
            Said::BackwardPassComplete { artifact_path } => Outcome::BackwardPassComplete {
                report: self.assigned(&artifact_path)?,
            },
        })
    }

    /// Finds an artifact and keeps its bytes.
    fn product(&mut self, written: &str, room: &mut usize) -> Result<Product, DriverError> {
        let found = find(self.flow.disk(), &self.places, written);
        self.kept(found, written, room)
    }

    /// Finds what the improvement phase asks for: it lies in the record folder and nowhere else.
    fn assigned(&mut self, written: &str) -> Result<Product, DriverError> {
        let (path, found) = find_in_record(self.flow.disk(), &self.places, written);
        self.kept(found, &path, &mut INLINE_HANDOFF_BYTES_MAX.clone())
    }

    /// Keeps the bytes of an artifact: in the record itself while there is room, else as a blob.
    fn kept(
        &mut self,
        found: Result<Found, String>,
        written: &str,
        room: &mut usize,
    ) -> Result<Product, DriverError> {
        let mut found = match found {
            Ok(found) => found,
            Err(why) => {
                return Ok(Product::Unavailable {
                    path: written.to_owned(),
                    why,
                });
            }
        };
        match inline_bytes(&found).filter(|(_, bytes)| bytes <= room) {
            Some((text, bytes)) => {
                *room -= bytes;
                found.artifact.text = Some(text);
            }
            None => {
                self.flow.keep_blob(&found.bytes)?;
            }
        }
        Ok(Product::Kept(found.artifact))
    }

    /// What was streamed of an answer that will not end is kept as it is.
    fn keep_draft(&mut self, turn: TurnId) -> Result<(), DriverError> {
        self.flush(turn)?;
        let open = self.state().turns.get(&turn);
        let request = open.and_then(|open| open.request.as_ref());
        let Some(request) = request.filter(|request| request.drafted_bytes > 0) else {
            return Ok(());
        };
        let (request, role) = (request.number, open.map(|open| open.role.clone()));
        let Some(role) = role else { return Ok(()) };
        let message = mint::name(self.mint.as_mut(), "m")?;
        let kept = a_society_facts::fact::turn::DraftKept {
            turn,
            role,
            request,
            message,
        };
        self.append(Fact::DraftKept(kept))
    }
}

fn is_late(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Late { .. } | Refusal::TurnNotOpen { .. })
}

const fn code_of(code: handoff::FaultCode) -> FaultCode {
    match code {
        handoff::FaultCode::MissingBlock => FaultCode::MissingBlock,
        handoff::FaultCode::YamlParse => FaultCode::YamlParse,
        handoff::FaultCode::InvalidTargetShape => FaultCode::InvalidTargetShape,
        handoff::FaultCode::MissingRequiredField => FaultCode::MissingRequiredField,
        handoff::FaultCode::UnknownSignalType => FaultCode::UnknownSignalType,
        handoff::FaultCode::InvalidTransition => FaultCode::InvalidTransition,
        handoff::FaultCode::ArtifactUnavailable => FaultCode::ArtifactUnavailable,
    }
}

const fn roles_code(code: FaultCode) -> handoff::FaultCode {
    match code {
        FaultCode::MissingBlock | FaultCode::OutputLimit => handoff::FaultCode::MissingBlock,
        FaultCode::YamlParse => handoff::FaultCode::YamlParse,
        FaultCode::InvalidTargetShape => handoff::FaultCode::InvalidTargetShape,
        FaultCode::MissingRequiredField => handoff::FaultCode::MissingRequiredField,
        FaultCode::UnknownSignalType | FaultCode::WrongSignal => {
            handoff::FaultCode::UnknownSignalType
        }
        FaultCode::InvalidTransition | FaultCode::HealthCheck => {
            handoff::FaultCode::InvalidTransition
        }
        FaultCode::ArtifactUnavailable | FaultCode::WrongPath => {
            handoff::FaultCode::ArtifactUnavailable
        }
    }
}
