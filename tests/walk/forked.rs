//! Flows that are forked by the real program, go on by themselves, and outlive their parents.

use super::place::{ASKING, FLOW, Place, SLOW};
use crate::support::slice_of;

/// The records at which a flow can be forked: from its beginning to its end.
fn records(place: &Place, flow: &str) -> std::ops::RangeInclusive<u64> {
    let log = place.run(&["log", flow, "--json"]).out;
    let begun = log
        .lines()
        .position(|line| line.contains("\"flow_created\""));
    begun.unwrap() as u64 + 1..=log.lines().count() as u64
}

fn fork(place: &Place, flow: &str, at: u64) -> String {
    let said = place.run(&["fork", flow, "--at", &at.to_string(), "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    said.json()["flow"].as_str().unwrap().to_owned()
}

#[test]
fn a_fork_at_any_record_goes_on_to_the_end_its_parent_came_to() {
    let place = Place::new(FLOW, SLOW);
    assert_eq!(
        place
            .run(&["run", "demo/flow.yaml", "--improve", "none"])
            .code,
        0
    );
    let parent = place.flow().unwrap();
    let wanted = place.outcome(&parent);
    let before = place.run(&["log", &parent, "--json"]).out;
    for at in slice_of(records(&place, &parent), 9) {
        let fork = fork(&place, &parent, at);
        let said = place.run(&["resume", &fork, "--improve", "none"]);
        assert_eq!(said.code, 0, "at {at}: {said:?}");
        assert_eq!(place.outcome(&fork), wanted, "at {at}");
        assert_eq!(place.run(&["verify", &fork]).code, 0, "at {at}");
        // Paths are the same in the parent and in the fork.
        let log = place.run(&["log", &fork, "--json"]).out;
        assert!(!log.contains(&format!("{parent}/record")), "at {at}");
        assert!(!log.contains(&format!("{fork}/record")), "at {at}");
    }
    assert_eq!(place.run(&["log", &parent, "--json"]).out, before);
}

#[test]
fn a_fork_asks_what_its_parent_asked_and_hears_an_answer_of_its_own() {
    let place = Place::new(FLOW, ASKING);
    assert_eq!(place.run(&["run", "demo/flow.yaml"]).code, 8);
    let parent = place.flow().unwrap();
    let plan = place.run(&["fork", &parent, "--dry-run"]);
    assert!(plan.out.contains("1 open question"), "{plan:?}");
    assert_eq!(
        place.run(&["ls", "--json"]).json()["flows"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let said = place.run(&["fork", &parent, "--name", "Another colour"]);
    assert_eq!(said.code, 0, "{said:?}");
    let listed = place.run(&["ls", "--json"]).json();
    let fork = listed["flows"][1]["flow"].as_str().unwrap().to_owned();
    assert_eq!(listed["flows"][1]["parent"]["flow"], parent.as_str());
    assert!(place.run(&["ls"]).out.contains("└ Another colour"));
    assert!(place.run(&["show", &parent]).out.contains("Another colour"));
    std::fs::remove_dir_all(place.folder(&parent)).unwrap();
    assert_eq!(place.run(&["reply", &fork, "Blue."]).code, 0);
    assert_eq!(place.run(&["resume", &fork, "--improve", "none"]).code, 0);
    assert_eq!(place.outcome(&fork)["notes"], "Blue notes.");
    let ls = place.run(&["ls", "--all"]).out;
    assert!(ls.contains(&format!("(fork of {parent})")), "{ls}");
}

#[test]
fn a_record_that_is_not_there_is_said_and_nothing_is_made() {
    let place = Place::new(FLOW, ASKING);
    assert_eq!(place.run(&["run", "demo/flow.yaml"]).code, 8);
    let parent = place.flow().unwrap();
    for at in ["0", "1", "100000"] {
        let said = place.run(&["fork", &parent, "--at", at]);
        assert_eq!(said.code, 6, "{said:?}");
        assert!(said.err.contains("error[not-forkable]"), "{said:?}");
        let says_where = said.err.contains("records begin at 1");
        assert_eq!(says_where, at == "0", "{said:?}");
    }
    assert_eq!(
        place.run(&["ls", "--json"]).json()["flows"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}
