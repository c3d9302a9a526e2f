//! The lists of the page's keys: what each does.

use super::keys::{
    ALL_KEYS, BACK_TO_LIVE, FORK_FROM_HERE, NEXT_EVENT, NEXT_PART, PREVIOUS_EVENT, SEARCH_OR_JUMP,
    START_A_FLOW, STOP_THE_TURN,
};
use super::words;

words! {
    names {
        /// What a key of the page does, by the name of its action; what answers a question is in the choices.
        act => "ACT" {
            "palette" = SEARCH_OR_JUMP,
            "help" = ALL_KEYS,
            "go-inbox" = "go to the inbox",
            "go-flows" = "go to the flows",
            "previous-waiting" = "previous question",
            "next-waiting" = "next question",
            "down" = "next in the list",
            "up" = "previous in the list",
            "open" = "open",
            "open-in-flow" = "open in its flow",
            "answer-first" = "choose a card or an offered answer",
            "show-all" = "show all of what is asked about",
            "snooze" = "snooze for 30 minutes",
            "role-tab" = "feed of that role",
            "view" = "graph or outline",
            "find" = "find here",
            "transcript" = "transcript of the role",
            "diff" = "files that the flow changed",
            "stop-turn" = STOP_THE_TURN,
            "previous-event" = PREVIOUS_EVENT,
            "next-event" = NEXT_EVENT,
            "live" = BACK_TO_LIVE,
            "fork" = FORK_FROM_HERE,
            "new-flow" = START_A_FLOW,
            "composer" = "write to the role whose feed is shown",
            "region" = NEXT_PART,
            "close" = "close what was opened, then back to live",
        }
        /// What a key does in a field.
        in_text => "IN_TEXT" {
            "Enter" = "send",
            "Shift Enter" = "a new line",
            "Mod Enter" = "send and follow; in the search, open beside",
        }
        /// What a key does in the graph.
        in_graph => "IN_GRAPH" {
            "↑ ↓" = "to what it comes from, to what follows",
            "← →" = "beside it in the same rank",
            "Enter" = "open its role",
            "+ −" = "zoom",
            "0" = "fit",
        }
        /// What a key does on the time strip.
        on_strip => "ON_STRIP" {
            "← →" = "previous and next event",
            "Shift ← →" = "previous and next turn",
            "Page Up, Page Down" = "a twentieth of the flow",
            "Home, End" = "beginning, now",
        }
    }
}
