//! A role that is a program.
//!
//! Its turn is one call of one tool. The program waits at a gate until the start of the call is
//! durable, reads the packet as JSON from its standard input, and says how the turn ends with a
//! handoff block on its standard output, or with its exit code. What a program did is never done
//! again by itself: a crash while it ran leaves a call whose outcome is unknown, and the turn then
//! asks the operator.

mod input;
mod limits;
mod outcome;
mod play;
mod report;
mod spec;

pub(crate) use input::mark;
pub use play::{CommandTaker, end_survivor};
pub use spec::{CommandSpec, ExitOutcome, InheritedVariables, ProgramExits};
