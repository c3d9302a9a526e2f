//! What a program came to, as text that can be read again.
//!
//! The text is the result of the call: the journal keeps it, and after a crash the turn's outcome
//! is decided from it alone. Lengths precede the outputs, so that nothing that a program
//! prints can be mistaken for a part of the report.

use a_society_base::process::gate::{ExitCause, GateReport};

/// All that is known of a program that ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProgramReport {
    pub cause: ExitCause,
    pub stdout: String,
    pub stderr: String,
}

/// The separator between the two outputs.
const BETWEEN: &str = "\n[stderr]\n";

fn cause_in_words(cause: ExitCause) -> String {
    match cause {
        ExitCause::Exited(code) => format!("exit code {code}"),
        ExitCause::Signalled(signal) => format!("ended by signal {signal}"),
        ExitCause::TimedOut => "ended at its time limit".to_owned(),
        ExitCause::Stopped => "stopped".to_owned(),
    }
}

fn cause_of(text: &str) -> Option<ExitCause> {
    if let Some(code) = text.strip_prefix("exit code ") {
        return code.parse().ok().map(ExitCause::Exited);
    }
    if let Some(signal) = text.strip_prefix("ended by signal ") {
        return signal.parse().ok().map(ExitCause::Signalled);
    }
    [ExitCause::TimedOut, ExitCause::Stopped]
        .into_iter()
        .find(|cause| cause_in_words(*cause) == text)
}

impl ProgramReport {
    /// The report as the call's result.
    pub(super) fn text(&self) -> String {
        let Self {
            cause,
            stdout,
            stderr,
        } = self;
        let head = format!(
            "{}; stdout {} bytes, stderr {} bytes\n",
            cause_in_words(*cause),
            stdout.len(),
            stderr.len()
        );
        if stderr.is_empty() {
            return head + stdout;
        }
        head + stdout + BETWEEN + stderr
    }

    /// Parses it. A text that was truncated or that was not written here gives nothing.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (head, body) = text.split_once('\n')?;
        let (cause, lengths) = head.split_once("; stdout ")?;
        let (stdout, stderr) = lengths
            .strip_suffix(" bytes")?
            .split_once(" bytes, stderr ")?;
        let (stdout, stderr): (usize, usize) = (stdout.parse().ok()?, stderr.parse().ok()?);
        let (stdout, rest) = body.split_at_checked(stdout)?;
        let found = if stderr == 0 {
            rest
        } else {
            rest.strip_prefix(BETWEEN)?
        };
        (found.len() == stderr).then_some(())?;
        let report = Self {
            cause: cause_of(cause)?,
            stdout: stdout.to_owned(),
            stderr: found.to_owned(),
        };
        // Numbers have more than one spelling, and only one of them is ours.
        Some(report).filter(|report| report.text() == text)
    }
}

impl From<GateReport> for ProgramReport {
    fn from(report: GateReport) -> Self {
        let mut stderr = report.stderr;
        if !report.survivors.is_empty() {
            let left = report.survivors;
            stderr = format!("{stderr}\n[processes that could not be ended: {left:?}]\n");
        }
        Self {
            cause: report.cause,
            stdout: report.stdout,
            stderr,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_report_is_read_back_whatever_the_program_printed(
            stdout in "(\\PC|\n|\\[stderr\\]\n){0,30}",
            stderr in "(\\PC|\n|\\[stderr\\]\n){0,30}",
            code in 0_u8..,
            signal in 1..64,
        ) {
            for cause in [ExitCause::Exited(code), ExitCause::Signalled(signal), ExitCause::TimedOut, ExitCause::Stopped] {
                let report = ProgramReport { cause, stdout: stdout.clone(), stderr: stderr.clone() };
                prop_assert_eq!(ProgramReport::parse(&report.text()), Some(report));
            }
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "(exit code 1; stdout [0-9]{0,3} bytes, stderr 0 bytes\n)?\\PC{0,40}") {
            if let Some(report) = ProgramReport::parse(&text) {
                prop_assert_eq!(report.text(), text);
            }
        }
    }

    #[test]
    fn a_text_that_was_cut_on_its_way_is_no_report() {
        let report = ProgramReport {
            cause: ExitCause::Exited(0),
            stdout: "long".to_owned(),
            stderr: "x".to_owned(),
        };
        let text = report.text();
        for end in 0..text.len() {
            assert_eq!(ProgramReport::parse(&text[..end]), None);
        }
        assert_eq!(ProgramReport::parse(&format!("{text} ")), None);
        let foreign = "exit code 1; stdout 04 bytes, stderr 0 bytes\nlong";
        assert_eq!(ProgramReport::parse(foreign), None);
    }
}
