//! The hash of exactly what would run.

use a_society_facts::Hash;

/// Everything that an answer of the operator is bound to. If any of it changes, it is another
/// action, and is asked about again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Action<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its arguments, byte for byte.
    pub arguments: &'a str,
    /// Where it would run: the folder, as the system names it.
    pub folder: &'a str,
    /// Which variables it would get.
    pub environment: &'a str,
    /// Behind which walls.
    pub sandbox: &'a str,
    /// With which network.
    pub network: &'a str,
    /// The flow.
    pub flow: &'a str,
    /// The role instance.
    pub role: &'a str,
    /// The node, or nothing in the improvement phase.
    pub node: &'a str,
    /// For a tool of a server, the hash of its definition, else nothing.
    pub definition: &'a str,
}

impl Action<'_> {
    /// The hash. Each part is preceded by its length, so that bytes cannot move from one part into
    /// another.
    #[must_use]
    pub(crate) fn hash(&self) -> Hash {
        let Self {
            tool,
            arguments,
            folder,
            environment,
            sandbox,
            network,
            flow,
            role,
            node,
            definition,
        } = *self;
        let parts = [
            "a-society action 1",
            tool,
            arguments,
            folder,
            environment,
            sandbox,
            network,
            flow,
            role,
            node,
            definition,
        ];
        let mut bytes = Vec::new();
        for part in parts {
            bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
        Hash::of(&bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const PLAIN: Action<'_> = Action {
        tool: "run_command",
        arguments: r#"{"command":"npm test"}"#,
        folder: "8:1:42",
        environment: "e",
        sandbox: "s",
        network: "off",
        flow: "f",
        role: "owner",
        node: "start",
        definition: "",
    };

    #[test]
    fn c73_an_action_that_differs_in_anything_has_another_hash() {
        let others = [
            PLAIN,
            Action { tool: "x", ..PLAIN },
            Action {
                arguments: r#"{"command":"npm test "}"#,
                ..PLAIN
            },
            Action {
                folder: "8:1:43",
                ..PLAIN
            },
            Action {
                environment: "other",
                ..PLAIN
            },
            Action {
                sandbox: "none",
                ..PLAIN
            },
            Action {
                network: "on",
                ..PLAIN
            },
            Action { flow: "g", ..PLAIN },
            Action {
                role: "owner_2",
                ..PLAIN
            },
            Action { node: "", ..PLAIN },
            Action {
                definition: "d",
                ..PLAIN
            },
            // What leaves one part does not come back in the next.
            Action {
                environment: "es",
                sandbox: "",
                ..PLAIN
            },
            Action {
                environment: "",
                sandbox: "es",
                ..PLAIN
            },
        ];
        let hashes: BTreeSet<_> = others.iter().map(Action::hash).collect();
        assert_eq!(hashes.len(), others.len());
    }
}
