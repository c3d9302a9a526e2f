//! What a turn ends with: finding it in a role's text, reading it, and asking for it again.

mod contract;
mod fault;
mod fence;
mod limits;
mod outcome;
mod parse;
mod write;

pub use contract::{Allowed, Signal, handoff_contract, output_limit_message, repair_message};
pub(crate) use contract::{allowed_text, problem_of};
pub use fault::{FaultCode, FaultSpan, HandoffFault};
pub use limits::{MAX_BLOCK_BYTES, MAX_TARGETS};
pub use outcome::{Outcome, Target};
pub use parse::{parse_outcome, words_before_block};
pub(crate) use write::fenced;
pub use write::handoff_block;

#[cfg(test)]
mod golden;
