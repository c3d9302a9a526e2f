//! What a turn ends with: finding it in a role's text, reading it, and asking for it again.

mod call;
mod contract;
mod fault;
mod fence;
mod limits;
mod outcome;
mod parse;
mod write;

pub use call::{
    EndingTool, NOT_ENDED, OutcomeCall, chosen, ending_tools, not_beside, read_call, summary_of,
};
pub(crate) use contract::problem_of;
pub use contract::{
    AllowedOutcomes, OutcomeForm, Signal, arguments, endings, no_ending_message,
    output_limit_message, repair_message,
};
pub use fault::{FaultSpan, HandoffFault, HandoffFaultCode};
pub use limits::{MAX_BLOCK_BYTES, MAX_TARGETS};
pub use outcome::{NamedTarget, RoleOutcome};
pub use parse::{parse_cut_outcome, parse_outcome, words_before_block};
pub(crate) use write::fenced;
pub use write::handoff_block;

#[cfg(test)]
mod golden;
#[cfg(test)]
mod liberal;
