//! A provider that wants to be left alone is asked before its time when the operator says so.

use std::sync::atomic::{AtomicBool, Ordering};

use a_society_stand_in::{Ending, Server};
use serde_json::json;

use super::models::{Model, refusal, says, streamed, with_model, with_model_at};
use super::place::{Place, wait_until};
use crate::served::client;
use crate::served::operated::until;

/// Says that the first request, and perhaps the next, came too soon.
fn refuses(requests: usize) -> fn(usize) -> Option<(u16, String)> {
    fn body() -> (u16, String) {
        let words = "this key may send one request a minute";
        let error = serde_json::json!({ "type": "rate_limit_error", "message": words });
        let body = serde_json::json!({ "type": "error", "error": error });
        (429, body.to_string())
    }
    match requests {
        1 => |number| (number <= 1).then(body),
        _ => |number| (number <= 2).then(body),
    }
}

fn nothing(_: usize) -> Vec<(serde_json::Value, Vec<serde_json::Value>)> {
    Vec::new()
}

/// The kinds and the moments of the facts that say how requests went.
fn requests(place: &Place, flow: &str) -> Vec<(String, i64)> {
    let log = place.run(&["log", flow, "--json"]).out;
    let facts = log.lines().filter_map(|line| {
        let fact: serde_json::Value = serde_json::from_str(line).ok()?;
        let kind = fact["fact"].as_str()?.to_owned();
        let at = fact["at"].as_str()?.parse::<a_society_facts::At>().ok()?;
        kind.starts_with("model_").then(|| (kind, at.ms()))
    });
    facts.collect()
}

/// A flow whose first request was refused for a long time, and the program that drives it.
fn waiting(model: &Model) -> (Place, std::process::Child, String) {
    let place = with_model(model);
    let (child, flow) = place.begin();
    wait_until("its request is refused", || {
        let facts = requests(&place, &flow);
        facts.last().is_some_and(|(kind, _)| kind == "model_failed")
    });
    (place, child, flow)
}

#[test]
fn a_request_that_is_to_wait_for_minutes_is_made_at_once_and_the_flow_goes_on() {
    for refusals in [1, 2] {
        let model = Model::start_asking_for_time(nothing, refuses(refusals), 290);
        let (place, mut child, flow) = waiting(&model);
        for tried in 1..=refusals {
            let retry = [
                "retry",
                &flow,
                "--now",
                "--client-id",
                &format!("early-{tried}"),
            ];
            wait_until("something waits", || place.run(&retry).code == 0);
            wait_until("it was asked", || model.requests() == tried + 1);
        }
        assert_eq!(child.wait().unwrap().code(), Some(0));
        let kinds: Vec<String> = (requests(&place, &flow).into_iter())
            .map(|(kind, _)| kind)
            .collect();
        let failed = ["model_requested", "model_failed"];
        let answered = ["model_requested", "model_answered"];
        let expected: Vec<&str> = (std::iter::repeat_n(failed, refusals).flatten())
            .chain(answered)
            .collect();
        assert_eq!(kinds, expected);
        let late = place.run(&["retry", &flow, "--now"]);
        assert_eq!(late.code, 6, "{late:?}");
        assert!(
            late.err.contains("nothing is waiting to be retried"),
            "{late:?}"
        );
    }
}

/// Answers that the first requests came too soon, or that the server is overloaded.
fn refuses_with(status: u16) -> fn(usize) -> Option<(u16, String)> {
    match status {
        429 => refuses(1),
        _ => |number| {
            let error = serde_json::json!({ "type": "overloaded_error", "message": "later" });
            let body = serde_json::json!({ "type": "error", "error": error });
            (number <= 1).then(|| (503, body.to_string()))
        },
    }
}

#[test]
fn words_that_are_to_be_heard_at_once_end_the_wait_for_a_provider_and_leave_with_the_next_request()
{
    for status in [429, 503] {
        let model = Model::start_asking_for_time(nothing, refuses_with(status), 290);
        let (place, mut child, flow) = waiting(&model);
        let said = place.run(&["steer", &flow, "owner", "--now", "Use the old tables."]);
        assert_eq!(said.code, 0, "{said:?}");
        wait_until("it was asked", || model.requests() == 2);
        assert_eq!(child.wait().unwrap().code(), Some(0));
        let times = |body: &String| {
            body.matches("<operator>Use the old tables.</operator>")
                .count()
        };
        let all: Vec<usize> = model.heard().iter().map(times).collect();
        assert_eq!(all, [0, 1], "{status}");
        assert_eq!(place.status(&flow)["status"], "completed");
    }
}

#[test]
fn words_that_were_said_while_a_request_waits_leave_with_it_when_it_is_made_before_its_time() {
    let model = Model::start_asking_for_time(nothing, refuses(1), 290);
    let (place, mut child, flow) = waiting(&model);
    let said = place.run(&["steer", &flow, "owner", "Use the old tables."]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(model.requests(), 1, "they wait with it");
    wait_until("something waits", || {
        place.run(&["retry", &flow, "--now"]).code == 0
    });
    wait_until("it was asked", || model.requests() == 2);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let heard = model.heard();
    assert!(heard[1].contains("<operator>Use the old tables.</operator>"));
}

#[test]
fn a_process_that_dies_after_the_command_asks_at_once_when_it_is_back() {
    let model = Model::start_asking_for_time(nothing, refuses(1), 290);
    let (place, mut child, flow) = waiting(&model);
    child.kill().unwrap();
    child.wait().unwrap();
    // It has no driver, so that nothing waits, and the error says what to do.
    let refused = place.run(&["retry", &flow, "--now"]);
    assert_eq!(refused.code, 6, "{refused:?}");
    let resumed = ["resume", &flow, "--improve", "none", "--feedback", "no"];
    assert_eq!(place.run(&resumed).code, 0);
    assert_eq!(model.requests(), 2);
}

#[test]
fn a_flow_that_waits_for_its_provider_says_for_how_long_and_one_that_was_killed_says_that_it_stopped()
 {
    let model = Model::start_asking_for_time(nothing, refuses(1), 290);
    let (place, mut child, flow) = waiting(&model);
    let listed = || {
        let listed = place.run(&["ls"]).out;
        let status = place.run(&["status", &flow]).out;
        (place.status(&flow)["standing"].clone(), listed, status)
    };
    let (word, list, status) = listed();
    assert_eq!(word, "retrying");
    // 290 seconds, less what the test took.
    for said in [&list, &status, &place.run(&["show", &flow]).out] {
        let (_, rest) = said.split_once("retrying in ").expect(said);
        assert!(
            rest.starts_with("5 min") || rest.starts_with("4 min"),
            "{said}"
        );
        assert!(!said.contains("working"), "{said}");
    }
    assert_eq!(
        status.matches("retrying in").count(),
        2,
        "flow and node: {status}"
    );
    let why = ": the provider's limit was reached";
    assert_eq!(status.matches(why).count(), 2, "and why: {status}");
    let role = &place.status(&flow)["running"][0];
    assert_eq!(role["standing"], "retrying", "{role}");
    child.kill().unwrap();
    child.wait().unwrap();
    let (word, list, status) = listed();
    assert_eq!(word, "stopped");
    for said in [&list, &status] {
        assert!(said.contains("stopped: nobody drives it"), "{said}");
        assert!(!said.contains("running"), "{said}");
    }
    assert!(status.contains("do (owner): stopped, since"), "{status}");
    assert!(status.contains("go on: a-society resume"), "{status}");
}

/// Two roles that ask one model, the second a second after the first.
const TWO: &str = r"workflow:
  name: Two at one provider
  nodes:
    - { id: begin, role: owner }
    - { id: first, role: writer }
    - { id: pause, role: clock }
    - { id: second, role: editor }
    - { id: close, role: owner, await-all-inputs: true }
  edges:
    - { from: begin, to: first }
    - { from: begin, to: pause }
    - { from: pause, to: second }
    - { from: first, to: close }
    - { from: second, to: close }
roles:
  clock: { executor: command, command: { run: [sleep, '1'] } }
  writer: { instructions: You write. }
  editor: { instructions: You edit. }
  owner: { instructions: You begin and close. }
";

/// A provider that wants to be left alone for so many seconds when the first of two roles asks it, and a flow of both.
pub(super) fn two_at_one_provider(seconds: u64) -> (Server, Place) {
    let was_asked = AtomicBool::new(false);
    let server = Server::by(move |seen, _| {
        let is_at = |node: &str| seen.text.contains(&format!("You are at node `{node}`"));
        if is_at("first") && !was_asked.swap(true, Ordering::Relaxed) {
            let error = json!({ "type": "rate_limit_error", "message": "one at a time" });
            let body = json!({ "type": "error", "error": error });
            return refusal(429, seconds, &body.to_string());
        }
        let to =
            |node: &str, path: &str| format!("- target_node_id: {node}\n  artifact_path: {path}\n");
        let end = if is_at("close") {
            "type: forward-pass-closed\n".to_owned()
        } else if is_at("begin") {
            to("first", "note.md") + &to("pause", "note.md")
        } else if is_at("first") {
            to("close", "first.md")
        } else {
            to("close", "second.md")
        };
        let said = says(&[&format!("Done.\n\n```handoff\n{end}```\n")]);
        streamed(vec![said], Ending::Natural, 100)
    });
    let place = with_model_at(&server.url(), "anthropic");
    place.write("demo/flow.yaml", TWO);
    for name in ["note", "first", "second"] {
        place.write(&format!("demo/{name}.md"), "A note.\n");
    }
    (server, place)
}

#[test]
fn a_role_that_waits_for_a_limit_which_another_role_met_says_so_on_every_screen_and_may_be_hurried()
{
    let (server, place) = two_at_one_provider(50);
    let (mut child, flow) = place.begin();
    let standing = |node: &str| {
        let status = place.status(&flow);
        let running = status["running"].as_array().cloned().unwrap_or_default();
        let mut running = running.into_iter();
        let mine = running.find(|one| one["node"] == node);
        mine.map_or_else(String::new, |one| {
            one["standing"].as_str().unwrap().to_owned()
        })
    };
    wait_until("the second role waits", || standing("second") == "retrying");
    assert_eq!(server.seen().len(), 2, "it has not asked");
    for words in [["status", &flow], ["show", &flow]] {
        let said = place.run(&words).out;
        let line = said
            .lines()
            .find(|line| line.contains("second"))
            .expect(&said);
        assert!(line.contains("waiting for the rate limit of p, "), "{said}");
        let line = said
            .lines()
            .find(|line| line.contains("first"))
            .expect(&said);
        assert!(line.contains("retrying in "), "{said}");
    }
    // A page that comes now sees it, too.
    let page = client::Server::start(&place.workspace, &[]);
    let of = json!({ "project": "demo", "flow": flow });
    let mut window = client::Window::new(&of, &["editor"]);
    let second = |window: &client::Window| {
        let mut nodes = window.parts("node/").into_iter();
        nodes.find(|node| node["id"] == "second")
    };
    until(&mut window, &page, |window| second(window).is_some());
    let node = second(&window).unwrap();
    assert_eq!(node["again"]["held_by"], "p", "{node}");
    assert_eq!(node["again"]["limit"], false, "{node}");
    // The operator does not wait for it.
    let hurried = place.run(&["retry", &flow, "--node", "second", "--now"]);
    assert_eq!(hurried.code, 0, "{hurried:?}");
    wait_until("the second role asks", || server.seen().len() > 2);
    wait_until("it is no longer said", || standing("second") != "retrying");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_process_that_dies_while_a_limit_of_another_role_holds_a_request_back_leaves_a_flow_that_goes_on()
 {
    let (server, place) = two_at_one_provider(50);
    let (mut child, flow) = place.begin();
    let last = |place: &Place| {
        let journal = place.journal(&flow);
        let last = journal.lines().last().unwrap_or_default();
        last.contains("\"fact\":\"request_held\"")
    };
    wait_until("it is recorded", || last(&place));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(last(&place), "nothing came after it");
    let said = place.run(&["status", &flow]).out;
    assert!(said.contains("second (editor): stopped"), "{said}");
    assert!(!said.contains("rate limit"), "{said}");
    let resumed = ["resume", &flow, "--improve", "none", "--feedback", "no"];
    assert_eq!(place.run(&resumed).code, 0);
    assert_eq!(place.status(&flow)["status"], "completed");
    assert_eq!(server.refused(), [""; 0]);
}
