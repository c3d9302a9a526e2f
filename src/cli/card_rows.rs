//! A question at the cursor as rows of a terminal. Pure.
//!
//! What a role wrote bears a bar on every row, and the rest of a line that is wider than the screen another one, so
//! that nothing in a command can pass for a fact of this program, which bears none. Commands, differences and files
//! keep all of their white space; prose breaks at words.

use a_society_operator_ui::protocol::ask::Fact;

use super::asks::{QUESTION_COLUMNS_MAX, is_cut, shown_lines};
use crate::paint::Paint;
use crate::text::{chopped, exact, printed_exact, width, wrapped};

/// What begins a line of a role, and a row with the rest of one.
const BAR: &str = "│ ";
const REST: &str = "┊ ";

/// Words are read on the screen, not decided by its size; longer ones are in the feed.
pub(crate) const PROSE_LINES_MAX: usize = 400;

/// How a text of a role is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// With its white space; a row ends where the screen does.
    Exact,
    /// Broken at words.
    Prose,
}

/// What a card shows.
#[derive(Debug, Clone)]
pub(crate) struct Face {
    /// Who asks for what.
    pub(crate) head: String,
    /// Which one it is of those that wait, and how many these are.
    pub(crate) place: (usize, usize),
    /// What the role wrote.
    pub(crate) text: Option<(Manner, String)>,
    /// At most so many lines of it are shown.
    pub(crate) lines_max: usize,
    /// What matters for the decision.
    pub(crate) facts: Vec<Fact>,
    /// What an answer for the whole flow covers.
    pub(crate) covers: Option<String>,
    /// What works once all of the text was shown, such as `y and f`.
    pub(crate) then: Option<&'static str>,
}

/// A card as it is drawn in the place of the nodes.
#[derive(Debug, Clone)]
pub(crate) struct CardFace {
    /// Lines above it, such as why it is asked again.
    pub(crate) before: Vec<String>,
    pub(crate) face: Face,
    /// Lines below it, such as commands that do something else.
    pub(crate) after: Vec<String>,
}

impl CardFace {
    /// The rows on a screen of so many columns.
    pub(crate) fn rows(&self, paint: &Paint, columns: usize) -> Vec<String> {
        let room = columns.saturating_sub(1).max(1);
        let before = self.before.iter().flat_map(|line| wrapped(line, room));
        let after = self.after.iter().flat_map(|line| wrapped(line, room));
        let card = self.face.rows(paint, columns);
        before.chain(card).chain(after).collect()
    }

    /// Whether it stays among the finished lines once it is answered: what a role asked is read again, while a call
    /// and a handoff have a line of their own that says what was decided.
    pub(crate) const fn is_kept(&self) -> bool {
        matches!(self.face.text, Some((Manner::Prose, _)))
    }
}

impl Face {
    /// The rows on a screen of so many columns.
    pub(crate) fn rows(&self, paint: &Paint, columns: usize) -> Vec<String> {
        let columns = columns.saturating_sub(1).max(width(BAR) + 1);
        let mut rows: Vec<String> = self
            .head(columns)
            .iter()
            .map(|row| paint.yellow(row))
            .collect();
        if let Some((manner, text)) = &self.text {
            rows.extend(self.text_rows(*manner, text, columns));
        }
        let labels = self.facts.iter().map(|fact| width(&fact.label));
        let covers = self.covers.iter().map(|_| width(COVERS));
        let wide = labels.chain(covers).max().unwrap_or(0);
        for fact in &self.facts {
            let fact_rows = fact_rows((&fact.label, &fact.value), wide, columns);
            rows.extend(fact_rows.into_iter().map(|row| match fact.warn {
                true => paint.yellow(&row),
                false => row,
            }));
        }
        if let Some(covers) = &self.covers {
            rows.extend(fact_rows((COVERS, covers), wide, columns));
        }
        rows
    }

    /// The same as labelled lines, for a reader that reads the screen aloud: each line of a role bears its label.
    pub(crate) fn spoken(&self, label: &str) -> Vec<String> {
        let (at, of) = self.place;
        let place = if of > 1 {
            format!(" ({at} of {of})")
        } else {
            String::new()
        };
        let mut lines = vec![format!("{label}: {}{place}", exact(&self.head))];
        if let Some((manner, text)) = &self.text {
            let label = match manner {
                Manner::Exact => "text",
                Manner::Prose => "it says",
            };
            let columns_max = match manner {
                Manner::Exact => QUESTION_COLUMNS_MAX,
                Manner::Prose => usize::MAX,
            };
            let (shown, all) = shown_lines(text, (self.lines_max, columns_max));
            lines.extend(
                shown
                    .iter()
                    .map(|line| format!("{label}: {}", printed_exact(line))),
            );
            if all > shown.len() {
                lines.push(format!(
                    "{} of {all} lines shown; type more for all of it",
                    shown.len()
                ));
            }
        }
        let facts = self.facts.iter();
        lines.extend(facts.map(|fact| format!("{}: {}", exact(&fact.label), exact(&fact.value))));
        lines
    }

    fn head(&self, columns: usize) -> Vec<String> {
        let head = format!("◆ {}", exact(&self.head));
        let mut rows = wrapped(&head, columns);
        let (at, of) = self.place;
        if of > 1
            && let Some(last) = rows.last_mut()
        {
            let place = format!("{at} of {of}");
            let taken = width(last) + width(&place);
            if taken + 2 <= columns {
                last.push_str(&" ".repeat(columns - taken));
                last.push_str(&place);
            } else {
                rows.push(place);
            }
        }
        rows
    }

    fn text_rows(&self, manner: Manner, text: &str, columns: usize) -> Vec<String> {
        let columns_max = match manner {
            Manner::Exact => QUESTION_COLUMNS_MAX,
            Manner::Prose => usize::MAX,
        };
        let (lines, all) = shown_lines(text, (self.lines_max, columns_max));
        let room = columns - width(BAR);
        let mut rows = Vec::new();
        for line in &lines {
            let line = printed_exact(line);
            let pieces = match manner {
                Manner::Exact => chopped(&line, room),
                Manner::Prose => wrapped(&line, room),
            };
            let bars = std::iter::once(BAR).chain(std::iter::repeat(match manner {
                Manner::Exact => REST,
                Manner::Prose => BAR,
            }));
            rows.extend(bars.zip(pieces).map(|(bar, piece)| format!("{bar}{piece}")));
        }
        let is_left_out = all > lines.len() || (manner == Manner::Exact && is_cut(text));
        if is_left_out {
            let then = match self.then {
                Some(then) => format!(", then {then} work"),
                None => String::new(),
            };
            let says = format!(
                "{} of {all} lines shown; v shows all of it{then}",
                lines.len()
            );
            rows.extend(wrapped(&says, columns));
        }
        rows
    }
}

/// The label of what an answer for the whole flow covers.
const COVERS: &str = "f covers";

/// A fact, its value under itself where it takes several rows.
fn fact_rows((label, value): (&str, &str), wide: usize, columns: usize) -> Vec<String> {
    let before = wide + 4;
    let (label, value) = (exact(label), exact(value));
    // A screen that is hardly wider than the labels has the values below them.
    if columns < before + wide {
        let rows = wrapped(
            &format!("{label}: {value}"),
            columns.saturating_sub(2).max(1),
        );
        return rows.iter().map(|row| format!("  {row}")).collect();
    }
    let missing = " ".repeat(wide.saturating_sub(width(&label)));
    let rows = wrapped(&value, columns - before).into_iter();
    rows.enumerate()
        .map(|(number, row)| match number {
            0 => format!("  {label}{missing}  {row}"),
            _ => format!("{}{row}", " ".repeat(before)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(label: &str, value: &str, warn: bool) -> Fact {
        let (label, value) = (label.to_owned(), value.to_owned());
        Fact { label, value, warn }
    }

    fn consent(command: &str) -> Face {
        Face {
            head: "backend (writer) wants to run a command".to_owned(),
            place: (1, 2),
            text: Some((Manner::Exact, command.to_owned())),
            lines_max: 24,
            facts: vec![
                fact("Directory", "The project folder", false),
                fact("Network", "Off", false),
                fact(
                    "Writes",
                    "Not held back: without spaces of its own, Landlock: this kernel has none",
                    true,
                ),
            ],
            covers: Some(
                "This exact command, in this folder and sandbox, for any role in this flow"
                    .to_owned(),
            ),
            then: Some("y and f"),
        }
    }

    fn shown(face: &Face) -> String {
        let each = [40, 80, 110, 200].map(|columns| {
            let rows = face.rows(&Paint::new(false), columns);
            assert!(rows.iter().all(|row| width(row) < columns), "{rows:#?}");
            // The end of each row can be seen.
            format!("{columns} columns\n{}¦", rows.join("¦\n"))
        });
        each.join("\n\n")
    }

    #[test]
    fn a_command_keeps_its_white_space_and_no_row_of_it_can_pass_for_a_fact() {
        let blanks = " ".repeat(60);
        let command = format!(
            "cargo test -p post && \\\n    cp 台帳.txt '👩‍👧 x'{blanks}\n  Network    On for this command"
        );
        insta::assert_snapshot!(shown(&consent(&command)));
    }

    #[test]
    fn whatever_a_command_says_each_of_its_rows_bears_a_bar() {
        let hostile = format!(
            "echo{}Network    On{}Writes   x",
            " ".repeat(74),
            " ".repeat(71)
        );
        for columns in 20..120 {
            let face = consent(&hostile);
            let rows = face.rows(&Paint::new(false), columns);
            let said = rows
                .iter()
                .filter(|row| row.contains("On") || row.contains("Writes   x"));
            for row in said {
                assert!(row.starts_with(BAR) || row.starts_with(REST), "{rows:#?}");
            }
        }
    }

    #[test]
    fn what_was_left_out_is_counted() {
        let text: Vec<String> = (1..=74).map(|number| format!("Step {number}.")).collect();
        let rows = consent(&text.join("\n")).rows(&Paint::new(false), 80);
        let counted = "24 of 74 lines shown; v shows all of it, then y and f work";
        assert!(rows.iter().any(|row| row == counted), "{rows:#?}");
    }

    #[test]
    fn words_of_a_role_break_at_words() {
        let face = Face {
            head: "review (editor) asks".to_owned(),
            place: (1, 1),
            text: Some((
                Manner::Prose,
                "Which of the two totals is right: the lines (4,310.07) or the bank (4,310.06)?"
                    .to_owned(),
            )),
            lines_max: PROSE_LINES_MAX,
            facts: Vec::new(),
            covers: None,
            then: None,
        };
        insta::assert_snapshot!(shown(&face));
    }
}
