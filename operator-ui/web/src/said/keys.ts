// Generated from state/facts/src/words by `A_SOCIETY_UPDATE=1 cargo test -p a-society-facts --lib the_page_says`. Do not edit.

export const NEXT_PART = "go to the next part of the screen";
export const STOP_THE_TURN = "stop the turn of the role whose feed is shown";
export const SEARCH_OR_JUMP = "search or jump to";
export const ALL_KEYS = "all keys";
export const START_A_FLOW = "start a flow";
export const FORK_FROM_HERE = "fork from here";
export const BACK_TO_LIVE = "back to live";
export const PREVIOUS_EVENT = "previous event";
export const NEXT_EVENT = "next event";
export const SNOOZE = "snooze";
