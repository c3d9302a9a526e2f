//! Takers before a driver that holds them to the rules of the journal.

mod scripted;
mod scripts;
mod stage;
