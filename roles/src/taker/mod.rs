//! Those who take turns: models, scripts, programs, and the operator.

pub mod command;
pub mod compacting;
pub mod human;
pub mod model;
pub mod scripted;

#[cfg(test)]
mod tests;
