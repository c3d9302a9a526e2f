//! Roles take turns: models, people, commands, other agents.

pub mod cost;
pub mod handoff;
pub mod port;
pub mod provider;
mod reading;
pub mod role;
pub mod taker;
pub mod turn;
mod yaml;
