//! An imported flow goes on where it was, and comes to its end.

use serde_json::Value;

use super::{CASES, Old, json};

/// No case asks for more than a few answers.
const ROUNDS_MAX: usize = 10;

/// Goes on until the flow is over, answering what it asks.
fn to_the_end(place: &Old, name: &str) {
    to_the_end_of(place, &Old::id(name), name);
}

/// The same, of any flow.
pub(super) fn to_the_end_of(place: &Old, flow: &str, name: &str) {
    for _ in 0..ROUNDS_MAX {
        let said = place.run(&["resume", flow, "--improve", "graph", "--feedback", "yes"]);
        assert!(matches!(said.code, 0 | 8..=12), "{name}: {said:?}");
        let status = place.run(&["status", flow, "--json"]).json();
        if status["status"] == "completed" {
            return;
        }
        for wait in status["waits"].as_array().unwrap() {
            let words: Vec<&str> = match wait["waits_for"].as_str() {
                Some("your approval of a handoff") => vec!["approve", flow],
                Some("a model") => vec!["configure", flow, "writer", "model=m"],
                _ => vec!["reply", flow, "For people who upgrade."],
            };
            let said = place.run(&words);
            assert_eq!(said.code, 0, "{name}: {said:?}");
        }
    }
    panic!("{name} does not end");
}

#[test]
fn every_case_goes_on_to_its_end() {
    let place = Old::with(&CASES);
    place.import();
    for name in CASES.iter().filter(|name| **name != "completed") {
        to_the_end(&place, name);
        place.is_sound(name);
        let state = json(&place.folder(name).join("flow.json"));
        assert_eq!(state["phase"], "completed", "{name}");
        assert_eq!(state["tokens"]["at_most"], 20_000_000, "{name}");
        let done = state["improvement"]["roles"].as_object().unwrap();
        assert!(
            done.values().all(|role| !role["findings"].is_null()),
            "{name}"
        );
        assert!(
            !state["improvement"]["feedback"]["work"]["findings"].is_null(),
            "{name}"
        );
    }
}

fn messages(place: &Old, name: &str, role: &str) -> Vec<Value> {
    let path = place
        .folder(name)
        .join(format!("roles/{role}/transcript.json"));
    json(&path)["transcriptHistory"].as_array().unwrap().clone()
}

fn resumed(name: &str) -> Old {
    let place = Old::with(&[name]);
    place.import();
    to_the_end(&place, name);
    place
}

#[test]
fn text_that_was_streaming_is_kept_and_the_role_is_asked_to_go_on() {
    let place = resumed("cut-off-text");
    let said = messages(&place, "cut-off-text", "writer");
    assert_eq!(said[1]["content"], "The notes begin with what is fas");
    assert_eq!(said[1]["interrupted"], true);
    assert_eq!(said[2]["origin"], "continuation", "{}", said[2]);
}

#[test]
fn a_command_that_may_have_run_is_not_run_again() {
    let place = resumed("cut-off-tool");
    let said = messages(&place, "cut-off-tool", "writer");
    let result = |call: &str| {
        let mut results = said.iter().filter(|said| said["callId"] == call);
        let result = results
            .next()
            .unwrap_or_else(|| panic!("{call} has no result"));
        assert!(results.next().is_none(), "{call} has two results");
        result.clone()
    };
    assert_eq!(result("toolu_11")["content"], "# demo\n");
    let unknown = result("toolu_12");
    assert_eq!(unknown["isError"], true);
    assert!(
        unknown["content"].as_str().unwrap().contains("unknown"),
        "{unknown}"
    );
    result("toolu_13");
}

#[test]
fn what_the_operator_had_said_is_heard_once() {
    let place = resumed("answered");
    let said = messages(&place, "answered", "writer");
    let heard = said
        .iter()
        .filter(|said| said["content"] == "For people who upgrade.");
    assert_eq!(heard.count(), 1);
}

#[test]
fn a_role_that_reflected_is_not_told_twice_and_who_was_done_stays_so() {
    let place = resumed("reflecting");
    let owner = messages(&place, "reflecting", "owner");
    let told = owner.iter().filter(|said| said["origin"] == "improvement");
    assert_eq!(told.count(), 0, "it was told by the program that began it");
    let cut = owner
        .iter()
        .find(|said| said["interrupted"] == true)
        .unwrap();
    assert_eq!(cut["content"], "What would I do dif");
    let writer = messages(&place, "reflecting", "writer");
    assert_eq!(writer.len(), 4, "{writer:?}");
}

#[test]
fn an_archive_of_an_imported_session_can_be_restored() {
    let place = Old::with(&["compacted"]);
    place.import();
    to_the_end(&place, "compacted");
    let flow = Old::id("compacted");
    let archive = "5f0c1c1e-52f1-4b50-8d0a-2b5a3c0e9d11";
    let said = place.run(&["session", "restore", &flow, "writer", archive]);
    assert_eq!(said.code, 0, "{said:?}");
    let history = messages(&place, "compacted", "writer");
    assert_eq!(history[0]["content"], "You are active at write.");
    assert!(
        !history.iter().any(|said| {
            let content = said["content"].as_str().unwrap_or_default();
            content.starts_with("Compaction 5f0c")
        }),
        "what stood for the archive is gone"
    );
}

#[test]
fn a_flow_that_was_over_stays_over() {
    let place = Old::with(&["completed"]);
    place.import();
    let flow = Old::id("completed");
    let said = place.run(&["findings", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("writer"), "{}", said.out);
    place.run(&["resume", &flow]);
    assert_eq!(messages(&place, "completed", "writer").len(), 4);
}

/// The journal of a flow, as it is on disk.
fn journal(place: &Old, name: &str) -> String {
    std::fs::read_to_string(place.folder(name).join("journal/00000001.jsonl")).unwrap()
}

/// The rules of the project are gone.
fn break_project(place: &Old) {
    std::fs::remove_file(place.workspace.path().join("demo/a-docs/agents.md")).unwrap();
}

#[test]
fn what_was_wrong_with_a_project_before_the_import_is_asked_once_and_nobody_is_told_to_mend_it() {
    let place = Old::with(&["asks"]);
    break_project(&place);
    place.import();
    let flow = Old::id("asks");
    place.run(&["reply", &flow, "For people who upgrade."]);
    let said = place.run(&["resume", &flow, "--until-waiting"]);
    assert_eq!(said.code, 8, "{said:?}");
    for words in [
        "older than this flow here",
        "a-docs/agents.md: ",
        "You are asked this once",
    ] {
        assert!(said.err.contains(words), "{words} in {}", said.err);
    }
    assert!(!journal(&place, "asks").contains("health_check"));
    assert_eq!(place.run(&["reply", &flow, "Close it."]).code, 0);
    let said = place.run(&["resume", &flow, "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(!journal(&place, "asks").contains("health_check"));
    let state = json(&place.folder("asks").join("flow.json"));
    assert_eq!(state["phase"], "completed");
    place.is_sound("asks");
}

#[test]
fn what_breaks_in_a_project_after_the_import_is_for_its_roles_to_mend() {
    let place = Old::with(&["asks"]);
    place.import();
    break_project(&place);
    let flow = Old::id("asks");
    place.run(&["reply", &flow, "For people who upgrade."]);
    let said = place.run(&["resume", &flow, "--until-waiting"]);
    assert_eq!(said.code, 12, "{said:?}");
    assert!(journal(&place, "asks").contains("health_check"));
    assert!(!said.out.contains("older than this flow"), "{}", said.out);
}
