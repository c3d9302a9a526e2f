//! Makes what replaces messages of a session without a model: by their beginnings, without long results of tools, or by
//! a command of the operator.
//!
//! The command is one of the operator's configuration. It gets the messages as JSON on its standard input, the variables
//! that programs of roles get, and nothing else. What it prints is what replaces the messages; if it fails, the session
//! stays as it was.

use std::sync::Arc;

use a_society_base::process::gate::{ExitCause, GateReport, Gated, ProcessLaunch};
use a_society_base::process::tree::ProcessMark;
use a_society_base::redact::Redactor;
use a_society_base::stop::StopSignal;
use a_society_facts::fact::session::{CompactionWish, Strategy};
use a_society_facts::fact::turn::Usage;
use a_society_facts::message::Message;
use serde_json::{Value, json};

use super::command::{CommandSpec, InheritedVariables};
use crate::role::compaction::{Shares, bounded, masked, shortened, truncated};
use crate::turn::job::TurnJob;
use crate::turn::step::{CompactStep, StepReply, TurnStep};
use crate::turn::taker::Taker;

/// How much of what a failed command printed beside its output is repeated.
const ERROR_BYTES: usize = 500;

/// The taker of a compaction that asks no model. The history of its job is what is replaced.
#[derive(Debug)]
struct CompactingTaker {
    job: Arc<TurnJob>,
    wish: CompactionWish,
    command: Option<(CommandSpec, InheritedVariables)>,
    stop: StopSignal,
}

/// Who compacts the history of a job as it is wished, by this command if that is wished.
#[must_use]
pub fn compacting(
    job: Arc<TurnJob>,
    wish: CompactionWish,
    command: Option<(CommandSpec, InheritedVariables)>,
    stop: StopSignal,
) -> Box<dyn Taker> {
    Box::new(CompactingTaker {
        job,
        wish,
        command,
        stop,
    })
}

impl CompactingTaker {
    fn made(&mut self) -> Result<String, String> {
        let messages: Vec<&Message> = self.job.history.iter().map(|message| &**message).collect();
        match self.wish.strategy {
            Strategy::Truncate => Ok(truncated(&messages, Shares::of(0))),
            Strategy::ObservationMask => Ok(masked(&messages, self.wish.tool_output_max_chars)),
            Strategy::Custom => {
                let command = self.command.take();
                let command = command.ok_or("no command is configured (sessions: compaction:)")?;
                run(command, &self.job, input(&self.job, &self.wish), &self.stop)
            }
            Strategy::NodeSummary | Strategy::Llm => {
                Err("only a model makes such a summary".to_owned())
            }
        }
    }
}

impl Taker for CompactingTaker {
    fn next(&mut self, told: StepReply) -> TurnStep {
        let made = match told {
            StepReply::Stop => Err("it was stopped".to_owned()),
            StepReply::Begin
            | StepReply::Done { .. }
            | StepReply::Begun { .. }
            | StepReply::TakenBack { .. }
            | StepReply::Mend { .. }
            | StepReply::Steered { .. }
            | StepReply::Compacted { .. }
            | StepReply::Hurried
            | StepReply::Busy
            | StepReply::Denied { .. } => self.made(),
        };
        TurnStep::Compact(match made {
            Ok(text) => CompactStep::Summary {
                text,
                usage: Usage::default(),
                shares: Shares::of(0),
            },
            Err(why) => CompactStep::Failed {
                why,
                usage: Usage::default(),
                cuts: None,
            },
        })
    }
}

/// What the command reads, as one line.
fn input(job: &TurnJob, wish: &CompactionWish) -> Vec<u8> {
    let messages: Vec<Value> = job
        .history
        .iter()
        .map(|message| shown(message, wish))
        .collect();
    let input = json!({
        "version": 1,
        "flow": job.flow,
        "role": job.role,
        "archived_count": messages.len(),
        "messages": messages,
    });
    let mut bytes = input.to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}

/// A message as a transcript has it, with as much of a result as is wished.
fn shown(message: &Message, wish: &CompactionWish) -> Value {
    let mut value = json!(message);
    if let (Message::ToolResult { content, .. }, Some(most)) = (message, wish.tool_output_max_chars)
    {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        if let Some(members) = value.as_object_mut() {
            members.insert("content".to_owned(), json!(shortened(content, most)));
        }
    }
    value
}

fn run(
    (spec, environment): (CommandSpec, InheritedVariables),
    job: &TurnJob,
    input: Vec<u8>,
    stop: &StopSignal,
) -> Result<String, String> {
    let mark = ProcessMark::new("A_SOCIETY_COMPACTION", format!("{}/{}", job.flow, job.turn));
    let launch = ProcessLaunch {
        run: spec.run.clone(),
        variables: environment.0,
        folder: job.project.clone(),
        mark,
    };
    let gated = Gated::spawn(&launch)?;
    let report = gated.run(input, spec.time_limit_ms, spec.output_limit_bytes, stop);
    let report = report.map_err(|why| format!("the command did not run: {why}"))?;
    let redactor = Redactor::new(&[]);
    printed(&spec, &report)
        .map(|text| redactor.redact(&text))
        .map_err(|why| redactor.redact(&why))
}

/// What the command printed, or why that is of no use.
fn printed(spec: &CommandSpec, report: &GateReport) -> Result<String, String> {
    let name = spec.run.first().map_or("the command", String::as_str);
    match report.cause {
        ExitCause::Exited(0) => {}
        ExitCause::Exited(code) => {
            let beside = bounded(report.stderr.trim(), ERROR_BYTES, "[...]");
            let beside = if beside.is_empty() {
                beside
            } else {
                format!(": {beside}")
            };
            return Err(format!("{name} failed with exit code {code}{beside}"));
        }
        ExitCause::Signalled(signal) => return Err(format!("{name} was ended by signal {signal}")),
        ExitCause::TimedOut => {
            let seconds = spec.time_limit_ms / 1_000;
            return Err(format!(
                "{name} took longer than {seconds} seconds and was ended"
            ));
        }
        ExitCause::Stopped => return Err("it was stopped".to_owned()),
    }
    if report.is_cut {
        let most = spec.output_limit_bytes;
        return Err(format!("{name} printed more than {most} bytes"));
    }
    let text = text_of(&report.stdout);
    if text.trim().is_empty() {
        return Err(format!("{name} printed nothing"));
    }
    Ok(text)
}

/// The text that a command printed, by itself or in JSON.
fn text_of(printed: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(printed) else {
        return printed.trim().to_owned();
    };
    let member = |name: &str| value.get(name).and_then(Value::as_str);
    match (&value, member("summary").or_else(|| member("text"))) {
        (_, Some(text)) => text.to_owned(),
        (Value::String(text), None) => text.clone(),
        (Value::Null, None) => String::new(),
        (_, None) => serde_json::to_string_pretty(&value).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use a_society_base::process::gate::{ExitCause, GateReport};

    use super::*;

    #[test]
    fn a_command_prints_text_or_json_with_a_summary() {
        let table = [
            ("Plain text.\n", "Plain text."),
            ("\"A string.\"\n", "A string."),
            (r#"{"summary":"One.","text":"Two."}"#, "One."),
            (r#"{"text":"Two."}"#, "Two."),
            ("null\n", ""),
            ("[1]", "[\n  1\n]"),
            ("{not json", "{not json"),
        ];
        for (printed, expected) in table {
            assert_eq!(text_of(printed), expected, "{printed}");
        }
    }

    #[test]
    fn a_command_that_fails_says_how() {
        let mut spec = CommandSpec::new(vec!["shrink".to_owned()]);
        (spec.time_limit_ms, spec.output_limit_bytes) = (5_000, 10);
        let report = |cause, stdout: &str, is_cut| GateReport {
            cause,
            stdout: stdout.to_owned(),
            stderr: "no such model\n".to_owned(),
            is_cut,
            survivors: Vec::new(),
        };
        let table = [
            (report(ExitCause::Exited(0), "ok", false), Ok("ok")),
            (
                report(ExitCause::Exited(0), " \n", false),
                Err("shrink printed nothing"),
            ),
            (
                report(ExitCause::Exited(0), "0123456789", true),
                Err("shrink printed more than 10 bytes"),
            ),
            (
                report(ExitCause::Exited(3), "ok", false),
                Err("shrink failed with exit code 3: no such model"),
            ),
            (
                report(ExitCause::Signalled(9), "ok", false),
                Err("shrink was ended by signal 9"),
            ),
            (
                report(ExitCause::TimedOut, "", false),
                Err("shrink took longer than 5 seconds and was ended"),
            ),
        ];
        for (report, expected) in table {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(printed(&spec, &report), expected);
        }
    }
}
