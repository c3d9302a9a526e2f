//! A role whose turns a language model takes, with tools in the operator's folder.
//!
//! The taker is a machine: it gets the result of its last step and returns the next. Everything that
//! waits for the outside world is behind three interfaces that are passed in: the [`Provider`], whose
//! answers arrive while they are produced; the [`Toolbox`], whose calls begin only after their start is
//! recorded; and the clock of the driver, because a taker that must wait returns a step for it. Its
//! only knowledge of the past is the recorded conversation, so that an interrupted turn continues
//! exactly where its journal ends.
//!
//! [`Provider`]: a_society_providers::Provider
//! [`Toolbox`]: crate::tool::Toolbox

mod calls;
mod choose;
mod compact;
mod gear;
mod hear;
mod kit;
mod limits;
mod same;
mod taker;
mod window;

pub use choose::{ChoiceCandidate, ChoiceQuestion, Chooser};
pub use gear::{Gear, Model, Remote, Traffic, Unready};
pub use taker::{ModelTaker, conversation};
