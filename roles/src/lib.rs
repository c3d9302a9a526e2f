//! Roles take turns: models, people, commands, other agents.

pub mod config;
pub mod consent;
pub mod cost;
pub mod handoff;
mod number;
pub mod port;
mod reading;
pub mod role;
pub mod skill;
pub mod taker;
pub mod tool;
pub mod turn;
