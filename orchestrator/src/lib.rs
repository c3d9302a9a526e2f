//! Makes it happen: connects facts, flow, roles and the disk.
//!
//! [`driver`] owns one flow: it takes inputs, lets the machine decide, appends what follows, and
//! starts what is pending. [`fork`] makes a new flow of a part of another, [`import_state`] of the
//! files that another program kept. [`project`] knows where flows, roles and their files come from.
//! [`workspace`] knows which project a file has and what a new flow is made of. [`sessions`] lists sessions and reads their messages. [`schedules`] begins flows at their due times, and [`webhooks`] for signed requests. [`sent_request`] writes a request that left once more, [`delivered`] reads what a flow made.

pub mod config;
pub mod control;
pub mod delivered;
pub mod driver;
pub mod findings;
pub mod fork;
pub mod import_state;
pub mod limits;
pub mod mint;
pub mod notification;
pub mod pasted_secrets;
pub mod project;
pub mod record;
pub mod revision;
pub mod run;
pub mod schedules;
pub mod sent_request;
pub mod sessions;
mod turn_view;
pub mod webhooks;
pub mod workspace;

// The floor above prints graphs, diagnostics and questions; it knows them through here.
/// In place of a secret.
pub use a_society_base::redact::MARK as WITHHELD;
/// The process's one runtime for sockets and pipes, on which the page is served, too.
pub use a_society_base::runtime;
pub use a_society_flow::{graph, machine};
/// How often a request that failed is sent again.
pub use a_society_providers::retry::limits::{RETRIES_AFTER, RETRIES_BEFORE};
pub use a_society_roles::taker::scripted::{RoleScript, ScriptFault};
/// What this program does when it guards a command; the floor above is where programs begin.
pub use a_society_roles::tool::command::guard;
/// The meaning of tool calls, by all names of the tools.
pub use a_society_roles::tool::{
    RequestedChange, Status, TaskArgument, canonical, requested_changes, requested_files,
    requested_tasks, text_after,
};
pub use a_society_roles::turn::words::PROGRAM;
