//! The lines of a feed, broken at words.

use super::keys::State;
use super::view::{Feed, Item, View};
use crate::text::wrapped;

/// So many lines of what a call gave back are shown beside other flows, and so many of one that failed.
const OUTPUT_LINES: usize = 3;
const FAILED_LINES: usize = 5;

/// What a line of a feed is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    Head,
    Wrong,
    Text,
}

/// The feed that is shown: as it was when it was held, or as it is.
pub(super) fn shown<'v>(view: &'v View, state: &'v State) -> Option<&'v Feed> {
    let live = || {
        let chosen = view.chosen.as_ref();
        chosen.and_then(|flow| flow.feed(state.role.as_ref()))
    };
    state.held.as_ref().or_else(live)
}

/// All of its lines, for so many columns.
pub(super) fn lines(view: &View, state: &State, columns: usize) -> Vec<(Weight, String)> {
    last_lines(view, state, columns, usize::MAX)
}

/// So many of its last lines at least, and no item that only comes before them.
pub(super) fn last_lines(
    view: &View,
    state: &State,
    columns: usize,
    wanted: usize,
) -> Vec<(Weight, String)> {
    let mut items = Vec::new();
    let mut rows = 0;
    for item in shown(view, state).iter().flat_map(|feed| &feed.items).rev() {
        if rows >= wanted {
            break;
        }
        let lines = of_item(item, columns, state.opened.is_none());
        rows += lines.len();
        items.push(lines);
    }
    items.into_iter().rev().flatten().collect()
}

fn of_item(item: &Item, columns: usize, folds: bool) -> Vec<(Weight, String)> {
    let weight = if item.failed {
        Weight::Wrong
    } else {
        Weight::Head
    };
    let head = match item.label.trim() {
        "" => Vec::new(),
        label => wrapped(&format!("{} {label}", item.sign), columns),
    };
    let most = match (folds && item.is_call, item.failed) {
        (false, _) => usize::MAX,
        (true, false) => OUTPUT_LINES,
        (true, true) => FAILED_LINES,
    };
    let hidden = item.lines.len().saturating_sub(most);
    let more = (hidden > 0).then(|| format!("[… {hidden} more lines]"));
    let texts = item.lines.iter().take(most).chain(&more);
    let texts = texts.flat_map(|line| wrapped(line, columns));
    let texts = texts.map(|line| (Weight::Text, line));
    head.into_iter()
        .map(|line| (weight, line))
        .chain(texts)
        .collect()
}
