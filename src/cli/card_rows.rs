//! A question at the cursor as rows of a terminal. Pure.
//!
//! What a role wrote bears a bar on every row, and the rest of a line that is wider than the screen another one, so
//! that nothing in a command can pass for a fact of this program, which bears none. Commands, differences and files
//! keep all of their white space; prose breaks at words.

use std::borrow::Cow;

use a_society_facts::words::permissions::{F_COVERS, card_row};
use a_society_operator_ui::fold::terms::{NO_PERMISSION, is_sentence};
use a_society_operator_ui::protocol::ask::Fact;

use super::asks::{QUESTION_COLUMNS_MAX, shown_lines};
use crate::paint::Paint;
use crate::text::{chopped, exact, printed_exact, tabbed, uncapital, width, wrapped};

/// What begins a line of a role, and a row with the rest of one.
pub(crate) const BAR: &str = "│ ";
pub(crate) const REST: &str = "┊ ";

/// Words are read on the screen, not decided by its size; longer ones are in the feed.
pub(crate) const PROSE_LINES_MAX: usize = 400;

/// So many rows of a text are shown on a small screen, and fewer facts instead.
const TEXT_ROWS_MIN: usize = 2;

/// With fewer rows a card is its first one.
const ROWS_MIN: usize = 4;

/// How a text of a role is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// With its white space; a row ends where the screen does.
    Exact,
    /// Broken at words.
    Prose,
}

/// Which one it is of those that wait, counted from 1, and how many these are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CardPlace {
    pub(crate) number: usize,
    pub(crate) of: usize,
}

/// What a card shows.
#[derive(Debug, Clone)]
pub(crate) struct Face {
    /// Who asks for what.
    pub(crate) head: String,
    /// Its place among those that wait.
    pub(crate) place: CardPlace,
    /// What the role wrote.
    pub(crate) text: Option<(Manner, String)>,
    /// Where it is read aloud, at most so many lines of it are.
    pub(crate) lines_max: usize,
    /// What matters for the decision.
    pub(crate) facts: Vec<Fact>,
    /// What an answer for the whole flow covers.
    pub(crate) covers: Option<String>,
    /// The key that shows all of the text.
    pub(crate) key: &'static str,
    /// What works once all of the text was shown, such as `y and f work`.
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

/// A card in so many rows as it was given.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FittedCard {
    pub(crate) rows: Vec<String>,
    /// Whether nothing of it is left out.
    pub(crate) is_whole: bool,
}

impl CardFace {
    /// The card on a screen of so many columns, in at most so many rows.
    pub(crate) fn fitted(&self, paint: &Paint, columns: usize, rows_max: usize) -> FittedCard {
        let room = columns.saturating_sub(1).max(1);
        let rows_of = |lines: &[String]| {
            let rows = lines.iter().flat_map(|line| wrapped(line, room));
            rows.collect::<Vec<String>>()
        };
        let (before, after) = (rows_of(&self.before), rows_of(&self.after));
        let left = rows_max.saturating_sub(before.len() + after.len());
        let card = self.face.fitted(paint, columns, left);
        FittedCard {
            rows: before.into_iter().chain(card.rows).chain(after).collect(),
            is_whole: card.is_whole,
        }
    }

    /// Whether it stays among the finished lines once it is answered: what a role asked is read again, while a call
    /// and a handoff have a line of their own that says what was decided.
    pub(crate) const fn is_kept(&self) -> bool {
        matches!(self.face.text, Some((Manner::Prose, _)))
    }
}

impl Face {
    /// The card on a screen of so many columns, in at most so many rows. What is left out is counted, and the facts are
    /// the last that go.
    pub(crate) fn fitted(&self, paint: &Paint, columns: usize, rows_max: usize) -> FittedCard {
        let columns = columns.saturating_sub(1).max(width(BAR) + 1);
        let head = self.head(columns);
        let facts = self.fact_rows(paint, columns);
        let room = rows_max.saturating_sub(head.len() + facts.len());
        let (text, lines, all) = self.text_rows(columns, room);
        let mut rows: Vec<String> = head.iter().map(|row| paint.yellow(row)).collect();
        if lines == all && head.len() + text.len() + facts.len() <= rows_max {
            rows.extend(text.into_iter().chain(facts));
            return FittedCard {
                rows,
                is_whole: true,
            };
        }
        if rows_max < ROWS_MIN {
            rows.truncate(1);
            return FittedCard {
                rows,
                is_whole: false,
            };
        }
        let counted = |lines: usize| {
            let then = (self.then).map_or_else(String::new, |then| format!(", then {then}"));
            let says = format!(
                "{lines} of {all} lines shown; {} shows the rest{then}",
                self.key
            );
            let rows = wrapped(&says, columns.saturating_sub(2).max(1)).into_iter();
            rows.map(|row| format!("  {row}")).collect::<Vec<String>>()
        };
        let room = room.saturating_sub(counted(all).len()).max(TEXT_ROWS_MIN);
        let (text, lines, _) = self.text_rows(columns, room);
        let counted = counted(lines);
        let left = rows_max.saturating_sub(rows.len() + text.len() + counted.len());
        rows.extend(text);
        rows.extend(facts.into_iter().take(left));
        rows.extend(counted);
        FittedCard {
            rows,
            is_whole: false,
        }
    }

    /// The same as labelled lines, for a reader that reads the screen aloud: each line of a role bears its label.
    pub(crate) fn spoken(&self, label: &str) -> Vec<String> {
        let CardPlace { number, of } = self.place;
        let place = if of > 1 {
            format!(" ({number} of {of})")
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
            let (shown, all) = shown_lines(text, self.lines_max, columns_max);
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
        lines.extend(self.fact_lines());
        lines
    }

    /// What matters for the decision, a line each.
    pub(crate) fn fact_lines(&self) -> Vec<String> {
        let labelled = self.labelled().into_iter();
        let line = |(label, value, _): (String, String, bool)| format!("{label}: {value}");
        labelled.map(line).collect()
    }

    /// The facts and what an answer for the flow covers, as the terminal calls them; whether each is a warning.
    fn labelled(&self) -> Vec<(String, String, bool)> {
        let facts = self.facts.iter().filter_map(|fact| {
            let (label, value) = labelled(fact)?;
            Some((label, value, fact.warn))
        });
        let covers = self.covers.as_deref().map(|covers| {
            let covers = uncapital(&exact(covers));
            (F_COVERS.to_owned(), covers, false)
        });
        facts.chain(covers).collect()
    }

    fn fact_rows(&self, paint: &Paint, columns: usize) -> Vec<String> {
        let labelled = self.labelled();
        let wide = labelled.iter().map(|(label, ..)| width(label)).max();
        let wide = wide.unwrap_or(0);
        let rows = labelled.iter().flat_map(|(label, value, warn)| {
            let rows = fact_rows(label, value, wide, columns).into_iter();
            rows.map(|row| if *warn { paint.yellow(&row) } else { row })
        });
        rows.collect()
    }

    fn head(&self, columns: usize) -> Vec<String> {
        let head = format!("◆ {}", exact(&self.head));
        let mut rows = wrapped(&head, columns);
        let CardPlace { number, of } = self.place;
        if of > 1
            && let Some(last) = rows.last_mut()
        {
            let place = format!("{number} of {of}");
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

    /// The text in at most so many rows, how many of its lines are whole in them, and how many there are.
    fn text_rows(&self, columns: usize, rows_max: usize) -> (Vec<String>, usize, usize) {
        let Some((manner, text)) = &self.text else {
            return (Vec::new(), 0, 0);
        };
        let text = match manner {
            Manner::Exact => Cow::Borrowed(text.as_str()),
            Manner::Prose => without_fences(text),
        };
        let room = columns - width(BAR);
        // A sign takes at least one column, but for marks above a letter; no more is looked at than can be shown.
        let letters_max = rows_max.saturating_add(1).saturating_mul(room * 4);
        let (mut rows, mut whole) = (Vec::new(), 0);
        for line in text.lines() {
            let end = line.char_indices().nth(letters_max);
            let line = end.map_or(line, |(end, _)| &line[..end]);
            let (pieces, rest) = match manner {
                Manner::Exact => (chopped(&tabbed(line, '→'), room), REST),
                Manner::Prose => (wrapped(&printed_exact(line), room), BAR),
            };
            let left = rows_max.saturating_sub(rows.len());
            let is_whole = pieces.len() <= left && end.is_none();
            let bars = std::iter::once(BAR).chain(std::iter::repeat(rest));
            let pieces = bars.zip(pieces).take(left);
            rows.extend(pieces.map(|(bar, piece)| format!("{bar}{piece}")));
            if !is_whole {
                break;
            }
            whole += 1;
        }
        (rows, whole, text.lines().count())
    }
}

/// Prose without the lines that begin and end code in it: the bar is a border already.
fn without_fences(text: &str) -> Cow<'_, str> {
    let is_fence = |line: &str| line.trim_start().starts_with("```");
    if !text.lines().any(is_fence) {
        return Cow::Borrowed(text);
    }
    let mut after_fence = false;
    let lines = text.lines().filter_map(|line| {
        let is_fence = is_fence(line);
        // What goes on behind code does so on a line of its own.
        let line = if std::mem::replace(&mut after_fence, is_fence) {
            line.strip_prefix(' ').unwrap_or(line)
        } else {
            line
        };
        (!is_fence).then_some(line)
    });
    Cow::Owned(lines.collect::<Vec<&str>>().join("\n"))
}

/// A fact as the terminal calls it; nothing for one that says nothing.
pub(crate) fn labelled(fact: &Fact) -> Option<(String, String)> {
    if fact.value == NO_PERMISSION {
        return None;
    }
    let value = exact(&fact.value);
    let value = if is_sentence(fact) {
        uncapital(&value)
    } else {
        value.into_owned()
    };
    let label = card_row(&fact.label).unwrap_or(&fact.label);
    Some((exact(label).into_owned(), value))
}

/// A fact, its value under itself where it takes several rows.
fn fact_rows(label: &str, value: &str, wide: usize, columns: usize) -> Vec<String> {
    let before = wide + 4;
    // A screen that is hardly wider than the labels has the values below them.
    if columns < before + wide {
        let rows = wrapped(
            &format!("{label}: {value}"),
            columns.saturating_sub(2).max(1),
        );
        return rows.iter().map(|row| format!("  {row}")).collect();
    }
    let missing = " ".repeat(wide.saturating_sub(width(label)));
    let rows = wrapped(value, columns - before).into_iter();
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
            place: CardPlace { number: 1, of: 2 },
            text: Some((Manner::Exact, command.to_owned())),
            lines_max: 24,
            facts: vec![
                fact("Directory", "~/code/Ledger", false),
                fact("Network", "Off", false),
                fact(
                    "Writes",
                    "Not held back: without spaces of its own, Landlock: this kernel has none",
                    true,
                ),
                fact("Existing permission", "None", false),
            ],
            covers: Some(
                "This exact command, in this folder and sandbox, for any role in this flow"
                    .to_owned(),
            ),
            key: "v",
            then: Some("y and f work"),
        }
    }

    fn fitted(face: &Face, columns: usize, rows_max: usize) -> FittedCard {
        face.fitted(&Paint::new(false), columns, rows_max)
    }

    fn shown(face: &Face) -> String {
        let each = [40, 80, 110, 200].map(|columns| {
            let FittedCard { rows, is_whole } = fitted(face, columns, 40);
            assert!(
                is_whole && rows.iter().all(|row| width(row) < columns),
                "{rows:#?}"
            );
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
            let FittedCard { rows, .. } = fitted(&face, columns, usize::MAX);
            let said = rows
                .iter()
                .filter(|row| row.contains("On") || row.contains("Writes   x"));
            for row in said {
                assert!(row.starts_with(BAR) || row.starts_with(REST), "{rows:#?}");
            }
        }
    }

    #[test]
    fn what_was_left_out_is_counted_and_the_card_takes_no_more_rows_than_it_may() {
        let text: Vec<String> = (1..=74).map(|number| format!("Step {number}.")).collect();
        let face = consent(&text.join("\n"));
        let shown = [(80, 19), (40, 12), (40, 5)].map(|(columns, rows_max)| {
            let FittedCard { rows, is_whole } = fitted(&face, columns, rows_max);
            assert!(!is_whole);
            assert!(rows.len() <= rows_max || rows_max < 6, "{rows:#?}");
            assert!(rows.iter().all(|row| width(row) < columns), "{rows:#?}");
            format!("{columns} columns, {rows_max} rows\n{}", rows.join("\n"))
        });
        insta::assert_snapshot!(shown.join("\n\n"));
        let whole = fitted(&face, 80, 90);
        assert!(whole.is_whole, "{whole:?}");
        // The last row of a line counts.
        let long = consent(&"x".repeat(80 * 30));
        assert!(!fitted(&long, 80, 20).is_whole);
        assert!(fitted(&long, 80, 50).is_whole);
    }

    #[test]
    fn words_of_a_role_break_at_words() {
        let face = Face {
            head: "review (editor) asks".to_owned(),
            place: CardPlace { number: 1, of: 1 },
            text: Some((
                Manner::Prose,
                "Which of the two totals is right: the lines (4,310.07) or the bank (4,310.06)?"
                    .to_owned(),
            )),
            lines_max: PROSE_LINES_MAX,
            facts: Vec::new(),
            covers: None,
            key: "alt-v",
            then: None,
        };
        insta::assert_snapshot!(shown(&face));
    }
}
