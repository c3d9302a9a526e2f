//! What a role is told: who it is, what lies before it, and what to do when it is asked again.
//!
//! All of it is pure: plain values in, text out. Whoever drives the flow knows the graph, the
//! files and the time, and brings them here as words.

pub mod compaction;
pub mod definition;
pub mod digest;
pub mod environment;
pub mod former;
pub mod packet;
pub mod prompt;

mod quote;

pub(crate) use quote::name;

#[cfg(test)]
mod tests;
