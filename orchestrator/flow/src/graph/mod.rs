//! The graph of a flow: reading it, judging it, changing it while it runs, and showing it.

pub(crate) mod limits;

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

pub use diagnostic::{Code, Diagnostic};
#[cfg(test)]
pub(crate) use name::{EdgeId, role_instance};
#[cfg(test)]
pub(crate) use role::ExitMapping;

pub use difference::differences;
pub use hint::nearest;
pub use model::{Edge, FlowGraph, GraphFile, GraphNode};
pub(crate) use model::{EdgeIndex, NodeIndex};
pub use name::{NodeId, RoleInstance, RoleName, base_role, node_id};
pub use overlay::overlay_graph;
pub use parse::{parse, parse_file, parse_with_roles};
pub use project_file::{
    FlowDefaults, ListFile, ListItem, OWNERSHIP_FILE, READINGS_FILE, in_todays_form,
    parse_defaults, parse_list, parse_role,
};
pub use render::{RenderFault, to_dot, to_mermaid, to_text, to_yaml, to_yaml_with_metadata};
pub(crate) use revise::{LiveFacts, RevisionObstacle, check_revision};
pub use role::{
    CommandRole, Executor, ExitOutcome, InlineRole, PermissionMode, Permissions, RoleBudget,
    ToolScope,
};
pub use schema::{schema, schema_text};
pub use validate::build;

#[cfg(test)]
mod parse_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod schema_tests;
