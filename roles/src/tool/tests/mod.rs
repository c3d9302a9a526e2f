//! The tools over real folders, with the bad inputs that are known.

mod files;
mod paths;
mod race;
mod secrets;
pub(super) mod stage;
