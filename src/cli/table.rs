//! Columns under headings, as wide as their contents.

use crate::text::width;

/// A cell: what it says, and the same as it is printed, which may have colours in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    text: String,
    painted: Option<String>,
    /// Whether it is aligned to the right, as numbers are.
    is_right: bool,
}

impl Cell {
    /// The same aligned to the right, as numbers are.
    #[must_use]
    pub(crate) fn at_right(self) -> Self {
        Self {
            is_right: true,
            ..self
        }
    }

    /// A cell whose colours take no room.
    pub(crate) fn painted(text: impl Into<String>, painted: String) -> Self {
        Self {
            text: text.into(),
            painted: Some(painted),
            is_right: false,
        }
    }
}

impl Cell {
    /// Whether it says nothing.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.is_empty()
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self {
            text,
            painted: None,
            is_right: false,
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// How wide a column is at least, and how many blanks follow it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) least: usize,
    gap: usize,
}

impl Column {
    pub(crate) const fn new(least: usize, gap: usize) -> Self {
        Self { least, gap }
    }
}

/// The blanks between two columns.
const GAP: usize = 2;

/// The rows as lines, without blanks at their ends.
pub(crate) fn lines(rows: &[Vec<Cell>]) -> Vec<String> {
    let widths = widths(rows);
    rows.iter().map(|row| line(row, &widths)).collect()
}

/// The rows as lines whose columns are at least so wide, each followed by so many blanks.
pub(crate) fn lines_of(rows: &[Vec<Cell>], columns: &[Column]) -> Vec<String> {
    let widths = at_least(rows, columns);
    let gaps: Vec<usize> = columns.iter().map(|column| column.gap).collect();
    rows.iter().map(|row| spread(row, &widths, &gaps)).collect()
}

/// How wide such lines are, their last gap included.
pub(crate) fn width_of(rows: &[Vec<Cell>], columns: &[Column]) -> usize {
    let gaps = columns.iter().map(|column| column.gap);
    at_least(rows, columns).into_iter().chain(gaps).sum()
}

fn at_least(rows: &[Vec<Cell>], columns: &[Column]) -> Vec<usize> {
    let widths = widths(rows).into_iter().enumerate();
    let least = |at: usize| columns.get(at).map_or(0, |column| column.least);
    widths.map(|(at, wide)| wide.max(least(at))).collect()
}

/// The rows for a screen that is read aloud: each value with the name of its column, or of its row.
pub(crate) fn spoken(rows: &[Vec<Cell>], has_heads: bool) -> Vec<String> {
    let heads = rows.first().filter(|_| has_heads);
    let shown = rows.iter().skip(usize::from(has_heads));
    let line = |row: &Vec<Cell>| {
        let (first, rest) = row.split_first()?;
        let each = rest.iter().enumerate().filter(|(_, cell)| !cell.is_blank());
        let each = each.map(
            |(at, cell)| match heads.and_then(|heads| heads.get(at + 1)) {
                Some(head) => format!("{} {}", head.text.to_lowercase(), cell.text.trim()),
                None => cell.text.trim().to_owned(),
            },
        );
        let values = each.collect::<Vec<_>>().join("; ");
        let name = first.text.trim();
        Some(match (name.is_empty(), values.is_empty()) {
            (true, _) => values,
            (false, true) => name.to_owned(),
            (false, false) => format!("{name}: {values}"),
        })
    };
    shown.filter_map(line).collect()
}

fn widths(rows: &[Vec<Cell>]) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut widths = vec![0; columns];
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            widths[column] = widths[column].max(width(&cell.text));
        }
    }
    widths
}

fn line(row: &[Cell], widths: &[usize]) -> String {
    spread(row, widths, &[])
}

fn spread(row: &[Cell], widths: &[usize], gaps: &[usize]) -> String {
    let mut line = String::new();
    for (at, (cell, wanted)) in row.iter().zip(widths).enumerate() {
        let gap = " ".repeat(gaps.get(at).copied().unwrap_or(GAP));
        let missing = " ".repeat(wanted.saturating_sub(width(&cell.text)));
        let text = cell.painted.as_deref().unwrap_or(&cell.text);
        let (before, after) = if cell.is_right {
            (missing.as_str(), "")
        } else {
            ("", missing.as_str())
        };
        for part in [before, text, after, &gap] {
            line.push_str(part);
        }
    }
    line.truncate(line.trim_end().len());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_that_is_read_aloud_has_names_and_values() {
        let heads = vec![Cell::from("ROLE"), "MODEL".into(), "COST".into()];
        let row = vec![Cell::from("writer"), "sonnet".into(), Cell::default()];
        assert_eq!(spoken(&[heads, row], true), ["writer: model sonnet"]);
        let node = vec![Cell::from("plan"), "owner".into(), "done".into()];
        assert_eq!(spoken(&[node], false), ["plan: owner; done"]);
    }

    #[test]
    fn columns_stand_under_each_other_whatever_their_colours() {
        let rows = [
            vec![Cell::from("A"), "B".into()],
            vec![
                Cell::painted("xxx", "\u{1b}[1mxxx\u{1b}[0m".to_owned()),
                "y".into(),
            ],
            vec!["漢字".into(), Cell::default()],
        ];
        assert_eq!(
            lines(&rows),
            ["A     B", "\u{1b}[1mxxx\u{1b}[0m   y", "漢字"]
        );
    }
}
