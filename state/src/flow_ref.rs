//! The address of a flow.

use a_society_facts::id::{FlowId, ProjectName};

/// A flow's address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowRef {
    /// Its project.
    pub project: ProjectName,
    /// Its id.
    pub flow: FlowId,
}

impl std::fmt::Display for FlowRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.project, self.flow)
    }
}
