//! What is true: ids, facts, views and legality.
//!
//! This crate is a heart. It computes, and touches nothing: no file, no network, no process, no
//! environment, no clock. Everything in it ends up in the journal of a flow, is folded from one, or is a verb from which
//! facts follow.

mod at;
pub mod fact;
pub mod handoff;
mod hash;
pub mod id;
pub mod legal;
pub mod limits;
pub mod line;
pub mod message;
pub mod reason;
mod verb;
pub mod view;
pub mod words;

/// The tests of this crate take the samples of `tests/samples` with this crate's own types.
#[cfg(test)]
extern crate self as a_society_facts;
#[cfg(test)]
#[path = "../../../tests/samples/src/lib.rs"]
pub mod sample;

pub use at::{At, NotAMoment};
pub use fact::list::Fact;
pub use hash::{Hash, Hasher, NotAHash};
pub use line::{Body, Recorded};
pub use verb::{AnsweredRequest, Verb, VerbRow, VerbSetting, Whom};
