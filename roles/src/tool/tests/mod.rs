//! The tools over real folders, with the bad inputs that are known.

pub(super) mod stage;
