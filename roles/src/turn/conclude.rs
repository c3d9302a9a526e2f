//! From the last words of a turn to its end.

use super::step::End;
use crate::handoff::{parse_outcome, words_before_block};

/// How a turn ends whose last answer is this.
#[must_use]
pub fn conclude(answer: &str) -> End {
    match parse_outcome(answer) {
        Ok(outcome) => End::Outcome {
            outcome,
            words: words_before_block(answer).to_owned(),
        },
        Err(fault) => End::Fault(fault),
    }
}
