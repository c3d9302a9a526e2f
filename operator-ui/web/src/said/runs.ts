// Generated from state/facts/src/words by `A_SOCIETY_UPDATE=1 cargo test -p a-society-facts --lib the_page_says`. Do not edit.

export const TIME_OF_TURNS = "time of turns";
export const TOKENS_IN = "tokens in";
export const OF_THOSE_CACHED = "of those cached";
export const TOKENS_OUT = "tokens out";
export const NEITHER_HANDED_OVER = "neither run handed anything over";
