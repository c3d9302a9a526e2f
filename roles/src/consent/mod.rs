//! Consent: whether a call may happen, and what the operator is asked.
//!
//! The decision is pure. It takes the mode of the flow, what was granted, how far tools reach, and
//! what a call would do, and gives one of three answers. What the operator allows is bound to the
//! hash of exactly what would run, so that nothing else can run in its name.

mod action;
mod decide;
pub mod policy;
mod shown;

pub(crate) use action::Action;
pub use decide::{ConsentQuestion, Decision, Tier, decide};

pub(crate) use shown::shown;
