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
    Change, Feedback, FlowStatus, Improvement, Notice, Parentage, Pause, Phase, Reflecting,
};
pub use seen::Seen;
pub use state::FlowState;
