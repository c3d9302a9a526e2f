//! The words of the page for what the state has as types.

use a_society_facts::At;
use a_society_facts::fact::budget::Measure;
use a_society_facts::fact::flow::PauseReason;
use a_society_facts::fact::operator::Grant;
use a_society_facts::handoff::Artifact;
use a_society_facts::view::flow::FlowPhase as Part;
use a_society_facts::words::calls;

use super::limits::{SAID_BEFORE_BYTES_MAX, SHORT_CHARS_MAX};
use crate::protocol::ask::ArtifactRef;
use crate::protocol::row::Phase;

/// A moment as the wire has it.
#[must_use]
pub(crate) fn at(at: At) -> String {
    String::from_utf8_lossy(&at.text()).into_owned()
}

/// How long something takes, in its greatest unit that is even.
pub(super) fn span(ms: u64) -> String {
    match ms {
        ms if ms > 0 && ms.is_multiple_of(3_600_000) => format!("{} h", ms / 3_600_000),
        ms if ms > 0 && ms.is_multiple_of(60_000) => format!("{} min", ms / 60_000),
        ms if ms.is_multiple_of(1_000) => format!("{} s", ms / 1_000),
        ms => format!("{ms} ms"),
    }
}

/// A moment that may be missing.
#[must_use]
pub(crate) fn maybe_at(moment: Option<At>) -> String {
    moment.map(at).unwrap_or_default()
}

pub(super) const fn phase(part: Part) -> Phase {
    match part {
        Part::Forward => Phase::Forward,
        Part::ImprovementChoice => Phase::ImprovementChoice,
        Part::Improving => Phase::Improving,
        Part::FeedbackConsent => Phase::FeedbackConsent,
        Part::Feedback => Phase::Feedback,
        Part::Completed => Phase::Completed,
        Part::Cancelled => Phase::Cancelled,
    }
}

/// What went wrong in a turn that failed, in plain words: the kind of failure that its request met, or the first line
/// of the reason without marks around names.
pub(super) fn failed(class: Option<&str>, why: &str) -> String {
    if let Some(known) = class.and_then(calls::failure) {
        return known.to_owned();
    }
    let why = &why.replace('`', "");
    let line = why.lines().find(|line| !line.trim().is_empty());
    beginning(line.unwrap_or_default().trim(), SAID_BEFORE_BYTES_MAX).to_owned()
}

pub(super) const fn pause(reason: PauseReason) -> &'static str {
    match reason {
        PauseReason::Operator => "operator",
        PauseReason::DiskFull => "disk-full",
        PauseReason::Budget => "budget",
        PauseReason::Irreversible => "irreversible",
    }
}

pub(super) const fn measure(measure: Measure) -> &'static str {
    match measure {
        Measure::Tokens => "tokens",
        Measure::CostMicros => "cost_micros",
        Measure::Turns => "turns",
        Measure::WallMs => "wall_ms",
    }
}

pub(super) fn grant(grant: &Grant) -> String {
    match grant {
        Grant::Edits => "edits of files".to_owned(),
        Grant::Command(command) => format!("exactly: {command}"),
        Grant::McpTool { tool, .. } => format!("the tool {tool}, as it is defined now"),
    }
}

/// An artifact as the wire names it.
#[must_use]
pub(crate) fn artifact(artifact: &Artifact) -> ArtifactRef {
    ArtifactRef {
        path: artifact.path.clone(),
        hash: artifact.hash.to_string(),
        bytes: artifact.bytes,
    }
}

/// The first line of a text, cut where it gets long.
#[must_use]
pub(crate) fn short(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty());
    let line = line.unwrap_or_default().trim();
    match line.char_indices().nth(SHORT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// A question in one line: as [`short`], and without the marks of its markdown.
#[must_use]
pub(crate) fn short_question(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty());
    let line = line.unwrap_or_default().trim_start_matches(['#', '>', ' ']);
    short(&line.replace("**", "").replace('`', ""))
}

/// The beginning of a text that is no longer than so many bytes and cuts no character.
#[must_use]
pub(crate) fn beginning(text: &str, bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes_max))
        .unwrap_or_default()
}

/// The beginning of a text for a reader: whole, or cut behind a word with a mark that there is more.
pub(crate) fn excerpt(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let kept = beginning(text, bytes_max);
    let rest = text.strip_prefix(kept).unwrap_or_default();
    let end = kept.rfind(char::is_whitespace);
    let words = match end.and_then(|at| kept.get(..at)) {
        Some(words) if !rest.starts_with(char::is_whitespace) => words,
        Some(_) | None => kept,
    };
    format!("{} …", words.trim_end())
}

#[cfg(test)]
mod tests {
    use a_society_facts::words::capital;

    use super::*;

    #[test]
    fn an_excerpt_is_whole_or_ends_behind_a_word_with_a_mark() {
        for (text, wanted) in [
            ("in the order", "in the order"),
            ("in the order in", "in the order …"),
            ("in the order\n\nof", "in the order …"),
            ("in the orders", "in the …"),
            ("in\n\n the\n", "in\n\n the\n"),
            ("unbroken-words", "unbroken-wor …"),
            ("台帳台帳台帳", "台帳台帳 …"),
        ] {
            assert_eq!(excerpt(text, 12), wanted, "{text:?}");
        }
    }

    #[test]
    fn a_question_is_one_line_without_marks() {
        for (text, wanted) in [
            ("\n## Should `it` **stay**?\n\nMore.", "Should it stay?"),
            ("2 * 3 * 4, or not?", "2 * 3 * 4, or not?"),
            ("", ""),
        ] {
            assert_eq!(short_question(text), wanted);
        }
    }

    #[test]
    fn a_failure_is_named_by_its_class_and_by_nothing_in_its_message() {
        for (class, why, wanted) in [
            (
                Some("stream_cut"),
                "the stream broke off before the answer was whole",
                "The model's answer was cut off",
            ),
            (
                Some("rate_limit"),
                "key: 429",
                "The provider's limit was reached",
            ),
            (
                Some("odd_kind"),
                "something broke\nmore of it",
                "Something broke",
            ),
            (
                None,
                "rate_limit: overloaded: 429",
                "Rate_limit: overloaded: 429",
            ),
            (
                None,
                "the same call of write_file had the same result 5 times in this turn, and the role does not get on",
                "The same call of write_file had the same result 5 times in this turn, and the role does not get on",
            ),
            (
                None,
                "it called 40 tools: too many",
                "It called 40 tools: too many",
            ),
            (
                None,
                "`second` is no neighbour; forward to `first`",
                "Second is no neighbour; forward to first",
            ),
            (None, "", ""),
        ] {
            assert_eq!(capital(&failed(class, why)), wanted, "{why}");
        }
    }
}
