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

/// The rows as lines, without blanks at their ends.
pub(crate) fn lines(rows: &[Vec<Cell>]) -> Vec<String> {
    let widths = widths(rows);
    rows.iter().map(|row| line(row, &widths)).collect()
}

/// How wide the widest of these rows can be.
pub(crate) fn width_of(rows: &[Vec<Cell>]) -> usize {
    let widths = widths(rows);
    widths.iter().sum::<usize>() + widths.len().saturating_sub(1) * 2
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
    let mut line = String::new();
    for (cell, wanted) in row.iter().zip(widths) {
        let missing = " ".repeat(wanted.saturating_sub(width(&cell.text)));
        let text = cell.painted.as_deref().unwrap_or(&cell.text);
        let (before, after) = if cell.is_right {
            (missing.as_str(), "")
        } else {
            ("", missing.as_str())
        };
        for part in [before, text, after, "  "] {
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
