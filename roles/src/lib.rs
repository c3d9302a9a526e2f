//! Roles take turns: models, people, commands, other agents.

pub mod handoff;
pub mod turn;
mod yaml;
