//! The journal of one flow: the only truth about it.
//!
//! `append` writes records, [`scan`] reads a journal from its beginning or from a checkpoint,
//! [`verdict`] judges what a scan found by the table in `RECOVERY.md`, [`recover`] does what the
//! verdict allows, [`follow`] reads beside a writer, `lines` reads the lines of long segments ahead,
//! and `lineage` knows which segments a fork shares with its parent.

pub(crate) mod append;
pub mod follow;
pub(crate) mod lineage;
mod lines;
pub mod recover;
pub mod scan;
pub(crate) mod span;
pub mod verdict;
