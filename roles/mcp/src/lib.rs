//! Tools of MCP servers: starting the servers, listing what they offer, and calling it.
//!
//! Everything that a server says is a stranger's word. It has bounds, it is shown as data, and
//! nothing in it decides what may happen: which servers exist comes from the operator's own
//! configuration (`spec`, `parse`), and what is approved is approved by the hash of a
//! definition, not by a name. A call names the definition that it was approved under, and one
//! whose tool has changed since is not made.
//!
//! | Step | Where |
//! |---|---|
//! | what the operator configured, and its hash | `spec`, `parse`, `address` |
//! | what a workspace would like to have, which starts nothing | `wanted` |
//! | a process with its pipes, or an HTTP client | `process`, `pipes`, `web` |
//! | one connection, and what its server may ask of us, which is nothing | `connection`, `guest` |
//! | one server over several connections: waiting longer after each fault | `server` |
//! | a list of tools as it may be shown to a model | `definition`, `name`, `schema`, `plain` |
//! | a result as it may be shown to a model | `output` |
//!
//! The outside is synchronous (`servers::Servers`) and is called on threads that may wait; the
//! SDK's tasks run on the process's one runtime for sockets and pipes (`waiter`).

mod address;
mod connection;
mod definition;
mod guest;
mod limits;
mod name;
mod output;
mod parse;
mod pipes;
mod plain;
mod process;
mod schema;
mod server;
mod servers;
mod spec;
mod waiter;
mod wanted;
mod web;

#[cfg(test)]
mod tests;

pub use definition::{RemoteTool, ServerTools};
#[cfg(test)]
pub(crate) use output::RemoteOutput;
#[cfg(test)]
pub(crate) use server::RemoteCallFault;

pub use limits::{CALL_LIMIT, ServerLimits};
pub use name::server_of;
pub use parse::parse;
pub use servers::{RemoteCall, Servers};
pub use spec::{Given, ServerSpec, ServerTransport, Variable};
pub use wanted::wanted;
