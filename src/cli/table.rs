//! Columns under headings, as wide as what stands in them.

use crate::text::width;

/// A cell: what it says, and the same as it is printed, which may have colours in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    text: String,
    painted: Option<String>,
}

impl Cell {
    /// A cell whose colours take no room.
    pub(crate) fn painted(text: impl Into<String>, painted: String) -> Self {
        Self {
            text: text.into(),
            painted: Some(painted),
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
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut widths = vec![0; columns];
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            widths[column] = widths[column].max(width(&cell.text));
        }
    }
    rows.iter().map(|row| line(row, &widths)).collect()
}

fn line(row: &[Cell], widths: &[usize]) -> String {
    let mut line = String::new();
    for (cell, wanted) in row.iter().zip(widths) {
        line.push_str(cell.painted.as_deref().unwrap_or(&cell.text));
        let missing = wanted.saturating_sub(width(&cell.text)) + 2;
        line.extend(std::iter::repeat_n(' ', missing));
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
