//! A turn ends: what its taker says becomes an input of the machine, and a repair goes back.

use a_society_facts::At;
use a_society_facts::fact::Fact;
use a_society_facts::fact::node::FaultCode;
use a_society_facts::fact::session::Origin;
use a_society_facts::id::{RoleInstance, TurnId};
use a_society_facts::limits::INLINE_HANDOFF_BYTES_MAX;
use a_society_facts::message::{Message, Text};
use a_society_flow::machine::{
    Input, Product, Receiver, Refusal, TurnEnding, TurnOutcome, TurnTask, would_end,
};
use a_society_roles::handoff::{
    self, EndingTool, OutcomeForm, RoleOutcome as Said, no_ending_message, output_limit_message,
    repair_message,
};
use a_society_roles::turn::conclude::{conclude, conclude_called};
use a_society_roles::turn::step::{StepReply, TakerEnd};

use super::attempt::{Heard, TurnAttempt};
use super::core::Core;
use super::error::DriverError;
use super::judged_end::{JudgedEnd, Meant, meant};
use super::step_findings::StepFindings;
use crate::limits::LIMIT_RESETS_MS_MAX;
use crate::mint;
use crate::project::docs::ailment::{self, Ailment};
use crate::record::{FoundArtifact, RefusedPath, find, inline_bytes};

impl Core {
    pub(super) fn end(
        &mut self,
        turn: TurnId,
        attempt: u32,
        end: TakerEnd,
        found: StepFindings,
    ) -> Result<Heard, DriverError> {
        match &end {
            // What the role lacks may have come to light while calls of an answer were still open.
            TakerEnd::Aborted { .. }
            | TakerEnd::Provider { .. }
            | TakerEnd::Configuration { .. } => {
                self.leave_calls(turn)?;
            }
            TakerEnd::Answered
            | TakerEnd::Outcome { .. }
            | TakerEnd::OwnTurn { .. }
            | TakerEnd::Fault(_)
            | TakerEnd::OutputLimit => {
                if let Some(told) = self.steered(turn, super::steer::Said::AfterItsEnd)? {
                    return Ok(told);
                }
            }
        }
        let known = (self.live.get_mut(turn)).and_then(|live| live.speech.take_judged());
        let JudgedEnd { ending, meant } = match known {
            Some(judged) => judged,
            None => self.judge(end, found)?,
        };
        let before = self.state().turns.get(&turn).map_or(0, |open| open.repairs);
        self.conclude(turn, attempt, ending)?;
        let open = self
            .state()
            .turns
            .get(&turn)
            .filter(|open| open.repairs > before);
        if open.is_none() {
            self.leave(turn);
            return Ok(Heard::Over);
        }
        self.mend(turn, meant)
    }

    /// The end of a turn, with what was found of all that it names.
    fn judge(&mut self, end: TakerEnd, found: StepFindings) -> Result<JudgedEnd, DriverError> {
        let meant = meant(&end, &found.products);
        let ending = self.outcome_of(end, found)?;
        Ok(JudgedEnd { ending, meant })
    }

    /// The end of a turn as an input of the machine.
    fn outcome_of(
        &mut self,
        end: TakerEnd,
        found: StepFindings,
    ) -> Result<TurnEnding, DriverError> {
        Ok(match end {
            TakerEnd::Answered => TurnEnding::Answered,
            TakerEnd::Outcome {
                outcome,
                words,
                choices,
            } => self.judged(outcome, found, &words, choices)?,
            TakerEnd::OwnTurn { words, again } => TurnEnding::OwnTurn {
                question: self.question(&words)?,
                again: self.question(again.as_deref().unwrap_or_default())?,
            },
            TakerEnd::Fault(fault) => TurnEnding::Fault {
                code: code_of(fault.code),
                summary: fault.summary(),
            },
            TakerEnd::OutputLimit => TurnEnding::OutputLimit,
            TakerEnd::Aborted { why, class } => TurnEnding::Aborted { why, class },
            TakerEnd::Provider {
                trouble,
                why,
                class,
                servers,
                again_in_ms,
            } => TurnEnding::ProviderProblem {
                trouble,
                why,
                class,
                servers,
                until: self.until(again_in_ms),
            },
            TakerEnd::Configuration { why } => TurnEnding::NeedsConfiguration { why },
        })
    }

    /// The moment after so long, unless it is further away than anybody believes.
    fn until(&self, ms: Option<u64>) -> Option<At> {
        let ms = ms.filter(|ms| *ms <= LIMIT_RESETS_MS_MAX)?;
        let ms = i64::try_from(ms).ok()?;
        Some(At::from_ms(self.flow().now().ms().saturating_add(ms)))
    }

    /// Whether this would end the turn, or be sent back to the role. Nothing changes.
    pub(super) fn would_end(
        &mut self,
        whose: TurnAttempt,
        end: TakerEnd,
        found: StepFindings,
    ) -> Result<bool, DriverError> {
        let TurnAttempt { turn, attempt } = whose;
        let JudgedEnd { ending, meant } = self.judge(end, found)?;
        let input = TurnOutcome {
            turn,
            attempt,
            outcome: ending,
            approval: Some(mint::name(self.mint.as_mut(), "a")?),
        };
        let ends = would_end(&self.graph, self.state(), &input);
        if let Some(live) = self.live.get_mut(turn) {
            let ending = input.outcome;
            live.speech.judge(JudgedEnd { ending, meant });
        }
        Ok(ends)
    }

    /// Hands an outcome to the machine.
    pub(super) fn conclude(
        &mut self,
        turn: TurnId,
        attempt: u32,
        outcome: TurnEnding,
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
        self.conclude(turn, attempt, TurnEnding::Aborted { why, class: None })?;
        self.leave(turn);
        Ok(())
    }

    /// A turn that runs here has lost its taker, so it fails at the point it had reached.
    pub(super) fn broke(
        &mut self,
        turn: TurnId,
        attempt: u32,
        why: String,
    ) -> Result<(), DriverError> {
        let live = self.live.get(turn);
        if live.is_none_or(|live| live.subject.attempt() != attempt) {
            return Ok(());
        }
        self.keep_draft(turn)?;
        self.stop_asides(turn)?;
        self.fail_turn(turn, attempt, why)
    }

    /// The machine wants a turn stopped: its taker gets the signal, or, if none runs here, the turn is
    /// settled.
    pub(super) fn stop_turn(&mut self, turn: TurnId, attempt: u32) -> Result<(), DriverError> {
        if let Some(live) = self.live.get_mut(turn) {
            let takes_steps = !live.hosting.waits_outside();
            live.control.raise_stop(takes_steps);
            if takes_steps {
                return Ok(());
            }
            // It has no taker yet, or one that waits for files: neither would come to its next step soon.
        }
        self.stopped(turn, attempt).map(drop)
    }

    /// A stopped turn is settled and over.
    pub(super) fn stopped(&mut self, turn: TurnId, attempt: u32) -> Result<Heard, DriverError> {
        self.keep_draft(turn)?;
        self.stop_asides(turn)?;
        self.stop_held(turn)?;
        self.stop_calls(turn)?;
        self.conclude(turn, attempt, TurnEnding::Stopped)?;
        self.leave(turn);
        Ok(Heard::Over)
    }

    /// The request for a repair.
    fn mend(&mut self, turn: TurnId, meant: Meant) -> Result<Heard, DriverError> {
        let Some(live) = self.live.get(turn) else {
            return Ok(Heard::Over);
        };
        let (role, Some(task)) = (live.subject.role().clone(), live.subject.task().cloned()) else {
            return Ok(Heard::Over);
        };
        let message = self.say_repair(turn, &role, &task, meant)?;
        Ok(Heard::Go(StepReply::Mend { message }))
    }

    /// A process may end between the record of a repair and its message. The role gets it now: its
    /// words follow from its last answer, or from the record.
    pub(super) fn mend_untold(
        &mut self,
        turn: TurnId,
        role: &RoleInstance,
        task: &TurnTask,
    ) -> Result<(), DriverError> {
        let Some(code) = self.untold_repair(turn) else {
            return Ok(());
        };
        let meant = match self.last_end(turn, role, task) {
            // A fault other than the recorded one is not described.
            Some(TakerEnd::Fault(fault)) if code_of(fault.code) != code => Meant::default(),
            Some(end) => meant(&end, &self.products_of(&end)),
            None => Meant::default(),
        };
        self.say_repair(turn, role, task, meant).map(drop)
    }

    /// The files of a handoff that a process before this one could not tell its role to mend.
    fn products_of(&self, end: &TakerEnd) -> Vec<Result<FoundArtifact, RefusedPath>> {
        let TakerEnd::Outcome {
            outcome: Said::Handoff(targets),
            ..
        } = end
        else {
            return Vec::new();
        };
        let paths = targets.iter().map(|target| &target.artifact_path);
        paths
            .map(|path| find(self.flow.disk(), &self.places, path))
            .collect()
    }

    /// The repair that was recorded and whose message the role has not got.
    fn untold_repair(&self, turn: TurnId) -> Option<FaultCode> {
        self.state().turns.get(&turn)?.repair
    }

    /// How the last answer of a turn ends it, as far as it alone shows it.
    fn last_end(&self, turn: TurnId, role: &RoleInstance, task: &TurnTask) -> Option<TakerEnd> {
        let request = self.state().turns.get(&turn)?.request.as_ref()?;
        let session = self.flow.views().session(role)?;
        let mut entries = session.messages.iter().rev();
        let answer = entries.find(|entry| entry.id.is_some() && entry.id == request.message);
        match answer.map(|entry| &*entry.message) {
            Some(Message::Assistant { content }) => {
                Some(conclude(content, &self.allowed(role, task)))
            }
            Some(Message::AssistantToolCalls { calls, text }) => {
                let text = text.as_deref().unwrap_or_default();
                conclude_called(text, calls, &self.allowed(role, task))
            }
            // An empty answer is not a message.
            Some(Message::User { .. } | Message::ToolResult { .. }) | None => {
                Some(conclude("", &self.allowed(role, task)))
            }
        }
    }

    fn say_repair(
        &mut self,
        turn: TurnId,
        role: &RoleInstance,
        task: &TurnTask,
        meant: Meant,
    ) -> Result<String, DriverError> {
        let allowed = self.allowed(role, task);
        let code = self.untold_repair(turn);
        let code = code.unwrap_or(FaultCode::InvalidTransition);
        let message = if code == FaultCode::OutputLimit {
            output_limit_message(&allowed)
        } else if code == FaultCode::MissingBlock && meant.is_silent {
            no_ending_message(&allowed)
        } else {
            let problem = meant.problem.unwrap_or_else(|| self.last_repair(role));
            let (outcome, form) = (meant.outcome.as_ref(), self.form(turn));
            repair_message(&problem, word(code), &allowed, outcome, form)
        };
        let node = task.node();
        self.say(role, message.clone().into(), Origin::Repair, node)?;
        Ok(message)
    }

    /// How the role ended its last answer.
    fn form(&self, turn: TurnId) -> OutcomeForm {
        let open = self.state().turns.get(&turn);
        let mut calls = open.iter().filter_map(|open| open.request.as_ref());
        let ends = |tool: &str| EndingTool::of_name(tool).is_some();
        if calls.any(|request| request.calls.iter().any(|call| ends(&call.tool))) {
            OutcomeForm::Call
        } else {
            OutcomeForm::Block
        }
    }

    /// The summary of the last repair, as the feed has it.
    fn last_repair(&self, role: &RoleInstance) -> String {
        let feed = self.flow.views().feed(role);
        let repair = feed.and_then(|feed| {
            let mut items = feed.items().rev();
            items.find(|item| item.event.as_deref() == Some("repair.requested"))
        });
        repair.map(|item| item.text.clone()).unwrap_or_default()
    }

    /// The outcome of a role, with its artifacts found and kept.
    fn judged(
        &mut self,
        said: Said,
        found: StepFindings,
        words: &str,
        choices: Vec<String>,
    ) -> Result<TurnEnding, DriverError> {
        Ok(match said {
            Said::Handoff(targets) => {
                let mut receivers = Vec::with_capacity(targets.len());
                let mut room = INLINE_HANDOFF_BYTES_MAX;
                for (target, found) in targets.into_iter().zip(found.products) {
                    let found = found.map_err(|refused| refused.why);
                    let artifact = self.kept(found, &target.artifact_path, &mut room)?;
                    receivers.push(Receiver {
                        node: target.target_node_id,
                        artifact,
                    });
                }
                TurnEnding::Handoff(receivers)
            }
            Said::PromptHuman => TurnEnding::PromptHuman {
                question: self.question(words)?,
                choices,
            },
            Said::AwaitHandoff => TurnEnding::AwaitHandoff,
            Said::ForwardPassClosed => self.closes(found.ailments)?,
            Said::MetaAnalysisComplete { .. } => TurnEnding::MetaAnalysisComplete {
                findings: self.assigned(found)?,
            },
            Said::BackwardPassComplete { .. } => TurnEnding::BackwardPassComplete {
                report: self.assigned(found)?,
            },
        })
    }

    /// What the operator is asked, if it has words.
    fn question(&self, words: &str) -> Result<Option<Text>, DriverError> {
        let words = words.trim();
        let question = (!words.is_empty()).then(|| self.flow.keep_text(words.to_owned()));
        Ok(question.transpose()?)
    }

    /// What the health checks say to a role that closes. What was wrong with the project before the
    /// flow came here is no fault of its roles: the operator is asked about it, once.
    fn closes(&mut self, found: Vec<Ailment>) -> Result<TurnEnding, DriverError> {
        let origins = self.state().imported.as_ref();
        let (older, newer) = match origins {
            Some(origins) => ailment::apart(found, origins.ailments.as_deref()),
            None => (Vec::new(), found),
        };
        let was_asked = origins.is_some_and(|origins| origins.asked_about_project);
        let asks = (!older.is_empty() && !was_asked).then(|| ailment::question(&older));
        Ok(TurnEnding::ForwardPassClosed {
            health: ailment::fault(&newer),
            asks: asks.map(|text| self.flow.keep_text(text)).transpose()?,
        })
    }

    /// Keeps the artifact that the improvement phase asks for.
    fn assigned(&mut self, found: StepFindings) -> Result<Product, DriverError> {
        let (path, found) = found.assigned.ok_or(DriverError::Gone)?;
        self.kept(found, &path, &mut INLINE_HANDOFF_BYTES_MAX.clone())
    }

    /// Keeps the bytes of an artifact: in the record itself while there is room, else as a blob.
    fn kept(
        &mut self,
        found: Result<FoundArtifact, String>,
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
        let (request, seat) = (request.number, open.map(|open| open.seat.clone()));
        let Some(seat) = seat else { return Ok(()) };
        let message = mint::name(self.mint.as_mut(), "m")?;
        let kept = a_society_facts::fact::turn::DraftKept {
            turn,
            seat,
            request,
            message,
        };
        self.append(Fact::DraftKept(kept))
    }
}

fn is_late(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Late { .. } | Refusal::TurnNotOpen { .. })
}

const fn code_of(code: handoff::HandoffFaultCode) -> FaultCode {
    match code {
        handoff::HandoffFaultCode::MissingBlock => FaultCode::MissingBlock,
        handoff::HandoffFaultCode::YamlParse => FaultCode::YamlParse,
        handoff::HandoffFaultCode::InvalidTargetShape => FaultCode::InvalidTargetShape,
        handoff::HandoffFaultCode::MissingRequiredField => FaultCode::MissingRequiredField,
        handoff::HandoffFaultCode::UnknownSignalType => FaultCode::UnknownSignalType,
        handoff::HandoffFaultCode::InvalidTransition => FaultCode::InvalidTransition,
        handoff::HandoffFaultCode::ArtifactUnavailable => FaultCode::ArtifactUnavailable,
    }
}

/// The word for a fault, as records have it.
const fn word(code: FaultCode) -> &'static str {
    match code {
        FaultCode::MissingBlock => "missing_block",
        FaultCode::YamlParse => "yaml_parse",
        FaultCode::InvalidTargetShape => "invalid_target_shape",
        FaultCode::MissingRequiredField => "missing_required_field",
        FaultCode::UnknownSignalType => "unknown_signal_type",
        FaultCode::InvalidTransition => "invalid_transition",
        FaultCode::ArtifactUnavailable => "artifact_unavailable",
        FaultCode::OutputLimit => "output_limit",
        FaultCode::HealthCheck => "health_check",
        FaultCode::WrongPath => "wrong_path",
        FaultCode::WrongSignal => "wrong_signal",
    }
}
