//! The card of a question: who asks for what, and what is to be read before an answer, with its white space.

use super::keys::State;
use super::layout;
use super::view::{AskKind, AskView};
use crate::text::{one_line, plain, width, wrapped};

/// How many rows an ask takes: its heading, what it says, and what an answer for the flow covers.
pub(super) fn height(ask: &AskView, state: &State) -> usize {
    let says = said(ask, state.columns).len().min(layout::says_rows(state));
    1 + says + scope(ask, state.columns).len()
}

/// What an answer for the whole flow covers; one that takes more rows is in the pager, too.
const SCOPE_ROWS_MAX: usize = 2;

pub(super) fn scope(ask: &AskView, columns: u16) -> Vec<String> {
    let AskKind::Consent {
        scope: Some(scope), ..
    } = &ask.kind
    else {
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

/// How many rows lines of an ask take on a screen that is so wide.
pub(super) fn rows(lines: &[String], columns: u16) -> usize {
    lines
        .iter()
        .map(|line| wrap(line, says_columns(columns)).len())
        .sum()
}

/// What is left of a row beside the line that marks what is asked.
fn says_columns(columns: u16) -> usize {
    usize::from(columns).saturating_sub(2)
}

/// Everything that is to be read before an answer, in lines as wide as the screen.
pub(super) fn said(ask: &AskView, columns: u16) -> Vec<String> {
    let columns = says_columns(columns);
    let typed = match &ask.kind {
        AskKind::Typed { commands } => commands.as_slice(),
        AskKind::Text { .. }
        | AskKind::Own { .. }
        | AskKind::Consent { .. }
        | AskKind::Approval { .. }
        | AskKind::Improvement { .. }
        | AskKind::Feedback
        | AskKind::Unpause
        | AskKind::Configuration { .. } => &[],
    };
    let all = ask.says.iter().chain(typed);
    all.flat_map(|line| wrap(line, columns)).collect()
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
