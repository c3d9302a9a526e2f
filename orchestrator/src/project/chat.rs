//! A chat as a flow file: one node, taken by the role that its person talks to.

use std::path::PathBuf;

use a_society_flow::graph::RoleName;

use super::docs::folder::Project;
use super::flow_file::{FileError, FlowFile, read_kept};

/// What a chat is called before its first message.
pub(crate) const CHAT_NAME: &str = "Chat";

/// Its node.
pub(crate) const CHAT_NODE: &str = "chat";

/// Who answers where no role is named.
pub(crate) const ASSISTANT: &str = "assistant";

/// The instructions of the built-in role. What holds in every chat is in its prompt anyway.
const INSTRUCTIONS: &str = "You are a careful colleague who knows software and writing. You help the person \
with whatever they bring: explain, look into it, change files, run commands.";

fn graph(role: &str) -> String {
    format!(
        "\
# A chat: one node, which answers until its person ends it.
workflow:
  name: {CHAT_NAME}
  nodes:
    - id: {CHAT_NODE}
      role: {role}
  edges: []
"
    )
}

/// A chat with a role of a project.
///
/// # Errors
/// Never, for a role that the project has.
pub(crate) fn with_role(project: &Project, role: &RoleName) -> Result<FlowFile, FileError> {
    Ok(FlowFile {
        path: PathBuf::from(CHAT_NAME),
        roles: project.canonical.roles.clone(),
        ..read_kept(graph(&role.to_string()))?
    })
}

/// A chat with the built-in role.
///
/// # Errors
/// Never.
pub(crate) fn plain() -> Result<FlowFile, FileError> {
    let role = format!("roles:\n  {ASSISTANT}:\n    instructions: >-\n      {INSTRUCTIONS}\n");
    Ok(FlowFile {
        path: PathBuf::from(CHAT_NAME),
        ..read_kept(graph(ASSISTANT) + &role)?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chat_without_a_role_is_one_node_of_the_built_in_one() {
        let chat = plain().unwrap();
        let nodes: Vec<_> = chat
            .graph
            .nodes()
            .iter()
            .map(|node| node.id.as_str())
            .collect();
        assert_eq!(nodes, [CHAT_NODE]);
        let roles: Vec<_> = chat.roles.iter().collect();
        let [(name, role)] = roles.as_slice() else {
            panic!("one role");
        };
        assert_eq!(name.to_string(), ASSISTANT);
        assert_eq!(role.instructions.as_deref(), Some(INSTRUCTIONS));
    }
}
