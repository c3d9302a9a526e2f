//! What a turn ends with: finding it in a role's text, reading it, and asking for it again.

mod call;
mod contract;
mod fault;
mod fence;
mod limits;
mod outcome;
mod parse;
mod write;

pub use call::{EndingTool, NOT_ENDED, chosen};

pub(crate) use a_society_facts::fact::node::FaultCode;
pub(crate) use call::{OutcomeCall, ending_tools, not_beside, read_call, summary_of};
pub(crate) use contract::endings;
pub(crate) use contract::problem_of;
pub use contract::{
    AllowedOutcomes, OutcomeForm, Signal, arguments, no_ending_message, output_limit_message,
    repair_message,
};
pub(crate) use fault::HandoffFault;
pub(crate) use limits::MAX_TARGETS;
pub(crate) use outcome::NamedTarget;
pub use outcome::RoleOutcome;
pub use parse::words_before_block;
pub(crate) use parse::{parse_cut_outcome, parse_outcome};
pub(crate) use write::fenced;
pub(crate) use write::handoff_block;

#[cfg(test)]
mod golden;
#[cfg(test)]
mod liberal;
