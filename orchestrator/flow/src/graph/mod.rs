//! The graph of a flow: reading it, judging it, changing it while it runs, and showing it.

pub mod limits;

mod diagnostic;
mod difference;
mod hint;
mod improvement;
mod keys;
mod model;
mod name;
mod order;
mod overlay;
mod parse;
mod parse_role;
mod project_file;
mod render;
mod revise;
mod role;
mod schema;
mod validate;
mod walk;

pub use diagnostic::{Code, Diagnostic, Excerpt, Severity};
pub use difference::differences;
pub use hint::nearest;
pub use improvement::ImprovementStep;
pub use model::{Edge, EdgeIndex, FlowGraph, GraphFile, GraphNode, NodeIndex};
pub use name::{
    EdgeId, NameFault, NodeId, RoleInstance, RoleName, base_role, node_id, role_instance,
};
pub use overlay::{overlay, overlay_graph};
pub use parse::{parse, parse_file, parse_with_roles};
pub use project_file::{
    FlowDefaults, ListFile, ListItem, OWNERSHIP_FILE, READINGS_FILE, in_todays_form,
    parse_defaults, parse_list, parse_role,
};
pub use render::{RenderFault, to_dot, to_mermaid, to_text, to_yaml};
pub use revise::{Hold, LiveFacts, RevisionObstacle, check_revision};
pub use role::{
    CommandRole, Executor, ExitMapping, ExitOutcome, InlineRole, PermissionMode, Permissions,
    RoleBudget, ToolScope,
};
pub use schema::{schema, schema_text};
pub use validate::build;

#[cfg(test)]
mod parse_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod schema_tests;
