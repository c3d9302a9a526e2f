//! Searching the messages of all sessions of a workspace.
//!
//! [`search`] finds the messages that have some words, through an index: a database beside the projects that says which
//! words are in which message (`database`) and that is brought to where the journals are before it is asked (`update`).
//! The index is a cache. What it names is read in the journal (`said`) and looked at once more before it is shown; what
//! is missing, damaged or of another version is made anew, and where none can be kept the journals are searched.

mod database;
mod find;
mod gather;
mod index;
mod limits;
mod query;
mod said;
#[cfg(test)]
mod tests;
mod update;
mod words;

pub use self::{
    find::{index, search},
    gather::{FoundSession, SearchFound, SearchTerms, SearchWanted},
    query::{NoWords, SearchWords},
    said::{SaidBy, SaidMessage},
    update::UpdateStep,
};
