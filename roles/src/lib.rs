//! Roles take turns: models, people, commands, other agents.
