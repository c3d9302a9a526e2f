//! Keys while a flow is watched and nothing is asked. Pure.

use a_society_facts::Verb;
use a_society_facts::id::RoleInstance;
use a_society_orchestrator::driver::handle::Seen;

use crate::text::width;

/// The help line for the keys.
const HELP: &str = "1–9 follow the role of a node · 0 the next role that speaks · a all of what every role says · \
                    t more or less of what tools print · v read what others said · s say something to the role · \
                    p start nothing new · Ctrl-C leave";

/// The same below the block, the most needed last.
const KEYS: [&str; 7] = [
    "1–9 follow a node",
    "a all",
    "t tools",
    "s steer",
    "p pause",
    "v read",
    "? keys",
];

/// The keys as they fit into so many columns.
pub(crate) fn keys(columns: usize) -> String {
    let lines = (0..KEYS.len()).map(|left_out| KEYS[left_out..].join(" · "));
    let mut fit = lines.filter(|line| width(line) < columns);
    fit.next().unwrap_or_default()
}

/// What a key means.
#[derive(Debug, PartialEq)]
pub(crate) enum Meaning {
    Nothing,
    /// Prints this.
    Says(String),
    /// Follows this role, or the next one that speaks.
    Follow(Option<RoleInstance>),
    /// Shows the full text of every role, or stops to.
    All,
    /// Shows more of what tools print, or none.
    Output,
    /// Shows what was printed as one line.
    Read,
    /// The operator wants this.
    Does(Verb),
    /// A message to this role.
    Steer(RoleInstance),
}

/// What keys mean, with this role followed.
pub(crate) fn meaning(keys: &[u8], seen: &Seen, followed: Option<&RoleInstance>) -> Meaning {
    let key = match keys {
        // An arrow and its like, and Enter.
        [0x1b, ..] | [b'\r' | b'\n'] => return Meaning::Nothing,
        [key] => key.to_ascii_lowercase(),
        _ => {
            let says = "several keys at once do nothing; ? lists the keys";
            return Meaning::Says(says.to_owned());
        }
    };
    let state = &seen.state;
    match key {
        b'?' => Meaning::Says(HELP.to_owned()),
        b'0' => Meaning::Follow(None),
        b'a' => Meaning::All,
        b't' => Meaning::Output,
        b'v' => Meaning::Read,
        b'1'..=b'9' => {
            let number = usize::from(key - b'1');
            let node = state.graph.nodes.get(number);
            match node {
                Some(node) => Meaning::Follow(Some(node.role.clone())),
                None => Meaning::Says("there is no such node".to_owned()),
            }
        }
        b'p' => Meaning::Does(Verb::Pause {}),
        b's' => {
            let mut running = state.running.values();
            let first = running.next().map(|running| &running.role);
            match followed.or(first) {
                Some(role) => Meaning::Steer(role.clone()),
                None => Meaning::Says("nobody is at work".to_owned()),
            }
        }
        key => {
            let key = char::from(key).escape_default();
            Meaning::Says(format!(
                "{key} does nothing here; 0 to 9, a, t, s, p, v and ? do"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use a_society_facts::view::flow::FlowState;

    use super::*;

    fn seen() -> Seen {
        let graph = serde_json::json!({
            "name": "f",
            "nodes": [{ "id": "a", "role": "ann" }, { "id": "b", "role": "bob" }],
            "edges": [],
            "source": "0".repeat(64),
        });
        Seen {
            seq: 1,
            state: FlowState {
                graph: serde_json::from_value(graph).unwrap(),
                ..FlowState::default()
            },
            pending: Vec::new(),
            live: 0,
            silent: BTreeMap::new(),
            ended: None,
            over: false,
        }
    }

    #[test]
    fn the_line_of_keys_is_as_long_as_the_screen_allows() {
        assert_eq!(
            keys(80),
            "1–9 follow a node · a all · t tools · s steer · p pause · v read · ? keys"
        );
        assert_eq!(keys(40), "s steer · p pause · v read · ? keys");
        assert_eq!(keys(5), "");
    }

    #[test]
    fn a_key_follows_steers_or_pauses_and_anything_else_says_what_there_is() {
        let seen = seen();
        let bob: RoleInstance = "bob".parse().unwrap();
        let means = |keys: &str| meaning(keys.as_bytes(), &seen, None);
        assert_eq!(means("2"), Meaning::Follow(Some(bob.clone())));
        assert_eq!(means("0"), Meaning::Follow(None));
        assert!(matches!(means("3"), Meaning::Says(says) if says.contains("no such node")));
        assert_eq!((means("a"), means("T")), (Meaning::All, Meaning::Output));
        assert!(matches!(means("P"), Meaning::Does(Verb::Pause {})));
        assert!(matches!(means("s"), Meaning::Says(says) if says.contains("nobody")));
        assert_eq!(meaning(b"s", &seen, Some(&bob)), Meaning::Steer(bob));
        assert!(
            matches!(means("x"), Meaning::Says(says) if says == "x does nothing here; 0 to 9, a, t, s, p, v and ? do")
        );
        assert!(matches!(means("pp"), Meaning::Says(says) if says.contains("several")));
        assert_eq!(means("\x1b[A"), Meaning::Nothing);
        assert_eq!(means("\n"), Meaning::Nothing);
    }
}
