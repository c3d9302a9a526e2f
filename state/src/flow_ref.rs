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

impl FlowRef {
    /// Whether its id begins so, or the part of it after the dash does: that is what people remember. The project may
    /// come first, as in `project/id`.
    #[must_use]
    pub fn is_named(&self, text: &str) -> bool {
        let (project, wanted) = match text.rsplit_once('/') {
            Some((project, wanted)) => (Some(project), wanted),
            None => (None, text),
        };
        let id = self.flow.as_str();
        let tail = id.rsplit('-').next().unwrap_or(id);
        let is_begun = id.starts_with(wanted) || tail.starts_with(wanted);
        !wanted.is_empty() && is_begun && project.is_none_or(|named| named == self.project.as_str())
    }
}

impl std::fmt::Display for FlowRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.project, self.flow)
    }
}
