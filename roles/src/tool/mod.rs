//! Tools: what a model may ask for, and the only way in which it happens.
//!
//! A call passes four stations. [`Toolbox::plan`] reads and checks its arguments and says what would
//! happen: the class of its effect, the hashes of the file it would change, what consent needs to know.
//! Nothing has happened then. The driver of the turn records the intent, asks
//! [`crate::consent::decide`], and calls `Toolbox::start`, which at most spawns a process that waits
//! at its gate. When the start is durable, `RunningCall::finish` opens the gate and returns the result. A
//! `RunningCall` that is dropped never ran, or is ended with all that it started.
//!
//! Every text that leaves here for a model has its secrets blanked out and its length bounded, and
//! every refusal says what to do instead.

mod arguments;
pub mod command;
mod deed;
mod edit;
mod files;
mod find;
mod form;
mod image;
mod limits;
mod output;
mod patch;
mod plan;
mod reach;
mod read;
mod recall;
mod refusal;
mod running;
mod session_reader;
mod sessions;
mod setting;
mod show;
mod shown_files;
mod stopwatch;
mod text;
mod todo;
mod toolbox;
mod web;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use a_society_facts::fact::terms::Scope;
pub use arguments::{
    HistoryAsked, RequestedChange, SendAsked, SessionsAsked, Status, TaskArgument, canonical,
    definitions, requested_changes, requested_files, requested_tasks, twin,
};
pub(crate) use form::clipped;
pub(crate) use plan::CallPlan;
pub use reach::{Narrowing, ToolReach};
#[cfg(test)]
pub(crate) use refusal::{CallRefusal, RefusalKind};
pub(crate) use running::{Finished, RunningCall};
pub use session_reader::ReadSessions;
pub use setting::{
    CallLimits, EditTool, Guard, Owner, SearchService, ToolSetting, WorkflowCheck, is_small_window,
};
pub use toolbox::Toolbox;
pub use web::search::try_search;
pub use write::text_after;
pub(crate) use write::text_of_writing;
