//! How far the tools of a role reach, as a page says it and offers less of it.
//!
//! What the operator's configuration allows is the most; while it is unknown, no reach is shown.

use std::collections::BTreeMap;

use a_society_facts::fact::terms::Scope;
use a_society_orchestrator::config::user::ToolReach;
use a_society_orchestrator::graph::{Executor, InlineRole};
use a_society_orchestrator::project::choices;

/// In a few words, of a role whose turns a model takes.
#[must_use]
pub fn words(
    most: Option<&ToolReach>,
    definition: Option<&InlineRole>,
    settings: &BTreeMap<String, String>,
) -> Option<String> {
    let executor = definition.map_or(Executor::Model, InlineRole::executor);
    let most = most.filter(|_| executor == Executor::Model)?;
    Some(choices::reach(most.clone(), definition, settings).words())
}

/// The scopes that can be chosen for a role, the narrowest first: none that is wider than what it
/// has by itself.
#[must_use]
pub(crate) fn scopes(most: Option<&ToolReach>, definition: Option<&InlineRole>) -> Vec<String> {
    let Some(most) = most else {
        return Vec::new();
    };
    let own = choices::reach(most.clone(), definition, &BTreeMap::new()).scope;
    let narrower = Scope::ALL.into_iter().filter(|scope| *scope <= own);
    narrower.map(|scope| scope.word().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use a_society_orchestrator::graph::parse_file;

    use super::*;

    fn role(lines: &str) -> InlineRole {
        let text = format!(
            "workflow:\n  name: n\n  nodes:\n    - id: a\n      role: r\n  edges: []\nroles:\n  r:\n{lines}"
        );
        let (file, faults) = parse_file(&text, "workflow.yaml");
        let roles = file.and_then(|file| file.roles).unwrap_or_default();
        let found = roles.into_iter().next().map(|(_, role)| role);
        found.unwrap_or_else(|| panic!("{faults:?}"))
    }

    fn most(scope: Scope) -> ToolReach {
        ToolReach {
            scope,
            ..ToolReach::default()
        }
    }

    #[test]
    fn only_scopes_that_take_something_away_or_nothing_are_offered() {
        let held = role("    instructions: x.md\n    permissions: {scope: project}\n");
        for (scope, file, expected) in [
            (Scope::Full, None, "sandboxed project full"),
            (Scope::Full, Some(&held), "sandboxed project"),
            (Scope::Project, None, "sandboxed project"),
            (Scope::Sandboxed, Some(&held), "sandboxed"),
        ] {
            assert_eq!(scopes(Some(&most(scope)), file).join(" "), expected);
        }
        assert_eq!(scopes(None, None), [""; 0]);
    }

    #[test]
    fn what_is_said_is_what_is_left_and_nothing_of_what_is_not_known_or_has_no_tools() {
        let chosen = |word: &str| BTreeMap::from([("scope".to_owned(), word.to_owned())]);
        let full = most(Scope::Full);
        let said = |file, word| words(Some(&full), file, &chosen(word));
        let expected = |text: &str| Some(text.to_owned());
        assert_eq!(said(None, "full"), expected("scope full, network on"));
        assert_eq!(
            said(None, "sandboxed"),
            expected("scope sandboxed, network off")
        );
        let held = role("    instructions: x.md\n    permissions: {scope: project}\n");
        assert_eq!(
            said(Some(&held), "full"),
            expected("scope project, network off")
        );
        assert_eq!(words(None, None, &chosen("full")), None);
        assert_eq!(said(Some(&role("    executor: human\n")), "full"), None);
    }
}
