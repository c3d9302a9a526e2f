//! The graph of a flow: reading it, judging it, changing it while it runs, and showing it.

pub mod limits;
mod name;
mod yaml;

pub use name::{EdgeId, NameFault, NodeId, RoleInstance, RoleName};
