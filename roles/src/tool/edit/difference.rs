//! The difference between two texts, as a model and the operator read it.

use std::fmt::Write as _;

use similar::{Algorithm, ChangeTag, TextDiff};

use super::super::limits::DIFFERENCE_TIME;

/// A difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct TextDifference {
    /// How many lines come.
    pub added: usize,
    /// How many go.
    pub removed: usize,
    /// The lines that come and go, each with its number.
    pub lines: Vec<String>,
}

/// The difference between two texts.
pub(in super::super) fn difference(old: &str, new: &str) -> TextDifference {
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(DIFFERENCE_TIME)
        .diff_lines(old, new);
    let mut found = TextDifference {
        added: 0,
        removed: 0,
        lines: Vec::new(),
    };
    for change in diff.iter_all_changes() {
        let (number, sign) = match change.tag() {
            ChangeTag::Equal => continue,
            ChangeTag::Delete => {
                found.removed += 1;
                (change.old_index(), '-')
            }
            ChangeTag::Insert => {
                found.added += 1;
                (change.new_index(), '+')
            }
        };
        let line = change.value().trim_end_matches(['\r', '\n']);
        let number = number.map_or(0, |at| at + 1);
        found.lines.push(format!("{number}\t{sign}{line}"));
    }
    found
}

impl TextDifference {
    /// The first of its lines, and how many are left out.
    pub(in super::super) fn shown(&self, at_most: usize) -> String {
        let mut out = String::new();
        for line in self.lines.iter().take(at_most) {
            out.push_str(line);
            out.push('\n');
        }
        if let Some(more) = self
            .lines
            .len()
            .checked_sub(at_most)
            .filter(|more| *more > 0)
        {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "[{more} more changed lines]");
        }
        out
    }

    /// The difference as the operator reads it before an answer: whole, and without tabs, which would
    /// be shown as escapes.
    pub(in super::super) fn whole(&self) -> String {
        let lines = self.lines.iter().map(|line| line.replacen('\t', " ", 1));
        let lines: Vec<String> = lines.collect();
        lines.join("\n")
    }
}
