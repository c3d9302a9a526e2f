//! A command of the operator is run when a flow waits, is done or failed, and no flow waits for it.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::models::{Model, with_model};
use super::place::{ASKING, FLOW, Place, wait_until};
use crate::served::client::Server;

const TELLS: &str = "notify:\n  command: [sh, -c, 'cat >> told.jsonl; echo >> told.jsonl; echo $A_SOCIETY_EVENT: $A_SOCIETY_WORDS >> said.txt']\n";

const RUN: [&str; 7] = [
    "run",
    "demo/flow.yaml",
    "--until-waiting",
    "--improve",
    "none",
    "--feedback",
    "no",
];

fn place(script: &str, config: &str) -> Place {
    let place = Place::new(FLOW, script);
    place.write("config.yaml", config);
    place
}

fn read(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.workspace.path().join(name)).unwrap_or_default()
}

#[test]
fn a_command_hears_what_a_flow_waits_for_and_that_it_is_done() {
    let place = place(ASKING, TELLS);
    assert_eq!(place.run(&RUN).code, 8);
    assert_eq!(
        read(&place, "said.txt"),
        "waits: write (writer) waits for your answer\n"
    );
    let flow = place.flow().unwrap();
    assert_eq!(place.run(&["reply", &flow, "Blue."]).code, 0);
    let resume = ["resume", &flow, "--improve", "none", "--feedback", "no"];
    assert_eq!(place.run(&resume).code, 0);
    let said = read(&place, "said.txt");
    assert_eq!(said.lines().last(), Some("done: completed"), "{said}");
    assert_eq!(
        said.lines().count(),
        2,
        "a question that was chosen beforehand is no news: {said}"
    );
    let told = read(&place, "told.jsonl");
    let last: Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    assert_eq!(last["event"], "done");
    assert_eq!(last["flow"], flow.as_str());
    assert_eq!(last["title"], "Hello");
}

#[test]
fn a_command_hears_only_of_what_it_wants_to_hear() {
    let script = "default: forward\nscript:\n  - node: write\n    say: [ { fault: { class: key, message: none } } ]\n";
    for (on, said) in [
        (
            "[failed]",
            "failed: write (writer) waits for a key that its provider accepts\n",
        ),
        ("[waits, done, budget]", ""),
    ] {
        let place = place(script, &format!("{TELLS}  on: {on}\n"));
        assert_eq!(place.run(&RUN).code, 10);
        assert_eq!(read(&place, "said.txt"), said);
    }
}

#[test]
fn a_command_hears_of_a_budget_that_is_used_up_where_it_wants_to_hear_of_budgets() {
    let model = Model::start();
    for (on, told) in [("[budget]", true), ("[waits, done, failed]", false)] {
        let place = with_model(&model);
        let config = std::fs::read_to_string(place.workspace.path().join("config.yaml")).unwrap();
        place.write("config.yaml", &format!("{config}{TELLS}  on: {on}\n"));
        let run = [
            "run",
            "demo/flow.yaml",
            "--until-waiting",
            "--budget",
            "2500",
        ];
        let said = place.run(&run);
        assert_eq!(said.code, 11, "{said:?}");
        let heard = read(&place, "said.txt");
        let expected = if told {
            "budget: do (owner) waits for a larger budget\n"
        } else {
            ""
        };
        assert_eq!(heard, expected, "{on}");
        if told {
            let event: Value = serde_json::from_str(read(&place, "told.jsonl").trim()).unwrap();
            assert_eq!(event["event"], "budget", "{event}");
            assert_eq!(event["flow"], place.flow().unwrap().as_str(), "{event}");
        }
    }
    assert_eq!(model.requests(), 0);
}

#[test]
fn a_command_that_hangs_or_is_not_there_holds_no_flow_up_and_is_said() {
    for (command, says) in [
        ("[sleep, '99']", "it was ended 1 s after the flow"),
        ("[no-such-program]", "No such file"),
        ("['false']", "exit status: 1"),
    ] {
        let place = place(
            "default: forward\n",
            &format!("notify: {{ command: {command} }}\n"),
        );
        let begun = Instant::now();
        let said = place.run(&RUN);

        assert_eq!(said.code, 0, "{said:?}");
        assert!(said.err.contains(says), "{command}: {said:?}");
        assert!(begun.elapsed() < Duration::from_secs(30));
    }
}

#[test]
fn a_command_that_hangs_is_ended_with_all_that_it_started_soon_after_the_flow() {
    let hangs = "notify: { command: [sh, -c, 'sleep 3 && touch left & sleep 99'] }\n";
    let place = place("default: forward\n", hangs);
    let begun = Instant::now();
    let said = place.run(&RUN);
    let took = begun.elapsed();
    assert_eq!(said.code, 0, "{said:?}");
    assert!(took < Duration::from_secs(4), "{took:?}");
    std::thread::sleep(Duration::from_secs(4).saturating_sub(took));
    let left = place.workspace.path().join("left");
    assert!(!left.exists() && !place.workspace.path().join("demo/left").exists());
}

#[test]
fn a_server_tells_of_the_flows_that_it_drives() {
    let place = place(ASKING, TELLS);
    assert_eq!(place.run(&RUN).code, 8);
    let flow = place.flow().unwrap();
    let _server = Server::start(&place.workspace, &["--resume"]);
    wait_until("it is told", || {
        read(&place, "said.txt").lines().count() == 2
    });
    assert_eq!(place.run(&["reply", &flow, "Blue."]).code, 0);
    wait_until("it is done", || {
        read(&place, "said.txt").ends_with("done: completed\n")
    });
}

#[test]
fn a_configuration_that_names_no_command_is_refused_before_anything_runs() {
    let place = place("default: forward\n", "notify: { command: mail }\n");
    let said = place.run(&RUN);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("`command` must be a list"), "{said:?}");
    assert!(place.flow().is_none());
}
