//! Where the parts of the screen are. Lists that are short give their rows to the others; from some width on the feed
//! is at the right, and on a small screen one part is shown at a time.

use ratatui::layout::Rect;

use super::card;
use super::feed;
use super::hints::{self, hint_rows};
use super::keys::{Focus, State};
use super::view::View;
use crate::text::wrapped;

/// What is asked is shown in so many lines at once; the rest is reached by scrolling.
const SAYS_LINES_MAX: usize = 8;

/// Rows and columns below which nothing could be read.
const ROWS_MIN: u16 = 9;
const COLUMNS_MIN: u16 = 30;

/// Below these one part is shown at a time.
const ROWS_ALL: u16 = 16;
const COLUMNS_ALL: u16 = 60;

/// From here on the feed is at the right of the lists.
const COLUMNS_BESIDE: u16 = 110;

/// How wide the lists are beside the feed: for a flow with its state, its money and some of its title.
const LEFT_COLUMNS: std::ops::RangeInclusive<u16> = 64..=100;

/// The columns between the lists and the feed.
const GAP: u16 = 2;

/// A part with fewer rows says nothing.
const PART_ROWS_MIN: u16 = 3;

/// The rows of a message at most.
const TOLD_ROWS_MAX: u16 = 3;

/// The heading, the message, and the keys.
const FRAME_ROWS: u16 = 4;

/// The places of the parts.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Layout {
    /// Whether there is too little room for anything.
    pub(super) is_tiny: bool,
    pub(super) head: Rect,
    pub(super) parts: Vec<(Focus, Rect)>,
    pub(super) card: Option<Rect>,
    pub(super) told: Rect,
    pub(super) keys: Rect,
    pub(super) hints: Vec<String>,
}

/// Whether one part is shown at a time.
const fn is_small(state: &State) -> bool {
    state.rows < ROWS_ALL || state.columns < COLUMNS_ALL
}

/// How many rows of what is asked are shown at once.
pub(super) fn says_rows(state: &State) -> usize {
    let rows = if is_small(state) {
        // A list of three rows stays, with its heading and those of the question.
        state.rows.saturating_sub(FRAME_ROWS + 6)
    } else {
        (state.rows.saturating_sub(FRAME_ROWS) / 2).saturating_sub(2)
    };
    usize::from(rows).clamp(1, SAYS_LINES_MAX)
}

impl Layout {
    /// For a screen of the size that the state knows.
    pub(super) fn of(view: &View, state: &State) -> Self {
        let area = Rect::new(0, 0, state.columns, state.rows);
        if area.height < ROWS_MIN || area.width < COLUMNS_MIN {
            return Self {
                is_tiny: true,
                head: area,
                ..Self::default()
            };
        }
        let hints = hint_rows(&hints::hint(view, state), usize::from(area.width));
        let row = |y: u16, height: u16| Rect { y, height, ..area };
        let keys_rows = length(hints.len()).min(area.height);
        let keys = row(area.height - keys_rows, keys_rows);
        let told_rows = told_rows(state);
        let told = row(keys.y - told_rows, told_rows);
        let ask = state.asked(view);
        let card = ask.map(|ask| {
            let height = length(card::height(ask, state)).min(told.y - 1);
            row(told.y - height, height)
        });
        let end = card.map_or(told.y, |card| card.y);
        let body = row(1, end - 1);
        Self {
            is_tiny: false,
            head: row(0, 1),
            parts: parts(view, state, body),
            card,
            told,
            keys,
            hints,
        }
    }

    /// How many lines of the feed do not fit into its part.
    pub(super) fn feed_hidden(&self, view: &View, state: &State) -> usize {
        let area = self.parts.iter().find(|(part, _)| *part == Focus::Feed);
        let Some((_, area)) = area else { return 0 };
        let rows = usize::from(area.height.saturating_sub(1));
        feed::lines(view, state, usize::from(area.width))
            .len()
            .saturating_sub(rows)
    }
}

/// How many rows the last message takes: one that was cut could not be read anywhere else.
fn told_rows(state: &State) -> u16 {
    let most = if is_small(state) { 1 } else { TOLD_ROWS_MAX };
    let rows = wrapped(&state.told, usize::from(state.columns)).len();
    if state.focus.is_field() {
        1
    } else {
        length(rows).clamp(1, most)
    }
}

fn length(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

/// The parts in a room.
fn parts(view: &View, state: &State, body: Rect) -> Vec<(Focus, Rect)> {
    let focus = if state.focus.is_field() {
        state.before
    } else {
        state.focus
    };
    if is_small(state) {
        return vec![(focus, body)];
    }
    let mut wants = wants(view, state);
    if state.columns < COLUMNS_BESIDE {
        return stack(wants, focus, body);
    }
    wants.retain(|want| want.part != Focus::Feed);
    let share = u32::from(body.width) * 58 / 100;
    let left = u16::try_from(share).unwrap_or(u16::MAX);
    let left = left.clamp(*LEFT_COLUMNS.start(), *LEFT_COLUMNS.end());
    let lists = Rect {
        width: left,
        ..body
    };
    let feed = Rect {
        x: left + GAP,
        width: body.width.saturating_sub(left + GAP),
        ..body
    };
    let mut parts = stack(wants, focus, lists);
    parts.push((Focus::Feed, feed));
    parts
}

/// The parts in their order, with the rows that each could fill.
fn wants(view: &View, state: &State) -> Vec<PartHeight> {
    let list = |number: usize| length(number.max(1)).saturating_add(1);
    let asks = state.asks(view).len();
    let Some(flow) = view.chosen.as_ref().filter(|_| state.opened.is_some()) else {
        let flows = state.flows(view).len();
        return vec![
            PartHeight::new(Focus::Asks, list(asks)),
            PartHeight::new(Focus::Flows, list(flows)),
            PartHeight::new(Focus::Feed, u16::MAX),
        ];
    };
    let damage = flow.damage.iter().count();
    let asks = (asks > 0).then(|| PartHeight::new(Focus::Asks, list(asks)));
    let rest = [
        PartHeight::new(Focus::Nodes, list(flow.nodes.len() + damage)),
        PartHeight::new(Focus::Feed, u16::MAX),
        PartHeight::new(Focus::Cost, list(flow.cost.len())),
        PartHeight::new(Focus::Files, list(flow.files.len())),
    ];
    asks.into_iter().chain(rest).collect()
}

/// A part, and how many rows it would fill.
#[derive(Debug, Clone, Copy)]
struct PartHeight {
    part: Focus,
    rows: u16,
}

impl PartHeight {
    const fn new(part: Focus, rows: u16) -> Self {
        Self { part, rows }
    }
}

/// Parts below one another. Where there is no room for all, the last ones without the keys go.
fn stack(mut wants: Vec<PartHeight>, focus: Focus, room: Rect) -> Vec<(Focus, Rect)> {
    while wants.len() > 1 && room.height < PART_ROWS_MIN * length(wants.len()) {
        let last = wants.iter().rposition(|want| want.part != focus);
        let Some(last) = last else { break };
        wants.remove(last);
    }
    let heights = share(room.height, &wants);
    let mut y = room.y;
    let placed = wants
        .into_iter()
        .zip(heights)
        .map(|(PartHeight { part, .. }, height)| {
            let area = Rect { y, height, ..room };
            y += height;
            (part, area)
        });
    placed.collect()
}

/// Shares rows out: each part gets as many as it wants, or else as many as the others that want more.
fn share(room: u16, wants: &[PartHeight]) -> Vec<u16> {
    let mut given = vec![0_u16; wants.len()];
    let mut left = room;
    while left > 0 {
        let hungry: Vec<usize> = (0..wants.len())
            .filter(|at| wants.get(*at).is_some_and(|want| want.rows > given[*at]))
            .collect();
        if hungry.is_empty() {
            break;
        }
        let each = (left / length(hungry.len())).max(1);
        for at in hungry {
            let wanted = wants.get(at).map_or(0, |want| want.rows) - given[at];
            let more = each.min(wanted).min(left);
            given[at] += more;
            left -= more;
        }
    }
    given
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_lists_give_their_rows_away() {
        let shared = |room, wants: &[u16]| {
            let wants = wants.iter().map(|rows| PartHeight::new(Focus::Asks, *rows));
            let wants: Vec<PartHeight> = wants.collect();
            share(room, &wants)
        };
        assert_eq!(shared(20, &[2, 4, u16::MAX]), [2, 4, 14]);
        assert_eq!(shared(36, &[11, 15, u16::MAX]), [11, 13, 12]);
        assert_eq!(shared(26, &[11, 15]), [11, 15]);
        assert_eq!(shared(40, &[11, 15]), [11, 15]);
        assert_eq!(shared(2, &[5, 5, 5]), [1, 1, 0]);
        assert_eq!(shared(5, &[]), Vec::<u16>::new());
    }
}
