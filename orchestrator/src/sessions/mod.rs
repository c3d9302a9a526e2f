//! Which sessions a workspace has, and the messages in them: for models through their tools, and for the terminal.
//!
//! [`key`] is the address of a session, `sight` decides which of them a role may read, [`list`] and [`history`] read
//! them, [`search`] finds words in them, and `reader` is what a role's tools are given.

pub mod chat_flow;
pub mod history;
pub mod key;
pub mod list;
pub(crate) mod reader;
pub mod search;
mod sight;
