//! `search` finds the messages of all sessions of a workspace, whatever happened to its index.

use std::time::Duration;

use serde_json::{Value, json};

use super::place::{ASKING, FLOW, Place, RUN};
use crate::support::{is_full, seed};

/// How often the program is killed while it indexes; more in the whole test.
const KILLS: u64 = 8;
const KILLS_FULL: u64 = 100;

/// About as long as a search takes that indexes a flow; kills are spread over it.
const SPREAD_US: u64 = 60_000;

fn searched(place: &Place, words: &[&str]) -> Value {
    let said = place.run(&[&["search", "--json"], words].concat());
    assert_eq!(said.code, 0, "{said:?}");
    said.json()
}

/// The roles in whose sessions something was found.
fn roles(found: &Value) -> Vec<&str> {
    let sessions = found["sessions"].as_array().unwrap().iter();
    let mut roles: Vec<&str> = sessions
        .map(|session| session["role"].as_str().unwrap_or("-"))
        .collect();
    roles.sort_unstable();
    roles
}

/// A flow that asked, and was answered with a word that is nowhere else.
fn answered() -> (Place, String) {
    let place = Place::new(FLOW, ASKING);
    let asked = place.run(&RUN);
    assert_eq!(asked.code, 8, "{asked:?}");
    let listed = place.run(&["ls", "--all", "--json"]).json();
    let flow = listed["flows"][0]["flow"].as_str().unwrap().to_owned();
    let replied = place.run(&[
        "reply",
        &flow,
        "--node",
        "write",
        "Ultramarine, like the Café.",
    ]);
    assert_eq!(replied.code, 0, "{replied:?}");
    let resumed = place.run(&["resume", &flow, "--improve", "none"]);
    assert_eq!(resumed.code, 0, "{resumed:?}");
    (place, flow)
}

#[test]
fn words_are_found_with_their_session_their_node_and_an_excerpt_until_the_flow_is_removed() {
    let (place, flow) = answered();
    let found = searched(&place, &["CAFE", "ultramarine"]);
    assert_eq!(roles(&found), ["writer"]);
    let session = &found["sessions"][0];
    assert_eq!(session["key"], format!("flow:{flow}:role:writer"));
    assert_eq!(session["kind"], "role");
    let message = &session["messages"][0];
    assert_eq!(
        (&message["by"], &message["node"]),
        (&"user".into(), &"write".into())
    );
    assert_eq!(message["excerpt"], "Ultramarine, like the Café.");
    assert_eq!(
        message["marks"],
        json!([{ "start": 0, "end": 11 }, { "start": 22, "end": 26 }])
    );
    let plain = place.run(&["search", "ultramarine"]);
    assert!(
        plain
            .out
            .contains("user, write: Ultramarine, like the Café."),
        "{plain:?}"
    );

    for (words, sessions) in [
        (&["ultramar"][..], 0),
        (&["ultramar*"], 1),
        (&["\"like the\""], 1),
        (&["\"the like\""], 0),
        (&["ultramarine", "--role", "owner"], 0),
        (&["ultramarine", "--role", "writer", "--project", "demo"], 1),
        (&["ultramarine", "--project", "elsewhere"], 0),
        (&["ultramarine", "--kind", "main"], 0),
        (&["ultramarine", "--kind", "role"], 1),
    ] {
        assert_eq!(roles(&searched(&place, words)).len(), sessions, "{words:?}");
    }
    // The title of a flow is in none of its sessions.
    assert!(roles(&searched(&place, &["hello"])).contains(&"-"));
    assert_eq!(place.run(&["search", "--", "--"]).code, 2);

    assert!(roles(&searched(&place, &["\"blue notes\""])).contains(&"writer"));
    let pruned = place.run(&["prune", &flow, "--yes"]);
    assert_eq!(pruned.code, 0, "{pruned:?}");
    assert_eq!(searched(&place, &["ultramarine"])["count"], 0);
}

#[test]
fn a_search_that_is_killed_while_it_indexes_leaves_nothing_that_is_not_found() {
    let (place, _) = answered();
    let expected = searched(&place, &["ultramarine"]);
    assert_eq!(roles(&expected), ["writer"]);
    let index = place.workspace.path().join(".a-society/state/.search");
    let mut random = seed();
    for n in 0..if is_full() { KILLS_FULL } else { KILLS } {
        if n % 2 == 0 {
            std::fs::remove_dir_all(&index).unwrap();
        }
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let mut child = place.start(&["search", "--json", "ultramarine"]);
        std::thread::sleep(Duration::from_micros((random >> 33) % SPREAD_US));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = searched(&place, &["ultramarine"]);
        assert_eq!(found, expected, "kill {n}, seed {random}");
    }
}
