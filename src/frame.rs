//! The lines that are drawn over, and where they are once the terminal has another size. Pure.
//!
//! Terminals differ: some break rows anew that no longer fit, so that the first line is further above the cursor than before,
//! and some cut them off. Which kind this one is shows in where it says that the cursor is. As long as that is not known, no
//! more rows are erased than were drawn: an old row may stay, and no finished one goes.

use unicode_width::UnicodeWidthStr as _;

use crate::text::width;

/// Where the cursor is: the row and the column, both from 1 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CursorPosition {
    pub(crate) row: usize,
    pub(crate) column: usize,
}

/// The columns and rows of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScreenSize {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

/// What a terminal does with rows that no longer fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Narrowed {
    #[default]
    Unknown,
    /// It breaks them anew.
    Breaks,
    /// It cuts them off.
    Cuts,
}

/// Lines that are drawn over, as they were sent.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PaintedFrame {
    pub(crate) lines: Vec<String>,
    /// How many of them are above the line of the cursor.
    pub(crate) above: usize,
    /// How many columns are before the cursor in its line.
    pub(crate) right: usize,
}

impl PaintedFrame {
    /// What another size of the terminal says about its kind, which was this before. The cursor was at one place, and is
    /// at another now.
    pub(crate) fn learned(
        &self,
        known: Narrowed,
        before: Option<CursorPosition>,
        now: CursorPosition,
        sizes: Resized,
    ) -> Narrowed {
        let columns = sizes.to.columns;
        if known != Narrowed::Unknown || columns >= sizes.from.columns {
            return known;
        }
        // A row that is longer than the screen ends at another column, or at the edge.
        let (broken, edge) = (self.right % columns + 1, columns);
        if self.right >= columns && broken != edge {
            return match now.column {
                column if column == broken => Narrowed::Breaks,
                column if column == edge => Narrowed::Cuts,
                _ => known,
            };
        }
        let same_height = sizes.from.rows == sizes.to.rows;
        match before.filter(|_| same_height) {
            // Nothing else moves the cursor to another row.
            Some(before) if before.row != now.row => Narrowed::Breaks,
            Some(_) | None => known,
        }
    }

    /// How many rows above the cursor the first line begins, on a screen of so many columns that did this.
    pub(crate) fn rows_above(
        &self,
        narrowed: Narrowed,
        columns: usize,
        now: Option<CursorPosition>,
    ) -> usize {
        let more = if narrowed == Narrowed::Breaks {
            let lines = self.lines.iter().take(self.above);
            let broken = lines.map(|line| narrowest(line).saturating_sub(1) / columns);
            broken.sum::<usize>() + self.right / columns
        } else {
            0
        };
        let rows = self.above + more;
        now.map_or(rows, |now| rows.min(now.row.saturating_sub(1)))
    }
}

/// From which size to which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Resized {
    pub(crate) from: ScreenSize,
    pub(crate) to: ScreenSize,
}

/// The fewest columns that a terminal may give a painted line: some measure what belongs together as one.
fn narrowest(line: &str) -> usize {
    let plain = unpainted(line);
    width(&plain).min(plain.as_str().width())
}

/// How many columns a painted line takes.
pub(crate) fn painted_width(line: &str) -> usize {
    width(&unpainted(line))
}

/// A line without its colours.
fn unpainted(line: &str) -> String {
    let mut in_colour = false;
    line.chars()
        .filter(|c| {
            let was = in_colour;
            in_colour = if was { *c != 'm' } else { *c == '\u{1b}' };
            !was && !in_colour
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(row: usize, column: usize) -> CursorPosition {
        CursorPosition { row, column }
    }

    const fn narrower(columns: usize) -> Resized {
        let from = ScreenSize {
            columns: 80,
            rows: 24,
        };
        Resized {
            from,
            to: ScreenSize { columns, ..from },
        }
    }

    /// Three lines, the cursor behind so many columns of the third.
    fn frame(right: usize) -> PaintedFrame {
        PaintedFrame {
            lines: vec![
                "\u{1b}[1mx\u{1b}[0m".repeat(70),
                "short".to_owned(),
                "y".repeat(right),
            ],
            above: 2,
            right,
        }
    }

    #[test]
    fn a_row_that_was_broken_or_cut_says_what_a_terminal_does() {
        let learned = |right, column| {
            frame(right).learned(Narrowed::Unknown, None, at(5, column), narrower(40))
        };
        assert_eq!(learned(60, 21), Narrowed::Breaks);
        assert_eq!(learned(60, 40), Narrowed::Cuts);
        assert_eq!(learned(60, 7), Narrowed::Unknown);
        // It is at the edge either way, or not longer than the screen.
        assert_eq!(learned(79, 40), Narrowed::Unknown);
        assert_eq!(learned(10, 11), Narrowed::Unknown);
    }

    #[test]
    fn a_cursor_in_another_row_says_so_unless_the_height_changed() {
        let learned =
            |before, sizes| frame(10).learned(Narrowed::Unknown, before, at(5, 11), sizes);
        assert_eq!(learned(Some(at(6, 11)), narrower(40)), Narrowed::Breaks);
        assert_eq!(learned(Some(at(5, 11)), narrower(40)), Narrowed::Unknown);
        assert_eq!(learned(None, narrower(40)), Narrowed::Unknown);
        let mut lower = narrower(40);
        lower.to.rows = 20;
        assert_eq!(learned(Some(at(6, 11)), lower), Narrowed::Unknown);
        assert_eq!(learned(Some(at(6, 11)), narrower(100)), Narrowed::Unknown);
    }

    #[test]
    fn no_more_rows_are_counted_than_can_be_its_own() {
        let frame = frame(50);
        assert_eq!(frame.rows_above(Narrowed::Unknown, 40, None), 2);
        assert_eq!(frame.rows_above(Narrowed::Cuts, 40, None), 2);
        assert_eq!(frame.rows_above(Narrowed::Breaks, 40, None), 4);
        assert_eq!(frame.rows_above(Narrowed::Breaks, 100, None), 2);
        // What is above the first row of the screen cannot be reached.
        assert_eq!(frame.rows_above(Narrowed::Breaks, 40, Some(at(3, 11))), 2);
        assert_eq!(frame.rows_above(Narrowed::Unknown, 40, Some(at(1, 11))), 0);
        let family = PaintedFrame {
            lines: vec!["👩\u{200d}👩\u{200d}👧".repeat(10), String::new()],
            above: 1,
            right: 0,
        };
        assert_eq!(family.rows_above(Narrowed::Breaks, 40, None), 1);
    }
}
