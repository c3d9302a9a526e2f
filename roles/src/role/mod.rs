//! The texts for a role: who it is, what its task is, and what to do when it is asked again.
//!
//! All of it is pure: plain values in, text out. The driver knows the graph, the files and the time,
//! and passes them as values.

pub mod compaction;
pub mod definition;
pub mod digest;
pub mod environment;
pub mod former;
pub mod packet;
pub mod prompt;

mod chat;
mod quote;

pub(crate) use quote::name;

#[cfg(test)]
mod tests;
