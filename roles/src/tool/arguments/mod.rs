//! The arguments of calls: the forms of all tools, and what is read by them.

mod call_changes;
mod commands;
mod definitions;
mod files;
mod forms;
mod parse;
mod search;
mod sessions;
mod web;

pub use self::call_changes::{
    RequestedChange, requested_changes, requested_files, requested_tasks,
};
pub(super) use self::commands::{CommandOutput, RunCommandArguments, Todo};
pub use self::commands::{Status, TaskArgument};
pub use self::definitions::definitions;
pub(super) use self::files::{ApplyPatch, EditFile, OneEdit, ReadFile, WriteFile};
pub use self::forms::{canonical, twin};
pub(super) use self::parse::{ChangeArguments, ToolArguments, parse, understood};
pub(super) use self::search::{GlobFiles, GrepFiles, ListDirectory};
pub use self::sessions::{HistoryAsked, SendAsked, SessionsAsked};
pub(super) use self::web::{FetchUrl, WebSearch};
