//! Takers before a driver that holds them to the rules of the journal.

mod command;
mod human;
mod scripted;
mod scripts;
pub(super) mod stage;
