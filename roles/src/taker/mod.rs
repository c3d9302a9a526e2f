//! Those who take turns without a model: scripts, programs, and the operator.

pub mod command;
pub mod human;
pub mod scripted;

#[cfg(test)]
mod tests;
