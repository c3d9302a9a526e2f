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
    /// The line at which it begins, counted from 1.
    pub first_line: Option<usize>,
    /// The lines that come and go, each with its number.
    pub lines: Vec<String>,
    /// The same with a few lines around, and a sign where lines between are left out.
    around: Vec<String>,
}

/// How many lines a change adds and removes.
#[derive(Debug, Clone, Copy, Default)]
pub(in super::super) struct LineCounts {
    pub added: usize,
    pub removed: usize,
}

/// So many lines around a change are shown to the operator.
const LINES_AROUND: usize = 3;

/// Lines that stay as they are and are left out.
const LEFT_OUT: &str = "⋮";

/// The difference between two texts.
pub(in super::super) fn difference(old: &str, new: &str) -> TextDifference {
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(DIFFERENCE_TIME)
        .diff_lines(old, new);
    let mut found = TextDifference {
        added: 0,
        removed: 0,
        first_line: None,
        lines: Vec::new(),
        around: Vec::new(),
    };
    for (number, group) in diff.grouped_ops(LINES_AROUND).iter().enumerate() {
        if number > 0 {
            found.around.push(LEFT_OUT.to_owned());
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (at, sign) = match change.tag() {
                ChangeTag::Equal => (change.new_index(), ' '),
                ChangeTag::Delete => (change.old_index(), '-'),
                ChangeTag::Insert => (change.new_index(), '+'),
            };
            let line = change.value().trim_end_matches(['\r', '\n']);
            let at = at.map_or(0, |at| at + 1);
            let line = format!("{at}\t{sign}{line}");
            match sign {
                '-' => found.removed += 1,
                '+' => found.added += 1,
                _ => {
                    found.around.push(line);
                    continue;
                }
            }
            found.first_line.get_or_insert(at);
            found.lines.push(line.clone());
            found.around.push(line);
        }
    }
    found
}

impl TextDifference {
    /// How many lines come and go.
    pub(in super::super) const fn counts(&self) -> LineCounts {
        LineCounts {
            added: self.added,
            removed: self.removed,
        }
    }

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

    /// The difference as the operator reads it before an answer: whole, with how much it replaces and the lines
    /// around, and without tabs, which would be shown as escapes.
    pub(in super::super) fn whole(&self) -> String {
        let lines = self.around.iter().map(|line| line.replacen('\t', " ", 1));
        let lines: Vec<String> = lines.collect();
        format!("{}\n{}", self.replaces(), lines.join("\n"))
    }

    fn replaces(&self) -> String {
        let lines = |number: usize| match number {
            1 => "1 line".to_owned(),
            number => format!("{number} lines"),
        };
        match (self.removed, self.added) {
            (0, added) => format!("adds {}", lines(added)),
            (removed, 0) => format!("removes {}", lines(removed)),
            (removed, added) => format!("replaces {} by {added}", lines(removed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operator_reads_how_much_is_replaced_and_three_lines_around() {
        let old: String = (1..=20).map(|number| format!("line {number}\n")).collect();
        let new = old.replace("line 5\n", "five\n").replace("line 18\n", "");
        let whole = difference(&old, &new).whole();
        assert_eq!(
            whole,
            "replaces 2 lines by 1\n\
             2  line 2\n3  line 3\n4  line 4\n5 -line 5\n5 +five\n6  line 6\n7  line 7\n8  line 8\n\
             ⋮\n\
             15  line 15\n16  line 16\n17  line 17\n18 -line 18\n18  line 19\n19  line 20"
        );
        assert_eq!(difference("", "a\nb\n").whole(), "adds 2 lines\n1 +a\n2 +b");
    }
}
