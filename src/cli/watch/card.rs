//! The card of a question: who asks for what, and what is to be read before an answer, with its white space.

use super::keys::State;
use super::layout;
use super::view::AskView;
use crate::text::{one_line, plain, width, wrapped};

/// How many rows an ask takes: its heading, what it says, and what an answer for the flow covers.
pub(super) fn height(ask: &AskView, state: &State) -> usize {
    let says = said(ask, state.columns).len().min(layout::says_rows(state));
    1 + says + scope(ask, state.columns).len()
}

/// What an answer for the whole flow covers; one that takes more rows is in the pager, too.
const SCOPE_ROWS_MAX: usize = 2;

pub(super) fn scope(ask: &AskView, columns: u16) -> Vec<String> {
    let call = ask.ask.call.as_ref();
    let Some(scope) = call.and_then(|call| call.for_the_flow.as_ref()) else {
        return Vec::new();
    };
    let columns = usize::from(columns);
    let scope = format!("f covers: {}", scope.lines().next().unwrap_or_default());
    let mut rows = wrapped(&plain(&scope), columns);
    if rows.len() > SCOPE_ROWS_MAX {
        let rest = rows.split_off(SCOPE_ROWS_MAX - 1).join(" ");
        rows.push(one_line(&rest, columns));
    }
    rows
}

/// What begins a row of what a role wrote, and a row with the rest of a line. What this program knows begins with
/// neither, so that no command can pass for it.
const BAR: &str = "│ ";
const REST: &str = "┊ ";

/// How many rows must have been shown before an ask can be allowed.
pub(super) fn must_rows(ask: &AskView, columns: u16) -> usize {
    match ask.says.get(..ask.must_show) {
        Some(must) => must.iter().map(|line| written(line, columns).len()).sum(),
        None => said(ask, columns).len(),
    }
}

/// Everything that is to be read before an answer, in rows as wide as the screen.
pub(super) fn said(ask: &AskView, columns: u16) -> Vec<String> {
    let ours = ask.facts.iter().chain(&ask.commands);
    let ours = ours.flat_map(|line| wrapped(line, usize::from(columns)));
    let says = ask.says.iter().flat_map(|line| written(line, columns));
    says.chain(ours).collect()
}

/// The rows of a line that a role wrote.
fn written(line: &str, columns: u16) -> Vec<String> {
    let room = usize::from(columns).saturating_sub(width(BAR));
    let rows = wrap(line, room).into_iter().enumerate();
    rows.map(|(at, row)| format!("{}{row}", if at == 0 { BAR } else { REST }))
        .collect()
}

/// A line broken at words, or within a word that is wider than a row: nothing of it is left out.
pub(crate) fn wrap(line: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(2);
    let mut lines = Vec::new();
    let mut row = String::new();
    let (mut taken, mut gap) = (0, 0);
    for letter in line.chars() {
        let wide = width(letter.encode_utf8(&mut [0; 4]));
        // What is left of a word may be too wide for the next letter, too.
        while taken + wide > columns {
            let rest = if gap == 0 {
                String::new()
            } else {
                row.split_off(gap)
            };
            lines.push(std::mem::replace(&mut row, rest));
            (taken, gap) = (width(&row), 0);
        }
        row.push(letter);
        taken += wide;
        // A character of a script without spaces may end a row.
        if letter == ' ' || wide == 2 {
            gap = row.len();
        }
    }
    lines.push(row);
    lines
}
