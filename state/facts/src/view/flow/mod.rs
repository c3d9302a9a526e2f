//! The state of a flow, which is written to `flow.json` and which every decision reads.

mod ask;
mod budget_lack;
mod chart;
mod counted_commands;
mod decisions;
mod fold;
mod imported;
mod nodes;
mod parts;
mod phase;
mod state;
mod turns;

pub use decisions::{DecidedMatter, Decider, DecisionTally, Decisions, FlowDecision, RuleTally};
pub use parts::*;
pub use phase::{
    FileChangeState, FlowPhase, FlowStatus, Improvement, Parentage, Pause, Reflecting,
};
pub use state::FlowState;
