//! A role whose turns the operator takes.
//!
//! The turn with which a node is entered ends by asking: the operator reads the packet and what
//! may be answered. The turn that begins with the operator's answer ends with what the answer
//! says: a handoff block, or a short form of one. Anything else stays in the conversation, and
//! the operator is asked again. No model is asked and no tool is called, so that there is nothing
//! to recover.

use std::sync::Arc;

use crate::handoff::{
    FaultCode, NamedTarget, RoleOutcome, Signal, parse_outcome, problem_of, words_before_block,
};
use crate::turn::job::{BegunWith, TurnJob};
use crate::turn::step::{StepReply, TakerEnd, TurnStep};
use crate::turn::tail::{begun_text, last_said};
use crate::turn::taker::Taker;

/// The taker of a role that is the operator.
#[derive(Debug)]
pub struct HumanTaker {
    job: Arc<TurnJob>,
    end: TakerEnd,
}

impl HumanTaker {
    /// A taker for this job's turn.
    #[must_use]
    pub fn new(job: Arc<TurnJob>, begun_with: BegunWith) -> Self {
        let end = match begun_with {
            // A turn that goes on without the words with which it began can only ask.
            BegunWith::Packet | BegunWith::Reply if job.packet.trim().is_empty() => {
                ask_again(&job, problem_of(begun_text(&job)))
            }
            BegunWith::Repair => ask_again(&job, problem_of(last_said(&job))),
            BegunWith::Packet => ask(&job, job.packet.trim_end(), None),
            BegunWith::Reply => answered(&job),
        };
        Self { job, end }
    }
}

impl Taker for HumanTaker {
    fn next(&mut self, told: StepReply) -> TurnStep {
        match told {
            StepReply::Begin
            | StepReply::Done { .. }
            | StepReply::Compacted { .. }
            | StepReply::Begun { .. }
            | StepReply::Denied { .. }
            | StepReply::TakenBack { .. }
            | StepReply::Steered { .. }
            | StepReply::Hurried
            | StepReply::Busy => {}
            StepReply::Mend { message } => self.end = ask_again(&self.job, problem_of(&message)),
            StepReply::Stop => {
                self.end = TakerEnd::aborted("the operator stopped the turn".to_owned());
            }
        }
        TurnStep::End(self.end.clone())
    }
}

/// Asks the operator, and says what may be answered.
fn ask(job: &TurnJob, words: &str, again: Option<String>) -> TakerEnd {
    TakerEnd::OwnTurn {
        words: format!("{words}\n\n{}", ways(job)),
        again,
    }
}

/// The same, because what was answered did not end the turn.
fn ask_again(job: &TurnJob, why: &str) -> TakerEnd {
    ask(job, why, Some(why.to_owned()))
}

/// What the operator's answer says.
fn answered(job: &TurnJob) -> TakerEnd {
    let reply = job.packet.as_str();
    match parse_outcome(reply) {
        // A role that is asked for by itself would be asked for ever.
        Ok(RoleOutcome::PromptHuman) => ask_again(job, "Your answer asks yourself."),
        Ok(outcome) => TakerEnd::Outcome {
            outcome,
            words: words_before_block(reply).to_owned(),
            choices: Vec::new(),
        },
        Err(fault) if fault.code == FaultCode::MissingBlock && !says_block(reply) => {
            match short_form(job, reply) {
                Some(Ok(outcome)) => short_end(outcome, reply),
                Some(Err(why)) => ask_again(job, &why),
                None => ask_again(
                    job,
                    "Choose what happens next: hand over, send back or wait.",
                ),
            }
        }
        Err(fault) => ask_again(
            job,
            &format!(
                "The block in your answer cannot be read: {}.",
                fault.message
            ),
        ),
    }
}

/// The outcome by which an operator decides for a role that cannot, if the answer has one.
pub(super) fn decided(job: &TurnJob) -> Option<TakerEnd> {
    let reply = job.packet.as_str();
    match parse_outcome(reply) {
        Ok(RoleOutcome::PromptHuman) => None,
        Ok(outcome) => Some(TakerEnd::Outcome {
            outcome,
            words: words_before_block(reply).to_owned(),
            choices: Vec::new(),
        }),
        Err(_) => match short_form(job, reply) {
            Some(Ok(outcome)) => Some(short_end(outcome, reply)),
            Some(Err(_)) | None => None,
        },
    }
}

fn short_end(outcome: RoleOutcome, reply: &str) -> TakerEnd {
    TakerEnd::Outcome {
        outcome,
        words: after_first_line(reply).to_owned(),
        choices: Vec::new(),
    }
}

/// Whether the reply contains an attempt at a block, whose faults should be reported.
fn says_block(reply: &str) -> bool {
    reply.lines().any(|line| {
        let line = line.trim_start();
        line.starts_with("```") && line.trim_start_matches('`').trim() == "handoff"
    })
}

fn after_first_line(reply: &str) -> &str {
    let reply = reply.trim();
    reply.split_once('\n').map_or("", |(_, rest)| rest).trim()
}

/// The outcome that the first line says in short; nothing if it says none.
fn short_form(job: &TurnJob, reply: &str) -> Option<Result<RoleOutcome, String>> {
    let line = reply.trim().lines().next()?.trim();
    match line {
        "close" => return Some(Ok(RoleOutcome::ForwardPassClosed)),
        "wait" => return Some(Ok(RoleOutcome::AwaitHandoff)),
        _ => {}
    }
    let (verb, rest) = line.split_once(':')?;
    match verb.trim_end() {
        "forward" => Some(hand("forward", &job.allowed.forward, rest)),
        "back" => Some(hand("back", &job.allowed.backward, rest)),
        "findings" | "report" => Some(finished(job, rest)),
        _ => None,
    }
}

/// `NODE PATH`, several of them with commas between, or only `PATH` where there is one neighbour.
fn hand(verb: &str, neighbours: &[String], text: &str) -> Result<RoleOutcome, String> {
    if neighbours.is_empty() {
        return Err(format!("There is no node to hand to with `{verb}`."));
    }
    let targets: Result<Vec<NamedTarget>, String> = text
        .split(',')
        .map(|part| target(verb, neighbours, part.trim()))
        .collect();
    targets.map(RoleOutcome::Handoff)
}

fn target(verb: &str, neighbours: &[String], text: &str) -> Result<NamedTarget, String> {
    let named = neighbours.iter().find_map(|node| {
        let rest = text.strip_prefix(node.as_str())?;
        rest.starts_with(char::is_whitespace)
            .then(|| (node, rest.trim_start()))
    });
    let (node, path) = match (named, neighbours) {
        (Some(named), _) => named,
        (None, [only]) => (only, text),
        (None, several) => {
            let nodes: Vec<String> = several.iter().map(|node| format!("`{node}`")).collect();
            return Err(format!(
                "After `{verb}:` say to whom and what, such as `{verb}: {} PATH`. It can be {}.",
                several.first().map_or("", String::as_str),
                nodes.join(" or ")
            ));
        }
    };
    let path = path.trim_matches('`');
    if path.is_empty() {
        return Err(format!("After `{verb}:` say which file is handed over."));
    }
    Ok(NamedTarget {
        target_node_id: node.clone(),
        artifact_path: path.to_owned(),
    })
}

/// The end of a turn in the improvement phase.
fn finished(job: &TurnJob, path: &str) -> Result<RoleOutcome, String> {
    let path = path.trim().to_owned();
    for signal in &job.allowed.signals {
        match signal {
            Signal::MetaAnalysisComplete { .. } => {
                return Ok(RoleOutcome::MetaAnalysisComplete {
                    findings_path: path,
                });
            }
            Signal::BackwardPassComplete { .. } => {
                return Ok(RoleOutcome::BackwardPassComplete {
                    artifact_path: path,
                });
            }
            Signal::PromptHuman | Signal::AwaitHandoff | Signal::ForwardPassClosed => {}
        }
    }
    Err("No findings are asked for here.".to_owned())
}

/// What may be answered at this moment, in the short forms.
fn ways(job: &TurnJob) -> String {
    let mut lines = Vec::new();
    for (verb, neighbours) in [
        ("forward", &job.allowed.forward),
        ("back", &job.allowed.backward),
    ] {
        match neighbours.as_slice() {
            [] => {}
            [only] => lines.push(format!("* `{verb}: PATH` hands a file to `{only}`")),
            several => {
                lines.extend(
                    several
                        .iter()
                        .map(|node| format!("* `{verb}: {node} PATH`")),
                );
                lines.push(format!("* several at once: `{verb}: NODE PATH, NODE PATH`"));
            }
        }
    }
    lines.extend(job.allowed.signals.iter().filter_map(way_of));
    if lines.is_empty() {
        lines
            .push("* nothing can be answered at this moment; stop the turn to leave it".to_owned());
    }
    format!(
        "It is your turn. End it with one of these in the first line, or with a `handoff` \
         block:\n\n{}",
        lines.join("\n")
    )
}

fn way_of(signal: &Signal) -> Option<String> {
    match signal {
        // The person who answers is the one who would be asked.
        Signal::PromptHuman => None,
        Signal::AwaitHandoff => Some("* `wait` waits until something is handed to you".to_owned()),
        Signal::ForwardPassClosed => Some("* `close` ends the forward work of the flow".to_owned()),
        Signal::MetaAnalysisComplete { findings_path } => Some(format!(
            "* `findings: {findings_path}` when that file is written"
        )),
        Signal::BackwardPassComplete { artifact_path } => Some(format!(
            "* `report: {artifact_path}` when that file is written"
        )),
    }
}
