//! The lines of a feed, broken at words.

use super::keys::State;
use super::view::{Feed, Item, View};
use crate::text::{one_line, wrapped};

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
    last_lines(view, state, (columns, usize::MAX))
}

/// So many of its last lines at least, and no item that only comes before them.
pub(super) fn last_lines(
    view: &View,
    state: &State,
    (columns, wanted): (usize, usize),
) -> Vec<(Weight, String)> {
    let mut items = Vec::new();
    let mut rows = 0;
    for item in shown(view, state).iter().flat_map(|feed| &feed.items).rev() {
        if rows >= wanted {
            break;
        }
        let lines = of_item(item, columns);
        rows += lines.len();
        items.push(lines);
    }
    items.into_iter().rev().flatten().collect()
}

fn of_item(item: &Item, columns: usize) -> Vec<(Weight, String)> {
    let weight = if item.failed {
        Weight::Wrong
    } else {
        Weight::Head
    };
    let head = one_line(&format!("{} {}", item.sign, item.label), columns);
    let texts = item.lines.iter().flat_map(|line| wrapped(line, columns));
    let texts = texts.map(|line| (Weight::Text, line));
    std::iter::once((weight, head)).chain(texts).collect()
}
