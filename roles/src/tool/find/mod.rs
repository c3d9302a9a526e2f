//! Finding files by what they hold and by how they are called.

mod expression;
mod glob;
mod grep;
mod notes;
mod pattern;
mod query;
mod walk;

#[cfg(test)]
mod tests;

pub(super) use query::{Glob, Grep};
