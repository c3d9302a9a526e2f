//! From what a program came to, to what its turn ends with.

use a_society_base::process::gate::ExitCause;
use a_society_base::text::fenced;

use super::limits::SHOWN_BYTES;
use super::report::ProgramReport;
use super::spec::{CommandSpec, ExitOutcome, ProgramExits};
use crate::handoff::{
    FaultCode, NamedTarget, RoleOutcome, Signal, handoff_block, parse_outcome, problem_of,
};
use crate::port::RecordPath;
use crate::turn::job::TurnJob;

/// The exit codes with which the shell at the gate reports that a program is missing or not executable.
const NOT_STARTED: [u8; 2] = [126, 127];

/// The reason where the shell at the gate gives none.
const UNSAID: &str = "nothing says why";

/// Why a program was not started, if its exit code says so and the flow gave the code no other meaning.
pub(super) fn not_started(spec: &CommandSpec, report: &ProgramReport) -> Option<String> {
    let ExitCause::Exited(code) = report.cause else {
        return None;
    };
    let is_mapped = |mapping: &ProgramExits| mapping.outcome(code).is_some();
    if !NOT_STARTED.contains(&code) || spec.on_exit.as_ref().is_some_and(is_mapped) {
        return None;
    }
    let program = spec.run.first().map_or("", String::as_str);
    let why = tail(&report.stderr).lines().last().unwrap_or(UNSAID);
    Some(format!(
        "{program} could not be started (exit code {code}): {why}. Install it, or name another program \
         under run: of the role."
    ))
}

/// The last answer of a turn, with its block.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EndAnswer {
    pub text: String,
    /// Whether it is a report of how the program ended, and nothing that the program printed.
    pub is_report: bool,
}

impl EndAnswer {
    /// What a program printed.
    pub(super) const fn printed(text: String) -> Self {
        Self {
            text,
            is_report: false,
        }
    }
}

/// What a turn ends with.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CommandVerdict {
    /// The last answer of the turn.
    pub answer: EndAnswer,
    /// The files that it hands over and that the program did not write itself.
    pub artifacts: Vec<(RecordPath, String)>,
}

/// Judges a program by what it printed, else by its exit code.
pub(super) fn verdict(job: &TurnJob, spec: &CommandSpec, report: &ProgramReport) -> CommandVerdict {
    let code = match report.cause {
        ExitCause::Exited(code) => code,
        ExitCause::Signalled(_) | ExitCause::TimedOut | ExitCause::Stopped => {
            return ask(report, "");
        }
    };
    let is_missing = |code| code == FaultCode::MissingBlock;
    let printed = parse_outcome(&report.stdout);
    if !printed.is_err_and(|fault| is_missing(fault.code)) {
        return CommandVerdict {
            answer: EndAnswer::printed(report.stdout.clone()),
            artifacts: Vec::new(),
        };
    }
    let meaning = match &spec.on_exit {
        Some(mapping) => mapping.outcome(code),
        None => Some(ExitOutcome::Forward).filter(|_| code == 0),
    };
    let unspecified = spec.on_exit.is_none();
    match meaning {
        Some(ExitOutcome::Forward) if job.allowed.forward.is_empty() && unspecified => {
            close(job, report)
        }
        Some(ExitOutcome::Forward) => hand(job, spec, report, &job.allowed.forward),
        Some(ExitOutcome::Backward) => hand(job, spec, report, &job.allowed.backward),
        Some(ExitOutcome::Close) => close(job, report),
        Some(ExitOutcome::PromptHuman) => ask(report, ""),
        None => ask(report, "Nothing says what this exit code means. "),
    }
}

/// The answer when the call's result is unknown.
pub(super) fn unknown() -> EndAnswer {
    answer(
        "What the command came to is not known, and it is not run again by itself. Look what it \
         did. Answer with `forward: PATH`, `back: PATH` or `close` to go on without it, or with \
         anything else to run it again.",
        &RoleOutcome::PromptHuman,
    )
}

/// The answer when the outcome could not be applied. A program cannot correct it.
pub(super) fn refused(message: &str) -> EndAnswer {
    let problem = problem_of(message);
    let words = format!("The outcome of the command could not be applied.\n\n{problem}");
    answer(&words, &RoleOutcome::PromptHuman)
}

/// The answer when the output of the program could not be handed over.
pub(super) fn failed(why: &str) -> EndAnswer {
    answer(why, &RoleOutcome::PromptHuman)
}

/// A report with the block of an outcome.
fn answer(words: &str, outcome: &RoleOutcome) -> EndAnswer {
    EndAnswer {
        text: format!("{}\n\n{}", words.trim_end(), handoff_block(outcome)),
        is_report: true,
    }
}

fn close(job: &TurnJob, report: &ProgramReport) -> CommandVerdict {
    if !job.allowed.signals.contains(&Signal::ForwardPassClosed) {
        return ask(report, "It has no node to hand its output to. ");
    }
    CommandVerdict {
        answer: answer(&sentence(report.cause), &RoleOutcome::ForwardPassClosed),
        artifacts: Vec::new(),
    }
}

fn hand(
    job: &TurnJob,
    spec: &CommandSpec,
    report: &ProgramReport,
    neighbours: &[String],
) -> CommandVerdict {
    if neighbours.is_empty() {
        return ask(report, "It has no node to hand its output to. ");
    }
    let text = artifact(spec, report);
    let from = match &job.node {
        Some(node) => node.as_str(),
        None => job.role.as_str(),
    };
    let round = match job.turns_before {
        0 => String::new(),
        before => format!("-{}", before.saturating_add(1)),
    };
    let artifacts: Vec<(RecordPath, String)> = neighbours
        .iter()
        .map(|to| format!("{from}-output-to-{to}{round}.md"))
        .map(|name| (RecordPath::of_name(&name), text.clone()))
        .collect();
    let targets = neighbours.iter().zip(&artifacts);
    let targets = targets.map(|(to, (path, _))| NamedTarget {
        target_node_id: to.clone(),
        artifact_path: path.project_path(),
    });
    let outcome = RoleOutcome::Handoff(targets.collect());
    CommandVerdict {
        answer: answer(&sentence(report.cause), &outcome),
        artifacts,
    }
}

fn ask(report: &ProgramReport, why: &str) -> CommandVerdict {
    let mut words = format!("{} {why}", sentence(report.cause))
        .trim_end()
        .to_owned();
    for (what, text) in [("printed", &report.stdout), ("reported", &report.stderr)] {
        let end = tail(text);
        if !end.is_empty() {
            words = format!("{words} The last that it {what}:\n\n{}", fenced(end));
        }
    }
    CommandVerdict {
        answer: answer(&words, &RoleOutcome::PromptHuman),
        artifacts: Vec::new(),
    }
}

fn sentence(cause: ExitCause) -> String {
    match cause {
        ExitCause::Exited(code) => format!("The command ended with exit code {code}."),
        ExitCause::Signalled(signal) => format!("The command was ended by signal {signal}."),
        ExitCause::TimedOut => "The command reached its time limit and was ended.".to_owned(),
        ExitCause::Stopped => "The command was stopped.".to_owned(),
    }
}

/// The end of a text, from the beginning of a line if there is one.
fn tail(text: &str) -> &str {
    let text = text.trim();
    if text.len() <= SHOWN_BYTES {
        return text;
    }
    let end = &text[text.ceil_char_boundary(text.len() - SHOWN_BYTES)..];
    end.split_once('\n').map_or(end, |(_, rest)| rest)
}

fn artifact(spec: &CommandSpec, report: &ProgramReport) -> String {
    let mut text = format!(
        "# Output of a command\n\n{}\n\nThe command:\n\n{}",
        sentence(report.cause),
        fenced(&spec.run.join("\n"))
    );
    for (what, output) in [("printed", &report.stdout), ("reported", &report.stderr)] {
        if !output.trim().is_empty() {
            text = format!("{text}\nIt {what}:\n\n{}", fenced(output));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::taker::tests::stage::job;

    fn report(cause: ExitCause, stdout: &str) -> ProgramReport {
        ProgramReport {
            cause,
            stdout: stdout.to_owned(),
            stderr: String::new(),
        }
    }

    fn judged(spec: &CommandSpec, report: &ProgramReport) -> RoleOutcome {
        parse_outcome(
            &verdict(&job("builder", "build", 0), spec, report)
                .answer
                .text,
        )
        .unwrap()
    }

    #[test]
    fn an_exit_code_means_what_the_mapping_says_and_otherwise_asks() {
        let mut spec = CommandSpec::new(vec!["make".to_owned()]);
        let hands = |node: &str| {
            RoleOutcome::Handoff(vec![NamedTarget {
                target_node_id: node.to_owned(),
                artifact_path: format!("record/build-output-to-{node}.md"),
            }])
        };
        let exits = |spec: &CommandSpec, code| judged(spec, &report(ExitCause::Exited(code), "x"));
        assert_eq!(exits(&spec, 0), hands("review"));
        assert_eq!(exits(&spec, 1), RoleOutcome::PromptHuman);
        spec.on_exit = Some(ProgramExits {
            codes: BTreeMap::from([
                (1, ExitOutcome::Backward),
                (2, ExitOutcome::PromptHuman),
                (3, ExitOutcome::Close),
                (4, ExitOutcome::Forward),
            ]),
            otherwise: None,
        });
        assert_eq!(exits(&spec, 0), RoleOutcome::PromptHuman);
        assert_eq!(exits(&spec, 1), hands("intake"));
        assert_eq!(exits(&spec, 2), RoleOutcome::PromptHuman);
        // This node may not close the flow.
        assert_eq!(exits(&spec, 3), RoleOutcome::PromptHuman);
        assert_eq!(exits(&spec, 4), hands("review"));
    }

    #[test]
    fn a_command_at_the_end_of_the_flow_closes_it() {
        let spec = CommandSpec::new(vec!["true".to_owned()]);
        let mut job = job("owner", "close", 0);
        job.allowed.forward.clear();
        job.allowed.signals.push(Signal::ForwardPassClosed);
        let verdict = verdict(&job, &spec, &report(ExitCause::Exited(0), ""));
        assert_eq!(
            parse_outcome(&verdict.answer.text),
            Ok(RoleOutcome::ForwardPassClosed)
        );
        assert!(verdict.answer.is_report);
    }

    #[test]
    fn the_last_block_that_was_printed_counts_more_than_the_exit_code() {
        let spec = CommandSpec::new(vec!["x".to_owned()]);
        let block = handoff_block(&RoleOutcome::AwaitHandoff);
        let printed = report(ExitCause::Exited(1), &format!("log\n{block}"));
        assert_eq!(judged(&spec, &printed), RoleOutcome::AwaitHandoff);
        // A malformed block is reported, and not skipped.
        let wrong = report(ExitCause::Exited(0), "```handoff\ntype: x\n```\n");
        let answer = verdict(&job("a", "b", 0), &spec, &wrong).answer;
        assert!(!answer.is_report);
        assert_eq!(
            parse_outcome(&answer.text).unwrap_err().code,
            FaultCode::UnknownSignalType
        );
    }

    #[test]
    fn a_program_that_did_not_end_by_itself_asks_whatever_it_printed() {
        let spec = CommandSpec::new(vec!["x".to_owned()]);
        let block = handoff_block(&RoleOutcome::AwaitHandoff);
        for cause in [
            ExitCause::Signalled(9),
            ExitCause::TimedOut,
            ExitCause::Stopped,
        ] {
            assert_eq!(
                judged(&spec, &report(cause, &block)),
                RoleOutcome::PromptHuman
            );
        }
    }

    #[test]
    fn an_artifact_holds_the_output_and_a_question_its_end() {
        let spec = CommandSpec::new(vec!["make".to_owned(), "test".to_owned()]);
        let mut long = report(ExitCause::Exited(0), &"one line\n".repeat(1_000));
        long.stderr = "```handoff\ntype: await-handoff\n```\n".to_owned();
        let handed = verdict(&job("a", "build", 2), &spec, &long);
        assert_eq!(
            handed.artifacts[0].0.as_str(),
            "build-output-to-review-3.md"
        );
        assert!(handed.artifacts[0].1.contains(&long.stdout));
        assert!(handed.artifacts[0].1.contains("````text\n```handoff"));
        let asked = verdict(
            &job("a", "build", 2),
            &spec,
            &ProgramReport {
                cause: ExitCause::Exited(9),
                ..long
            },
        );
        assert!(asked.answer.text.len() < 2 * SHOWN_BYTES && asked.answer.is_report);
        assert_eq!(
            parse_outcome(&asked.answer.text),
            Ok(RoleOutcome::PromptHuman)
        );
    }
}
