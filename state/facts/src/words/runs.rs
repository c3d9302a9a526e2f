//! What is compared of two runs.

use super::words;

words! {
    texts {
        /// How long all turns took together.
        TIME_OF_TURNS = "time of turns";
        /// What was sent.
        TOKENS_IN = "tokens in";
        /// What of that the provider had kept.
        OF_THOSE_CACHED = "of those cached";
        /// What was answered.
        TOKENS_OUT = "tokens out";
        /// There is no artifact to compare.
        NEITHER_HANDED_OVER = "neither run handed anything over";
    }
}
