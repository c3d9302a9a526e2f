//! Roles take turns: models, people, commands, other agents.

pub mod handoff;
pub mod mcp;
pub mod port;
pub mod role;
pub mod taker;
pub mod turn;
mod yaml;
