//! A flow that begins without a graph: its owner finds out what it is for, and writes the graph.

use std::path::PathBuf;

use super::docs::folder::{Project, over_canonical};
use super::flow_file::{FileError, FlowFile, read_kept};

/// What a draft is called until it has a graph of its own.
pub(crate) const DRAFT_NAME: &str = "Draft";

/// The node that a draft consists of. The graph that replaces the draft keeps it, because it was visited.
pub(crate) const DRAFT_NODE: &str = "owner-intake";

/// Who drafts where no project says so.
const OWNER: &str = "owner";

/// The graph of a draft: one node.
fn graph(owner: &str) -> String {
    format!(
        "\
# A draft: its owner writes the graph of the flow in its place.
workflow:
  name: {DRAFT_NAME}
  summary: The owner finds out what the flow is for and writes its graph.
  nodes:
    - id: {DRAFT_NODE}
      role: {owner}
      work:
        - >-
          Find out what this flow is to achieve. Ask the operator about what is not clear, until you
          could explain to another person what is wanted.
        - >-
          Then write the graph of the flow to record/workflow.yaml. Keep this node, {DRAFT_NODE}, as
          the first one; give the workflow a name, add the nodes and edges that the work needs, and
          let a node of your own role close it.
        - >-
          Then hand off along the edges of that graph. A task that needs nobody else may stay one
          node: do it here, and close the flow.
  edges: []
"
    )
}

/// The draft of a flow of a project, drafted by the owner of its graph.
///
/// # Errors
/// Never, for a project that is sound.
pub(crate) fn of_project(project: &Project) -> Result<FlowFile, FileError> {
    let source = graph(project.canonical.graph.owner().base());
    let file = FlowFile {
        path: PathBuf::from(DRAFT_NAME),
        is_draft: true,
        ..read_kept(source)?
    };
    // The project's own node of this name is laid over it, with what it reads and who approves.
    let laid = over_canonical(project, file.clone());
    Ok(FlowFile {
        roles: project.canonical.roles.clone(),
        ..laid.unwrap_or(file)
    })
}

/// The draft of a flow without a project.
///
/// # Errors
/// Never.
pub fn alone() -> Result<FlowFile, FileError> {
    let source = format!(
        "{}roles:\n  {OWNER}:\n    instructions: You answer for what the operator wants, and for \
         the graph by which it is done.\n",
        graph(OWNER)
    );
    Ok(FlowFile {
        path: PathBuf::from(DRAFT_NAME),
        is_draft: true,
        ..read_kept(source)?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_is_one_node_of_its_owner() {
        let draft = alone().unwrap();
        assert!(draft.is_draft && draft.defines_roles);
        let nodes: Vec<_> = draft
            .graph
            .nodes()
            .iter()
            .map(|node| node.id.as_str())
            .collect();
        assert_eq!(nodes, [DRAFT_NODE]);
        assert_eq!(draft.graph.name(), DRAFT_NAME);
        assert_eq!(draft.graph.nodes()[0].work().len(), 3);
    }
}
