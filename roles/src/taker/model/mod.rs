//! A role whose turns a language model takes, with tools in the operator's folder.
//!
//! The taker is a machine: it hears what came of its last step and says the next. What waits for
//! the outside world stands behind three doors, which are given to it: the [`Provider`], whose
//! answers arrive while they are spoken; the [`Toolbox`], whose calls begin only after their start
//! is recorded; and the clock of whoever drives it, because a taker that must wait says so as a
//! step. What it knows of the past is the recorded conversation alone, so that a turn that was cut
//! off goes on exactly where its journal ends.
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

pub use choose::{Candidate, Chooser, Question};
pub use gear::{Gear, Model, Remote, Traffic, Unready};
pub use taker::{ModelTaker, conversation};
