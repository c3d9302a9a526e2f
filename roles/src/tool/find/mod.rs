//! Finding files by what they hold and by how they are called.

mod asked;
mod expression;
mod glob;
mod grep;
mod notes;
mod pattern;
mod walk;

#[cfg(test)]
mod tests;

pub(super) use asked::{Glob, Grep};
