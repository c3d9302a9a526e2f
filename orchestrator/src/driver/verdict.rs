//! What a taker ends its turn with becomes an input of the machine, with everything that it hands over found and kept.

use a_society_facts::At;
use a_society_facts::limits::INLINE_HANDOFF_BYTES_MAX;
use a_society_facts::message::Text;
use a_society_flow::machine::{self, Product, Receiver, TurnEnding, TurnOutcome};
use a_society_roles::handoff::RoleOutcome as Said;
use a_society_roles::turn::step::TakerEnd;

use super::error::DriverError;
use super::judged_end::{JudgedEnd, meant};
use super::live_turn::LiveTurn;
use super::pen::FlowPen;
use super::step_findings::StepFindings;
use crate::limits::LIMIT_RESETS_MS_MAX;
use crate::project::docs::ailment::{self, Ailment};
use crate::record::{FoundArtifact, inline_bytes};

/// The end of a turn, with what was found of all that it names.
pub(super) fn judge(
    pen: &mut FlowPen,
    end: TakerEnd,
    found: StepFindings,
) -> Result<JudgedEnd, DriverError> {
    let meant = meant(&end, &found.products);
    let ending = outcome_of(pen, end, found)?;
    Ok(JudgedEnd { ending, meant })
}

/// The end of a turn as an input of the machine.
fn outcome_of(
    pen: &mut FlowPen,
    end: TakerEnd,
    found: StepFindings,
) -> Result<TurnEnding, DriverError> {
    Ok(match end {
        TakerEnd::Answered => TurnEnding::Answered,
        TakerEnd::Outcome {
            outcome,
            words,
            choices,
        } => judged(pen, outcome, found, &words, choices)?,
        TakerEnd::OwnTurn { words, again } => TurnEnding::OwnTurn {
            question: question(pen, &words)?,
            again: question(pen, again.as_deref().unwrap_or_default())?,
        },
        TakerEnd::Fault(fault) => TurnEnding::Fault {
            code: fault.code,
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
            until: until(pen, again_in_ms),
        },
        TakerEnd::Configuration { why } => TurnEnding::NeedsConfiguration { why },
    })
}

/// The moment after so long, unless it is further away than anybody believes.
fn until(pen: &FlowPen, ms: Option<u64>) -> Option<At> {
    let ms = ms.filter(|ms| *ms <= LIMIT_RESETS_MS_MAX)?;
    let ms = i64::try_from(ms).ok()?;
    Some(At::from_ms(pen.now().ms().saturating_add(ms)))
}

/// Whether this would end the turn, or be sent back to the role. Nothing changes.
pub(super) fn would_end(
    pen: &mut FlowPen,
    live: &mut LiveTurn,
    end: TakerEnd,
    found: StepFindings,
) -> Result<bool, DriverError> {
    let JudgedEnd { ending, meant } = judge(pen, end, found)?;
    let input = TurnOutcome {
        turn: live.subject.turn(),
        attempt: live.subject.attempt(),
        outcome: ending,
        approval: Some(pen.name("a")?),
    };
    let ends = machine::would_end(&pen.graph, pen.state(), &input);
    let ending = input.outcome;
    live.speech.judge(JudgedEnd { ending, meant });
    Ok(ends)
}

/// The outcome of a role, with its artifacts found and kept.
fn judged(
    pen: &mut FlowPen,
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
                let artifact = kept(pen, found, &target.artifact_path, &mut room)?;
                receivers.push(Receiver {
                    node: target.target_node_id,
                    artifact,
                });
            }
            TurnEnding::Handoff(receivers)
        }
        Said::PromptHuman => TurnEnding::PromptHuman {
            question: question(pen, words)?,
            choices,
        },
        Said::AwaitHandoff => TurnEnding::AwaitHandoff,
        Said::ForwardPassClosed => closes(pen, found.ailments)?,
        Said::MetaAnalysisComplete { .. } => TurnEnding::MetaAnalysisComplete {
            findings: assigned(pen, found)?,
        },
        Said::BackwardPassComplete { .. } => TurnEnding::BackwardPassComplete {
            report: assigned(pen, found)?,
        },
    })
}

/// What the operator is asked, if it has words.
fn question(pen: &FlowPen, words: &str) -> Result<Option<Text>, DriverError> {
    let words = words.trim();
    let question = (!words.is_empty()).then(|| pen.flow.keep_text(words.to_owned()));
    Ok(question.transpose()?)
}

/// What the health checks say to a role that closes. What was wrong with the project before the
/// flow came here is no fault of its roles: the operator is asked about it, once.
fn closes(pen: &mut FlowPen, found: Vec<Ailment>) -> Result<TurnEnding, DriverError> {
    let origins = pen.state().imported.as_ref();
    let (older, newer) = match origins {
        Some(origins) => ailment::apart(found, origins.ailments.as_deref()),
        None => (Vec::new(), found),
    };
    let was_asked = origins.is_some_and(|origins| origins.asked_about_project);
    let asks = (!older.is_empty() && !was_asked).then(|| ailment::question(&older));
    Ok(TurnEnding::ForwardPassClosed {
        health: ailment::fault(&newer),
        asks: asks.map(|text| pen.flow.keep_text(text)).transpose()?,
    })
}

/// Keeps the artifact that the improvement phase asks for.
fn assigned(pen: &mut FlowPen, found: StepFindings) -> Result<Product, DriverError> {
    let (path, found) = found.assigned.ok_or(DriverError::Gone)?;
    kept(pen, found, &path, &mut INLINE_HANDOFF_BYTES_MAX.clone())
}

/// Keeps the bytes of an artifact: in the record itself while there is room, else as a blob.
fn kept(
    pen: &mut FlowPen,
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
            pen.flow.keep_blob(&found.bytes)?;
        }
    }
    Ok(Product::Kept(found.artifact))
}
