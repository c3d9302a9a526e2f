//! A provider that names an hour until which it answers nothing: the flow waits, and goes on by itself.

use a_society_facts::Fact;

use super::models::{Model, with_model};
use super::place::{FLOW, Place, wait_until};
use crate::served::client::Server;

const HOUR_S: u64 = 3_600;

fn is_first(number: usize) -> Option<(u16, String)> {
    let error =
        serde_json::json!({ "type": "rate_limit_error", "message": "your hours are used up" });
    let body = serde_json::json!({ "type": "error", "error": error });
    (number <= 1).then(|| (429, body.to_string()))
}

fn nothing(_: usize) -> Vec<(serde_json::Value, Vec<serde_json::Value>)> {
    Vec::new()
}

fn standing(place: &Place, flow: &str) -> String {
    place.status(flow)["standing"].as_str().unwrap().to_owned()
}

/// A flow that waits for an hour, and the program that drives it.
fn limited(model: &Model) -> (Place, std::process::Child, String) {
    let place = with_model(model);
    let (child, flow) = place.begin();
    wait_until("it waits for the limit", || {
        standing(&place, &flow) == "limited"
    });
    (place, child, flow)
}

#[test]
fn an_hour_is_waited_for_and_said_and_the_operator_may_try_earlier() {
    let model = Model::start_asking_for_time(nothing, is_first, HOUR_S);
    let (place, mut child, flow) = limited(&model);
    let said = place.run(&["status", &flow]).out;
    assert!(said.contains("limit resets in 1 h"), "{said}");
    assert!(said.contains("try now: a-society retry"), "{said}");
    assert!(
        !said.contains("reply"),
        "the operator is asked nothing: {said}"
    );
    let listed = place.run(&["ls"]).out;
    assert!(listed.contains("limit resets in 1 h"), "{listed}");
    assert_eq!(model.requests(), 1);
    let tried = place.run(&["retry", &flow, "--node", "do"]);
    assert_eq!(tried.code, 0, "{tried:?}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(model.requests() > 1);
    assert_eq!(standing(&place, &flow), "completed");
}

#[test]
fn a_server_that_starts_takes_up_what_waits_for_a_limit_and_goes_on_when_it_resets() {
    let model = Model::start_asking_for_time(nothing, is_first, HOUR_S);
    let (place, mut child, flow) = limited(&model);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(standing(&place, &flow), "stopped");
    let mut server = Server::start(&place.workspace, &[]);
    wait_until("the server waits for it", || {
        standing(&place, &flow) == "limited"
    });
    server.kill();
    assert_eq!(model.requests(), 1);
    // An hour passes.
    place.rewrite_journal(&flow, |fact| {
        if let Fact::NodeSuspended(waits) = fact {
            let until = waits.until.unwrap().ms();
            waits.until = Some(a_society_facts::At::from_ms(
                until - 1_000 * HOUR_S.cast_signed(),
            ));
        }
    });
    let _server = Server::start(&place.workspace, &[]);
    wait_until("it is done", || standing(&place, &flow) == "completed");
    assert!(model.requests() > 1);
    let log = place.run(&["log", &flow, "--json"]).out;
    let retried = log.lines().find(|line| line.contains("\"node_retried\""));
    let retried = retried.unwrap();
    assert!(retried.contains("\"on_time\":true"), "{retried}");
    assert!(!retried.contains("\"client\""), "nobody said it: {retried}");
}

#[test]
fn a_flow_that_is_paused_while_it_waits_does_not_go_on_by_itself() {
    let script = "default: forward\nscript:\n  - node: write\n    turn: 1\n    \
                  say: [ { fault: { class: limit, resets-in-ms: 5000 } } ]\n";
    let place = Place::new(FLOW, script);
    let (mut child, flow) = place.begin();
    wait_until("it waits", || standing(&place, &flow) == "limited");
    let said = place.run(&["pause", &flow]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(child.wait().unwrap().code(), Some(12));
    std::thread::sleep(std::time::Duration::from_millis(5100));
    assert_eq!(standing(&place, &flow), "paused");
    assert_eq!(place.run(&["unpause", &flow]).code, 0);
    let resumed = ["resume", &flow, "--improve", "none", "--feedback", "no"];
    assert_eq!(place.run(&resumed).code, 0);
    assert_eq!(standing(&place, &flow), "completed");
}

#[test]
fn a_run_that_nobody_watches_goes_on_when_a_limit_resets_and_ends_well() {
    let script = "default: forward\nscript:\n  - node: write\n    turn: 1\n    \
                  say: [ { fault: { class: limit, resets-in-ms: 1200 } } ]\n";
    let place = Place::new(FLOW, script);
    let run = [
        "run",
        "demo/flow.yaml",
        "--until-waiting",
        "--improve",
        "none",
    ];
    let said = place.run(&[&run[..], &["--feedback", "no"]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.err
            .contains("its provider's limit to reset, and goes on at "),
        "{}",
        said.err
    );
}

#[test]
fn a_role_that_looks_back_asks_its_provider_at_once_when_the_operator_says_so() {
    // The second request is the first of the role's reflection.
    let is_second = |number: usize| is_first(number.saturating_sub(1)).filter(|_| number == 2);
    let model = Model::start_asking_for_time(nothing, is_second, HOUR_S);
    let place = with_model(&model);
    let (mut child, flow) = place.begin_looking_back("graph");
    wait_until("it waits for the limit", || {
        standing(&place, &flow) == "limited"
    });
    let asked = model.requests();
    let began = std::time::Instant::now();
    let tried = place.run(&["retry", &flow, "--role", "owner"]);
    assert_eq!(tried.code, 0, "{tried:?}");
    wait_until("it asks again", || model.requests() > asked);
    assert!(began.elapsed().as_secs() < 60, "it waited for its turn");
    drop(child.kill());
    drop(child.wait());
}
