//! What is true: ids, facts, views and legality.
//!
//! This crate is a heart. It computes, and touches nothing: no file, no network, no process, no
//! environment, no clock. Everything in it ends up in the journal of a flow, is folded from one, or is a verb from which
//! facts follow.

pub mod at;
pub mod fact;
pub mod handoff;
pub mod hash;
pub mod id;
pub mod legal;
pub mod limits;
pub mod line;
pub mod message;
pub mod reason;
pub mod sample;
pub mod seat;
pub mod verb;
pub mod view;
pub mod words;

pub use at::At;
pub use fact::Fact;
pub use hash::Hash;
pub use line::{Body, Recorded};
pub use seat::Seat;
pub use verb::{Verb, Whom};
