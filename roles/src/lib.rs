//! Roles take turns: models, people, commands, other agents.

pub mod consent;
pub mod cost;
pub mod handoff;
pub mod mcp;
mod number;
pub mod port;
pub mod provider;
mod reading;
pub mod role;
pub mod skill;
pub mod taker;
mod thread;
pub mod tool;
pub mod turn;
mod yaml;
