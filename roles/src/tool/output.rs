//! How much of an output a model gets, and how the omission is marked.

use std::path::PathBuf;

use a_society_facts::Hash;
use a_society_facts::fact::turn::CommandExit;
use a_society_facts::message::Image;

use crate::number::grouped;

/// What a call produced, before it is bounded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ToolOutput {
    /// Files that are shown, or made, as they are now.
    pub seen: Vec<ShownFile>,
    /// What precedes the text; never cut.
    pub head: String,
    /// The text.
    pub body: String,
    /// The image that a model gets with the text.
    pub image: Option<Box<Image>>,
    /// How a command ended that nothing of ours ended.
    pub exit: Option<CommandExit>,
    /// Which part of the text a model gets when it is too long.
    pub keeps: Keeps,
    /// How long the text was, if a part of it was dropped while it arrived.
    pub full: Option<Length>,
    /// Whether something was left out of the text already.
    pub is_cut: bool,
    /// What follows it; never cut.
    pub tail: String,
}

/// A file that is shown, or made, as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShownFile {
    /// Its path, without links.
    pub real: PathBuf,
    /// Its hash.
    pub hash: Hash,
}

/// Which part of a text a model gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Keeps {
    /// Its beginning.
    #[default]
    Beginning,
    /// A little of its beginning and more of its end, where commands say what failed.
    Ends,
}

/// How long a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Length {
    pub bytes: u64,
    pub lines: u64,
}

/// The parts of a text that are within its bounds, and how much is missing between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CutText<'a> {
    pub head: &'a str,
    pub tail: &'a str,
    pub missing: Length,
}

impl ToolOutput {
    /// A text about a call.
    pub(super) fn of(body: impl Into<String>) -> Self {
        Self {
            body: body.into(),
            ..Self::default()
        }
    }
}

impl Length {
    /// How long this text is.
    pub(super) fn of(text: &str) -> Self {
        Self {
            bytes: text.len() as u64,
            lines: text.lines().count() as u64,
        }
    }
}

impl CutText<'_> {
    /// The text within its bounds. `kept` says where the whole of it is, if it could be kept.
    pub(super) fn told(&self, kept: Option<&str>) -> String {
        let (bytes, lines) = (grouped(self.missing.bytes), grouped(self.missing.lines));
        let kept = kept.unwrap_or("it could not be kept");
        let gap = if self.head.is_empty() || self.head.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        let (head, tail) = (self.head, self.tail);
        format!("{head}{gap}[... {bytes} bytes in {lines} lines left out; {kept} ...]\n{tail}")
    }
}

/// How many tenths of an output's bound are for its beginning.
const fn head_parts(keeps: Keeps) -> usize {
    match keeps {
        Keeps::Beginning => 10,
        Keeps::Ends => 3,
    }
}

/// Cuts a text that is too long; nothing if it is not.
pub(super) fn bound(
    text: &str,
    max_bytes: usize,
    max_lines: usize,
    keeps: Keeps,
) -> Option<CutText<'_>> {
    let all = Length::of(text);
    if text.len() <= max_bytes && all.lines <= max_lines as u64 {
        return None;
    }
    let parts = head_parts(keeps);
    let (head_bytes, head_lines) = (max_bytes * parts / 10, (max_lines * parts / 10).max(1));
    let head = text.match_indices('\n').nth(head_lines - 1);
    let head = head.map_or(text.len(), |(at, _)| at + 1).min(head_bytes);
    let head = text.get(..floor(text, head)).unwrap_or_default();
    let without_end = text.strip_suffix('\n').unwrap_or(text);
    let tail_lines = max_lines.saturating_sub(head_lines);
    let tail = match tail_lines {
        0 => text.len(),
        some => (without_end.rmatch_indices('\n').nth(some - 1)).map_or(0, |(at, _)| at + 1),
    };
    let tail = tail.max(text.len().saturating_sub(max_bytes - head_bytes));
    let tail = text
        .get(ceiling(text, tail.max(head.len()))..)
        .unwrap_or_default();
    let middle = text
        .get(head.len()..text.len() - tail.len())
        .unwrap_or_default();
    let missing = Length::of(middle);
    Some(CutText {
        head,
        tail,
        missing,
    })
}

/// The last place at or before this one where a character begins.
pub(super) fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The first place at or behind this one where a character begins.
pub(super) fn ceiling(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_within_its_bounds_is_left_alone() {
        assert_eq!(bound("a\nb\n", 4, 2, Keeps::Ends), None);
    }

    #[test]
    fn a_command_keeps_more_of_its_end_and_everything_else_its_beginning() {
        let lines: String = (1..=100).map(|n| format!("{n}\n")).collect();
        let told = |text: &str, (bytes, lines), keeps| {
            bound(text, bytes, lines, keeps)
                .unwrap()
                .told(Some("all of it: record/.outputs/c17.txt"))
        };
        assert_eq!(
            told(&lines, (10_000, 10), Keeps::Ends),
            "1\n2\n3\n[... 264 bytes in 90 lines left out; all of it: record/.outputs/c17.txt ...]\n\
             94\n95\n96\n97\n98\n99\n100\n"
        );
        assert_eq!(
            told(&lines, (10_000, 3), Keeps::Beginning),
            "1\n2\n3\n[... 286 bytes in 97 lines left out; all of it: record/.outputs/c17.txt ...]\n"
        );
        let wide = "ä".repeat(100);
        assert_eq!(
            bound(&wide, 20, 10, Keeps::Ends).unwrap().told(None),
            format!(
                "{}\n[... 180 bytes in 1 lines left out; it could not be kept ...]\n{}",
                "ä".repeat(3),
                "ä".repeat(7)
            )
        );
    }

    proptest! {
        #[test]
        fn beginning_and_end_are_kept_and_nothing_is_said_twice(
            text in "[aä\n]{0,200}", bytes in 10_usize..100, lines in 10_usize..40, ends in any::<bool>(),
        ) {
            let keeps = if ends { Keeps::Ends } else { Keeps::Beginning };
            let is_long = text.len() > bytes || text.lines().count() > lines;
            let cut = bound(&text, bytes, lines, keeps);
            prop_assert_eq!(cut.is_some(), is_long);
            if let Some(cut) = cut {
                prop_assert!(text.starts_with(cut.head) && text.ends_with(cut.tail));
                let missing = usize::try_from(cut.missing.bytes).unwrap();
                prop_assert_eq!(cut.head.len() + missing + cut.tail.len(), text.len());
                prop_assert!(cut.head.len() + cut.tail.len() <= bytes);
                prop_assert!(cut.head.lines().count() + cut.tail.lines().count() <= lines + 1);
                prop_assert!(ends || cut.tail.is_empty());
            }
        }
    }
}
