//! The keys: those that matter now, at the bottom of the screen, and all of them, on a screen of their own.

use a_society_facts::fact::operator::SteerWhen;
use a_society_facts::words::keys::{NEXT_PART, STOP_THE_TURN};

use super::answer;
use super::card;
use super::keys::{Focus, State};
use super::layout;
use super::view::View;
use crate::cli::drafts::OFFERED_AGAIN;
use crate::text::width;

/// The keys and what they do take at most so many rows.
const HINT_ROWS: usize = 3;

/// The separator between two keys.
const BETWEEN: &str = " · ";

/// Every key, with what it does.
pub(super) const ALL: [(&str, &str); 24] = [
    ("↑↓ j k", "move in a list, or scroll"),
    ("tab", NEXT_PART),
    ("enter", "open the flow: its nodes, feed, cost and files"),
    ("esc", "go back"),
    (
        "y f n r",
        "answer the chosen question: once, for this flow, no, no and why",
    ),
    (
        "v",
        "show all of the chosen question on a screen of its own",
    ),
    ("pgup pgdn", "read on in the question or the feed"),
    (
        "1-9",
        "show the feed of that node's role, or take an offered choice",
    ),
    ("← →", "show the feed of the role before or after"),
    ("space", "hold the feed, and let it follow again"),
    ("G", "follow the feed"),
    ("/", "filter the lists by words; esc clears it"),
    (":", "run any command; FLOW is the chosen flow"),
    (
        "s",
        "say something to the role whose feed is shown, for its next request",
    ),
    ("S", "the same, cutting off the answer that arrives"),
    (". .", STOP_THE_TURN),
    ("p", "pause the flow; again, let it go on"),
    ("R", "resume a flow that nobody drives"),
    ("o", "open the page in the browser"),
    (
        "c",
        "copy the call that is asked about, or the name of the flow",
    ),
    (
        "ctrl-c",
        "leave a line and keep what is in it; else quit with code 130",
    ),
    ("q", "quit"),
    ("?", "this list; ↑↓ scroll it, any other key closes it"),
    (
        "",
        "letters answer 0.4 s after a question was chosen and after the last key",
    ),
];

/// Keys and what they do, in rows of so many columns, each whole where it fits.
pub(super) fn hint_rows(hint: &[String], columns: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for part in hint {
        match rows.last_mut() {
            Some(row) if width(row) + width(BETWEEN) + width(part) <= columns => {
                row.push_str(BETWEEN);
                row.push_str(part);
            }
            Some(_) | None => rows.push(part.clone()),
        }
    }
    rows.truncate(HINT_ROWS);
    rows
}

/// The keys that matter now.
pub(super) fn hint(view: &View, state: &State) -> Vec<String> {
    if state.focus.is_field() {
        return of_field(state);
    }
    let ask = state.asked(view);
    let answers = ask.map(answer::hints).unwrap_or_default();
    let mut parts: Vec<String> = answers
        .iter()
        .map(|(key, words)| format!("{key} {words}"))
        .collect();
    if let (Some(_), Some(own)) = (ask, &state.own) {
        let keys = own.keys().into_iter();
        parts.extend(keys.map(|(key, does)| format!("{key} {does}")));
    }
    let is_cut =
        ask.is_some_and(|ask| card::said(ask, state.columns).len() > layout::says_rows(state));
    if state.own.is_none() && is_cut {
        parts.extend(["v whole".to_owned(), "pgdn reads on".to_owned()]);
    }
    let moves: &[&str] = match (state.focus, &state.opened) {
        (Focus::Feed, None) => &["↑↓ scroll", "space hold", "s steer"],
        (Focus::Feed, Some(_)) => &["↑↓ scroll", "space hold", "s steer", "esc back"],
        (_, Some(_)) => &["↑↓ choose", "1-9 role", "esc back"],
        (Focus::Asks, None) if ask.is_none() => &["↑↓ choose", "enter open", "/ filter"],
        (Focus::Flows, None) => &["enter open", "s steer", "p pause", "R resume", "/ filter"],
        (_, None) => &["enter open", "/ filter"],
    };
    parts.extend(moves.iter().map(|part| (*part).to_owned()));
    parts.extend(["? keys", "q quit"].map(str::to_owned));
    parts
}

fn of_field(state: &State) -> Vec<String> {
    let leaves = "esc leaves it as it is";
    let parts: Vec<&str> = match (state.focus, &state.steered) {
        (Focus::Steer, Some(to)) => match to.when {
            SteerWhen::Queue => vec![
                "enter sends, and the role reads it with the next request",
                leaves,
            ],
            SteerWhen::Interrupt => {
                vec![
                    "enter sends, and it cuts off the answer that arrives",
                    leaves,
                ]
            }
        },
        (Focus::Filter, _) => vec!["enter keeps the filter", "esc clears it"],
        (Focus::Command, _) => vec![
            "enter runs it",
            "FLOW is the chosen flow",
            "such as: status FLOW",
            leaves,
        ],
        (
            Focus::Text
            | Focus::Steer
            | Focus::Asks
            | Focus::Flows
            | Focus::Nodes
            | Focus::Feed
            | Focus::Cost
            | Focus::Files,
            _,
        ) => vec!["enter sends", "ctrl-j new line", leaves],
    };
    let asked = state.own.as_ref().filter(|_| state.focus == Focus::Text);
    let asked = asked.map(|own| own.mark().trim_end_matches("> ").to_owned());
    let offered = state.is_offered.then(|| OFFERED_AGAIN.to_owned());
    let parts = parts.into_iter().map(str::to_owned);
    offered.into_iter().chain(asked).chain(parts).collect()
}
