// Generated from state/facts/src/words by `A_SOCIETY_UPDATE=1 cargo test -p a-society-facts --lib the_page_says`. Do not edit.

export const ACT = {
  "palette": "search or jump to",
  "help": "all keys",
  "go-inbox": "go to the inbox",
  "go-flows": "go to the flows",
  "previous-waiting": "previous question",
  "next-waiting": "next question",
  "down": "next in the list",
  "up": "previous in the list",
  "open": "open",
  "open-in-flow": "open in its flow",
  "answer-first": "choose a card or an offered answer",
  "show-all": "show all of what is asked about",
  "snooze": "snooze for 30 minutes",
  "role-tab": "feed of that role",
  "view": "graph or outline",
  "find": "find here",
  "transcript": "transcript of the role",
  "diff": "files that the flow changed",
  "stop-turn": "stop the turn of the role whose feed is shown",
  "previous-event": "previous event",
  "next-event": "next event",
  "live": "back to live",
  "fork": "fork from here",
  "new-flow": "start a flow",
  "composer": "write to the role whose feed is shown",
  "region": "go to the next part of the screen",
  "close": "close what was opened, then back to live",
} as const;
export const IN_TEXT = {
  "Enter": "send",
  "Shift Enter": "a new line",
  "Mod Enter": "send and follow; in the search, open beside",
} as const;
export const IN_GRAPH = {
  "↑ ↓": "to what it comes from, to what follows",
  "← →": "beside it in the same rank",
  "Enter": "open its role",
  "+ −": "zoom",
  "0": "fit",
} as const;
export const ON_STRIP = {
  "← →": "previous and next event",
  "Shift ← →": "previous and next turn",
  "Page Up, Page Down": "a twentieth of the flow",
  "Home, End": "beginning, now",
} as const;
