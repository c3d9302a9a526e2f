//! A text that does not fit on the screen, on a screen of its own: the pager of `run`, `resume` and `watch`. Pure but
//! for [`screen`], which draws it and reads its keys.
//!
//! Lines keep their numbers and, if they are to be decided about, all of their white space; every sign that cannot be
//! seen is an escape. Only what was on the screen counts as read, and the end is a row of its own.

pub(crate) mod screen;

use ratatui::Frame;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::card_rows::{BAR, Manner, REST};
use crate::text::{chopped, exact, one_line, tabbed, width, wrapped};

/// The rows beside the text: the heading and the keys.
const ROWS_BESIDE: usize = 2;

/// The keys, at the bottom, and the same on a narrow screen.
const KEYS: &str = "space on · b back · / search · n next · q close";
const KEYS_NARROW: &str = "space b / n · q close";

/// The message for a text that was closed before its end.
pub(crate) const CLOSED_EARLY: &str = "it was closed before its end; v shows it again";

/// What ends at the end of a text.
pub(crate) const CALL: &str = "call";
pub(crate) const TEXT: &str = "text";

/// What is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PagedText {
    /// Who asks for what.
    pub(crate) head: String,
    /// What ends at the end: a call or another text.
    pub(crate) of: &'static str,
    pub(crate) manner: Manner,
    /// Its lines.
    pub(crate) lines: Vec<String>,
    /// What this program knows about it, which comes after them.
    pub(crate) facts: Vec<String>,
}

/// A text, and how far it was read.
#[derive(Debug)]
pub(crate) struct Pager {
    text: PagedText,
    /// The columns and rows for which the text is laid out.
    size: (usize, usize),
    rows: Vec<PagerRow>,
    /// The first row that is shown.
    top: usize,
    /// What is searched for, while it is typed.
    typed: Option<String>,
    /// What was searched for last, and in which line it was found.
    wanted: String,
    found: Option<usize>,
    /// The last message.
    told: String,
    /// Whether the last row was on the screen.
    has_ended: bool,
}

#[derive(Debug)]
struct PagerRow {
    /// Of which line it is; what follows the text counts on.
    line: usize,
    text: String,
}

impl Pager {
    /// A text that is read from its beginning.
    pub(crate) const fn new(text: PagedText) -> Self {
        Self {
            text,
            size: (0, 0),
            rows: Vec::new(),
            top: 0,
            typed: None,
            wanted: String::new(),
            found: None,
            told: String::new(),
            has_ended: false,
        }
    }

    /// Whether its last row was on the screen.
    pub(crate) const fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Handles a key. Whether the text is read on.
    pub(crate) fn press(&mut self, key: KeyCode, is_held: bool) -> bool {
        if self.typed.is_some() {
            self.search_key(key, is_held);
            return true;
        }
        self.told.clear();
        let page = self.room().max(1);
        match (key, is_held) {
            (KeyCode::Char('q') | KeyCode::Esc, false) | (KeyCode::Char('c'), true) => {
                return false;
            }
            (KeyCode::Char(' ') | KeyCode::PageDown, false) => self.go(self.top + page),
            (KeyCode::Char('b') | KeyCode::PageUp, false) => self.go(self.top.saturating_sub(page)),
            (KeyCode::Char('j') | KeyCode::Down | KeyCode::Enter, false) => self.go(self.top + 1),
            (KeyCode::Char('k') | KeyCode::Up, false) => self.go(self.top.saturating_sub(1)),
            (KeyCode::Char('g') | KeyCode::Home, false) => self.go(0),
            (KeyCode::Char('G') | KeyCode::End, false) => self.go(usize::MAX),
            (KeyCode::Char('/'), false) => self.typed = Some(String::new()),
            (KeyCode::Char('n'), false) => self.find(true),
            (KeyCode::Char('N'), false) => self.find(false),
            (KeyCode::Char(letter), false) => {
                let letter = letter.escape_default();
                self.told = format!("{letter} does nothing here: {KEYS}");
            }
            _ => {}
        }
        true
    }

    /// A key while it is typed what is searched for.
    fn search_key(&mut self, key: KeyCode, is_held: bool) {
        let Some(typed) = &mut self.typed else { return };
        match (key, is_held) {
            (KeyCode::Enter, _) => {
                let typed = self.typed.take().unwrap_or_default();
                if !typed.is_empty() {
                    (self.wanted, self.found) = (typed, None);
                }
                self.find(true);
            }
            (KeyCode::Esc, _) | (KeyCode::Char('c'), true) => self.typed = None,
            (KeyCode::Backspace, _) if typed.is_empty() => self.typed = None,
            (KeyCode::Backspace, _) => drop(typed.pop()),
            (KeyCode::Char(letter), false) => typed.push(letter),
            _ => {}
        }
    }

    /// Text that was pasted is searched for, and is no key.
    pub(crate) fn paste(&mut self, text: &str) {
        if let Some(typed) = &mut self.typed {
            typed.push_str(&one_line(text, usize::MAX));
        }
    }

    /// Shows the next line with what is searched for, or the one before; after the last one comes the first.
    fn find(&mut self, forwards: bool) {
        if self.wanted.is_empty() {
            "/ and a word search for it".clone_into(&mut self.told);
            return;
        }
        let wanted = self.wanted.to_lowercase();
        let all = &self.text.lines;
        let here = self.rows.get(self.top).map_or(0, |row| row.line);
        let begins = match (self.found, forwards) {
            (Some(found), true) => found + 1,
            (Some(found), false) => found,
            (None, _) => here,
        };
        let has = |at: &usize| {
            let line = all.get(*at);
            line.is_some_and(|line| shown(line).to_lowercase().contains(&wanted))
        };
        let begins = begins.min(all.len());
        let found = if forwards {
            (begins..all.len()).chain(0..begins).find(has)
        } else {
            let before = (0..begins).rev();
            before.chain((begins..all.len()).rev()).find(has)
        };
        let Some(found) = found else {
            self.told = format!("{} is not in it", exact(&self.wanted));
            return;
        };
        self.found = Some(found);
        let mut rows = self.rows.iter().enumerate();
        let its = |row: &PagerRow| row.line == found;
        let there = rows
            .clone()
            .find(|(_, row)| its(row) && row.text.to_lowercase().contains(&wanted));
        let there = there.or_else(|| rows.find(|(_, row)| its(row)));
        if let Some((at, _)) = there {
            self.go(at);
        }
    }

    /// Shows the rows from this one on; the last page is full.
    fn go(&mut self, top: usize) {
        self.top = top.min(self.rows.len().saturating_sub(self.room()));
    }

    fn room(&self) -> usize {
        self.size.1.saturating_sub(ROWS_BESIDE).max(1)
    }

    /// Lays the text out anew if the screen has another size. The line at its top stays there.
    fn resize(&mut self, columns: usize, rows: usize) {
        if self.size == (columns, rows) {
            return;
        }
        let line = self.rows.get(self.top).map_or(0, |row| row.line);
        self.rows = laid(&self.text, columns);
        self.size = (columns, rows);
        let top = self.rows.iter().position(|row| row.line == line);
        self.go(top.unwrap_or(0));
    }

    /// Draws what is to be read now. What is on the screen counts as read.
    pub(crate) fn draw(&mut self, frame: &mut Frame<'_>, colours: bool) {
        let area = frame.area();
        self.resize(usize::from(area.width), usize::from(area.height));
        let room = self.room();
        self.has_ended |= self.top + room >= self.rows.len();
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let dim = Style::new().add_modifier(Modifier::DIM);
        let head = if colours {
            bold.fg(Color::Yellow)
        } else {
            bold
        };
        let title = one_line(&format!("◆ {}", exact(&self.text.head)), self.size.0);
        let shown = self.rows.iter().skip(self.top).take(room);
        let body = shown.map(|row| {
            let is_end = row.line == self.text.lines.len() + self.text.facts.len();
            let style = match (self.found == Some(row.line), is_end) {
                (true, _) => bold,
                (false, true) => dim,
                (false, false) => Style::new(),
            };
            Line::styled(row.text.clone(), style)
        });
        let mut lines: Vec<Line<'_>> = std::iter::once(Line::styled(title, head))
            .chain(body)
            .collect();
        lines.truncate(usize::from(area.height.saturating_sub(1)).max(1));
        frame.render_widget(Paragraph::new(lines), area);
        let bottom = Rect {
            y: area.y + area.height.saturating_sub(1),
            height: 1.min(area.height),
            ..area
        };
        let says = self.says();
        let column = u16::try_from(width(&says)).unwrap_or(u16::MAX);
        frame.render_widget(Paragraph::new(Line::styled(says, dim)), bottom);
        if self.typed.is_some() {
            let column = column.min(area.width.saturating_sub(1));
            frame.set_cursor_position((area.x + column, bottom.y));
        }
    }

    /// The last row: what is searched for, the message, or which lines are shown, and the keys.
    fn says(&self) -> String {
        let columns = self.size.0;
        if let Some(typed) = &self.typed {
            return one_line(&format!("/{}", exact(typed)), columns.saturating_sub(1));
        }
        if !self.told.is_empty() {
            return one_line(&self.told, columns);
        }
        let all = self.text.lines.len();
        let shown = self.rows.iter().skip(self.top).take(self.room());
        let shown: Vec<usize> = shown.map(|row| (row.line + 1).min(all)).collect();
        let (first, last) = (shown.first().unwrap_or(&0), shown.last().unwrap_or(&0));
        let lines = format!("lines {first}-{last} of {all}");
        let full = format!("{lines} · {KEYS}");
        if width(&full) <= columns {
            return full;
        }
        one_line(&format!("{lines} · {KEYS_NARROW}"), columns)
    }
}

/// A line as it is shown.
fn shown(line: &str) -> String {
    tabbed(line, '→')
}

/// The rows of a text on a screen of so many columns.
fn laid(text: &PagedText, columns: usize) -> Vec<PagerRow> {
    let wide = text.lines.len().max(1).to_string().len();
    let before = wide + 1 + width(BAR);
    let room = columns.saturating_sub(before).max(1);
    let mut rows = Vec::new();
    for (line, says) in text.lines.iter().enumerate() {
        let says = shown(says);
        let (pieces, rest) = match text.manner {
            Manner::Exact => (chopped(&says, room), REST),
            Manner::Prose => (wrapped(&says, room), BAR),
        };
        rows.extend(pieces.into_iter().enumerate().map(|(at, piece)| {
            let text = match at {
                0 => format!("{:>wide$} {BAR}{piece}", line + 1),
                _ => format!("{:wide$} {rest}{piece}", ""),
            };
            PagerRow { line, text }
        }));
    }
    let all = text.lines.len();
    let end = format!("end of {}", text.of);
    let after = text.facts.iter().chain([&end]).enumerate();
    rows.extend(after.flat_map(|(at, says)| {
        let pieces = wrapped(&exact(says), room).into_iter();
        pieces.map(move |piece| PagerRow {
            line: all + at,
            text: format!("{:before$}{piece}", ""),
        })
    }));
    rows
}

#[cfg(test)]
mod tests;
