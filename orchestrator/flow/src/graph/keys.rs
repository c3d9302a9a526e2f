//! The keys that each mapping of a flow file may have, in the order in which they are explained.

pub(super) const FILE: &[&str] = &[
    "workflow", "roles", "budget", "improve", "feedback", "metadata",
];
pub(super) const WORKFLOW: &[&str] = &["name", "summary", "nodes", "edges"];
pub(super) const NODE: &[&str] = &[
    "id",
    "role",
    "work",
    "required_readings",
    "human-colab",
    "await-all-inputs",
];
pub(super) const EDGE: &[&str] = &["from", "to", "optional"];
pub(super) const ROLE: &[&str] = &[
    "instructions",
    "executor",
    "model",
    "effort",
    "tools",
    "mcp-servers",
    "skills",
    "required_readings",
    "command",
    "permissions",
    "budget",
];
pub(super) const COMMAND: &[&str] = &["run", "time-limit-seconds", "output-limit-bytes", "on-exit"];
pub(super) const PERMISSIONS: &[&str] =
    &["mode", "scope", "network", "edits", "commands", "mcp-tools"];
pub(super) const BUDGET: &[&str] = &["cost-micro-usd", "tokens", "turns"];
