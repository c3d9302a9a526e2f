//! Which sessions a workspace has, and the messages in them: for models through their tools, and for the terminal.
//!
//! [`key`] is the address of a session, `find` finds the one that a person means, `sight` decides which of them a role may see, [`list`] and [`history`] read
//! them, [`search`] finds words in them, and `reader` is what a role's tools are given. [`send`] sends a message to a
//! chat, `run` is what its journal says about that message, `start` begins a process that drives the chat, and
//! `chain` finds waits that could not end.

mod chain;
pub mod chat_flow;
mod find;
pub mod history;
pub mod key;
pub mod list;
pub(crate) mod reader;
pub mod report;
mod run;
pub mod search;
pub mod send;
mod sight;
mod start;
