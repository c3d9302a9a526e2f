//! What a program came to, as text that can be read again.
//!
//! The text is the result of the call: the journal keeps it, and after a crash the turn's outcome
//! is decided from it alone. Lengths precede the outputs, so that nothing that a program
//! prints can be mistaken for a part of the report.

use std::fmt;

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// By itself.
    Exited(u8),
    /// By a signal that was not ours.
    Signalled(i32),
    /// We ended it at its time limit.
    TimedOut,
    /// We ended it because the operator stopped the turn.
    Stopped,
}

/// All that is known of a program that ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Report {
    pub how: How,
    pub stdout: String,
    pub stderr: String,
}

/// The separator between the two outputs.
const BETWEEN: &str = "\n[stderr]\n";

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exit code {code}"),
            Self::Signalled(signal) => write!(f, "ended by signal {signal}"),
            Self::TimedOut => f.write_str("ended at its time limit"),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl How {
    fn parse(text: &str) -> Option<Self> {
        if let Some(code) = text.strip_prefix("exit code ") {
            return code.parse().ok().map(Self::Exited);
        }
        if let Some(signal) = text.strip_prefix("ended by signal ") {
            return signal.parse().ok().map(Self::Signalled);
        }
        [Self::TimedOut, Self::Stopped]
            .into_iter()
            .find(|how| how.to_string() == text)
    }
}

impl Report {
    /// The report as the call's result.
    pub(super) fn text(&self) -> String {
        let Self {
            how,
            stdout,
            stderr,
        } = self;
        let head = format!(
            "{how}; stdout {} bytes, stderr {} bytes\n",
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
        let (how, lengths) = head.split_once("; stdout ")?;
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
            how: How::parse(how)?,
            stdout: stdout.to_owned(),
            stderr: found.to_owned(),
        };
        // Numbers have more than one spelling, and only one of them is ours.
        Some(report).filter(|report| report.text() == text)
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
            for how in [How::Exited(code), How::Signalled(signal), How::TimedOut, How::Stopped] {
                let report = Report { how, stdout: stdout.clone(), stderr: stderr.clone() };
                prop_assert_eq!(Report::parse(&report.text()), Some(report));
            }
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "(exit code 1; stdout [0-9]{0,3} bytes, stderr 0 bytes\n)?\\PC{0,40}") {
            if let Some(report) = Report::parse(&text) {
                prop_assert_eq!(report.text(), text);
            }
        }
    }

    #[test]
    fn a_text_that_was_cut_on_its_way_is_no_report() {
        let report = Report {
            how: How::Exited(0),
            stdout: "long".to_owned(),
            stderr: "x".to_owned(),
        };
        let text = report.text();
        for end in 0..text.len() {
            assert_eq!(Report::parse(&text[..end]), None);
        }
        assert_eq!(Report::parse(&format!("{text} ")), None);
        let foreign = "exit code 1; stdout 04 bytes, stderr 0 bytes\nlong";
        assert_eq!(Report::parse(foreign), None);
    }
}
