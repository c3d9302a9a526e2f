//! Roles take turns: models, people, commands, other agents.

pub mod handoff;
mod yaml;
