//! Settings from outside, resolved here and handed on as values.

pub mod programs;
