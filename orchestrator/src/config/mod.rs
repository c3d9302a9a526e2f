//! Settings from outside, resolved here and handed on as values.

pub mod models;
pub mod programs;
pub mod user;
