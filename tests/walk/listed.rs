//! What `ls` says that flows wait for: what they ask, as `status` and the page have it, and nothing that was answered.

use serde_json::{Value, json};

use super::place::{Place, wait_until};

/// One role asks, and another waits for a limit of its provider.
const BESIDE: &str = r"workflow:
  name: Beside
  nodes: [{ id: begin, role: owner }, { id: asks, role: editor }, { id: sends, role: clerk }, { id: close, role: owner }]
  edges: [{ from: begin, to: asks }, { from: begin, to: sends }, { from: asks, to: close }, { from: sends, to: close }]
roles:
  owner: { executor: scripted, instructions: You begin and close. }
  editor: { executor: scripted, instructions: You ask. }
  clerk: { executor: scripted, instructions: You send. }
";

const SCRIPT: &str = r"default: forward
script:
  - { node: asks, turn: 1, say: [ 'Which of the two?', { signal: prompt-human } ] }
  - { node: sends, turn: 1, say: [ { fault: { class: limit, resets-in-ms: 3600000 } } ] }
";

/// The only flow, as `ls` lists it.
fn listed(place: &Place) -> Value {
    place.run(&["ls", "--all", "--json"]).json()["flows"][0].clone()
}

/// How many questions `status` has.
fn asked(place: &Place, flow: &str) -> usize {
    place.status(flow)["waits"].as_array().unwrap().len()
}

#[test]
fn a_list_counts_what_is_asked_and_neither_what_was_answered_nor_what_goes_on_by_itself() {
    let place = Place::new(BESIDE, SCRIPT);
    let (mut child, flow) = place.begin();
    wait_until("one asks and the other waits", || {
        listed(&place)["waiting_for"].as_array().map(Vec::len) == Some(2)
    });
    assert_eq!(asked(&place, &flow), 1);
    let said = place.run(&["ls"]).out;
    assert!(said.contains("waiting for you "), "{said}");
    assert!(!said.contains("(2)"), "one question is asked: {said}");
    let waits = json!(["asks: your answer", "sends: its provider's limit to reset"]);
    assert_eq!(listed(&place)["waiting_for"], waits);
    // A limit of a flow that is paused ends nothing: both are asked about, and so is the pause.
    assert_eq!(place.run(&["pause", &flow]).code, 0);
    child.wait().unwrap();
    assert_eq!(asked(&place, &flow), 3);
    let said = place.run(&["ls"]).out;
    assert!(said.contains("paused (3)"), "{said}");
    assert_eq!(place.run(&["unpause", &flow]).code, 0);
    // No process drives it, so that the answer waits for the role.
    let to = ["reply", &flow, "--node", "asks", "The second one."];
    assert_eq!(place.run(&to).code, 0);
    assert_eq!(asked(&place, &flow), 0);
    let row = listed(&place);
    assert_eq!(row["standing"], "stopped", "{row}");
    let shown = place.run(&["show", &flow]).out;
    assert!(!shown.contains("asks  your answer"), "{shown}");
    assert_eq!(place.run(&["cancel", &flow]).code, 0);
    let said = place.run(&["ls", "--all"]).out;
    assert!(said.contains("cancelled ") && !said.contains('('), "{said}");
    assert_eq!(listed(&place)["waiting_for"], json!([]));
}
