//! How facts become what the wire carries: views by key, and items of feeds.
//!
//! This is pure. It takes facts, and returns which parts they changed; nothing here reads a disk, a
//! clock or a socket.

pub mod answer_text;
pub(crate) mod ask;
pub mod asks;
pub(crate) mod authors;
pub(crate) mod changes;
pub mod compare;
pub(crate) mod costs;
pub(crate) mod decided;
pub(crate) mod edit;
mod estimate;
pub mod feed;
pub(crate) mod findings;
pub mod flow;
pub(crate) mod history;
pub(crate) mod limits;
pub(crate) mod lines;
mod outcome;
pub(crate) mod parts;
pub mod reach;
pub(crate) mod row;
mod tasks;
pub mod terms;
mod touch;
pub(crate) mod track;
pub mod words;

pub(crate) use flow::{FlowFold, Liveness};

#[cfg(test)]
mod tests;
