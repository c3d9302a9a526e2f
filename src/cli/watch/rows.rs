//! The rows of the lists. What may be of any width comes last in its row, and only it is cut.

use a_society_facts::view::standing::FlowStanding;
use ratatui::style::Style;

use super::draw::Paint;
use super::keys::{Focus, State};
use super::view::{FlowLine, FlowView, View, name};
use crate::text::{age, money, one_line, width};

/// How wide the columns of a row are at most.
const FLOW_COLUMNS_MAX: usize = 24;
const NODE_COLUMNS_MAX: usize = 14;
const STATE_COLUMNS_MAX: usize = 26;
const AGE_COLUMNS: usize = 4;
const COST_COLUMNS: usize = 7;
/// A few letters of a text say nothing.
const LAST_COLUMNS_MIN: usize = 6;
/// Before the explanation of a key.
pub(super) const KEY_COLUMNS: usize = 11;

/// On a part that is narrower, names are shorter, and the nodes that are done and the money are left out.
const NARROW: usize = 60;
const DONE_FROM: usize = 52;
const COST_FROM: usize = 62;

/// The rows of a list.
pub(super) struct Rows {
    /// Each with its style.
    pub(super) lines: Vec<(Style, String)>,
    /// The number of the chosen one, which is shown.
    pub(super) at: usize,
    /// Whether there is nothing, and the one row says so.
    pub(super) is_empty: bool,
}

impl Rows {
    fn new(lines: impl Iterator<Item = (Style, String)>, at: Option<usize>) -> Self {
        Self {
            lines: lines.collect(),
            at: at.unwrap_or(0),
            is_empty: false,
        }
    }
}

/// A text of exactly so many columns, cut at its end.
pub(super) fn padded(text: &str, columns: usize) -> String {
    let text = if width(text) > columns {
        one_line(text, columns)
    } else {
        text.to_owned()
    };
    let missing = columns.saturating_sub(width(&text));
    format!("{text}{}", " ".repeat(missing))
}

/// The same at the right end.
fn at_right(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(width(text));
    format!("{}{text}", " ".repeat(missing))
}

/// The widest of these texts, within a bound.
fn widest<'t>(texts: impl Iterator<Item = &'t str>, most: usize) -> usize {
    texts.map(width).max().unwrap_or(0).min(most)
}

/// A row that ends with what may be cut.
fn row(before: &str, last: &str, columns: usize) -> String {
    let room = columns.saturating_sub(width(before));
    let last = if room < LAST_COLUMNS_MIN && width(last) > room {
        String::new()
    } else {
        one_line(last, room)
    };
    let row = format!("{before}{last}");
    if width(&row) > columns {
        one_line(&row, columns)
    } else {
        row
    }
}

/// What marks the chosen row: of the list that has the keys, and of another.
fn mark(is_chosen: bool, has_keys: bool) -> &'static str {
    match (is_chosen, has_keys) {
        (true, true) => "▸ ",
        (true, false) => "› ",
        (false, _) => "  ",
    }
}

/// A list of nothing.
pub(super) fn nothing(says: &str, paint: Paint) -> Rows {
    Rows {
        lines: vec![(paint.dim(), format!("  {says}"))],
        at: 0,
        is_empty: true,
    }
}

/// What waits for the operator: the flow, the node, since when, and what is to be decided.
pub(super) fn asks(view: &View, state: &State, columns: usize, paint: Paint) -> Rows {
    let all = state.asks(view);
    if all.is_empty() {
        let says = if view.asks.is_empty() {
            "nothing needs you"
        } else {
            "nothing fits the filter"
        };
        return nothing(says, paint);
    }
    let names: Vec<String> = all.iter().map(|ask| name(&ask.flow)).collect();
    let narrow = columns < NARROW;
    let (flow_most, node_most) = if narrow {
        (FLOW_COLUMNS_MAX / 2, NODE_COLUMNS_MAX / 2)
    } else {
        (FLOW_COLUMNS_MAX, NODE_COLUMNS_MAX)
    };
    let flow = widest(names.iter().map(String::as_str), flow_most);
    let node = widest(all.iter().map(|ask| ask.node()), node_most);
    let gap = if narrow { " " } else { "  " };
    let at = all
        .iter()
        .position(|ask| Some(&ask.id) == state.ask.as_ref());
    let has_keys = matches!(state.focus, Focus::Asks | Focus::Text);
    let rows = all
        .iter()
        .zip(&names)
        .enumerate()
        .map(|(number, (ask, name))| {
            let is_chosen = Some(number) == at;
            let before = format!(
                "{}{}{gap}{}{gap}{}{gap}",
                mark(is_chosen, has_keys),
                padded(name, flow),
                padded(ask.node(), node),
                at_right(&age(view.now_ms - ask.ask.since.ms()), AGE_COLUMNS),
            );
            let style = if is_chosen {
                paint.bold()
            } else {
                Style::new()
            };
            (style, row(&before, &ask.line, columns))
        });
    Rows::new(rows, at)
}

/// The flows: what each does, how far it is, what it cost, and when something happened last.
pub(super) fn flows(view: &View, state: &State, columns: usize, paint: Paint) -> Rows {
    let all = state.flows(view);
    if all.is_empty() {
        let says = if view.flows.is_empty() {
            "no flow is under way"
        } else {
            "nothing fits the filter"
        };
        return nothing(says, paint);
    }
    let flow_most = if columns < NARROW {
        FLOW_COLUMNS_MAX / 2
    } else {
        FLOW_COLUMNS_MAX
    };
    let flow = widest(all.iter().map(|line| line.name.as_str()), flow_most);
    let status = widest(
        all.iter().map(|line| line.status.as_str()),
        STATE_COLUMNS_MAX,
    );
    let done = widest(
        all.iter()
            .map(done)
            .collect::<Vec<_>>()
            .iter()
            .map(String::as_str),
        9,
    );
    let at = all
        .iter()
        .position(|line| Some(&line.flow) == state.flow.as_ref());
    let has_keys = state.focus == Focus::Flows;
    let rows = all.iter().enumerate().map(|(number, line)| {
        let is_chosen = Some(number) == at;
        let mut before = format!(
            "{}{}  {}  ",
            mark(is_chosen, has_keys),
            padded(&line.name, flow),
            padded(&line.status, status),
        );
        if columns >= DONE_FROM {
            before.push_str(&at_right(&self::done(line), done));
            before.push_str("  ");
        }
        if columns >= COST_FROM {
            let cost = match line.cost_micros {
                0 => String::new(),
                micros => money(micros),
            };
            before.push_str(&at_right(&cost, COST_COLUMNS));
            before.push_str("  ");
        }
        let old = line.updated_ms.map(|at| age(view.now_ms - at));
        before.push_str(&at_right(&old.unwrap_or_default(), AGE_COLUMNS));
        before.push_str("  ");
        (
            flow_style(line, is_chosen, paint),
            row(&before, &line.title, columns),
        )
    });
    Rows::new(rows, at)
}

fn done(line: &&FlowLine) -> String {
    match line.done {
        (_, 0) => String::new(),
        (done, all) => format!("{done}/{all}"),
    }
}

fn flow_style(line: &FlowLine, is_chosen: bool, paint: Paint) -> Style {
    match line.standing {
        None => paint.wrong(),
        Some(FlowStanding::Waiting) => paint.wanted(),
        Some(_) if is_chosen => paint.bold(),
        Some(_) => Style::new(),
    }
}

/// The nodes of the flow that is open, each with the digit that shows the feed of its role, as in `run`.
pub(super) fn nodes(flow: &FlowView, state: &State, columns: usize, paint: Paint) -> Rows {
    let node = widest(
        flow.nodes.iter().map(|node| node.node.as_str()),
        NODE_COLUMNS_MAX,
    );
    let role = widest(
        flow.nodes.iter().map(|node| node.role.as_str()),
        NODE_COLUMNS_MAX,
    );
    let has_keys = state.focus == Focus::Nodes;
    let damage = flow.damage.iter();
    let mut rows: Vec<(Style, String)> = damage
        .map(|damage| (paint.wrong(), one_line(damage, columns)))
        .collect();
    let first = rows.len();
    rows.extend(flow.nodes.iter().enumerate().map(|(number, line)| {
        let digit = (number < 9).then(|| (number + 1).to_string());
        let before = format!(
            "{}{} {} {}  {}  ",
            mark(number == state.node, has_keys),
            padded(&digit.unwrap_or_default(), 1),
            line.sign,
            padded(&line.node, node),
            padded(&line.role, role),
        );
        let style = if line.waits {
            paint.wanted()
        } else {
            Style::new()
        };
        (style, row(&before, &line.word, columns))
    }));
    Rows::new(rows.into_iter(), Some(first + state.node))
}
