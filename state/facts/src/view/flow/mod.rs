//! The state of a flow, which is written to `flow.json` and which every decision reads.

mod ask;
mod chart;
mod fold;
mod imported;
mod lack;
mod nodes;
mod parts;
mod phase;
mod seen;
mod state;
mod turns;

pub use chart::Chart;
pub use imported::Origins;
pub use parts::*;
pub use phase::{
    FeedbackReport, FileChangeState, FlowPhase, FlowStatus, Improvement, Notice, Parentage, Pause,
    Reflecting,
};
pub use seen::SeenCommands;
pub use state::FlowState;
