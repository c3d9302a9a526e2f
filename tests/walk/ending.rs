//! How a flow is to end is chosen when it begins, and not asked again after a death.

use super::place::{FLOW, Place, wait_until};

/// Long enough to be killed in the middle.
const SLOW: &str = r"default: forward
script:
  - node: write
    say:
      - call: { tool: read_file, input: { path: a.md }, output: nothing, takes-ms: 1500 }
      - Here it is.
      - forward: The notes.
";

/// Begins a flow that needs no answers, and kills the program in the middle.
fn killed(words: &[&str]) -> (Place, String) {
    let place = Place::new(FLOW, SLOW);
    let run = [&["run", "demo/flow.yaml"], words].concat();
    let mut child = place.start(&run);
    wait_until("the flow begins", || place.flow().is_some());
    child.kill().unwrap();
    child.wait().unwrap();
    let flow = place.flow().unwrap();
    (place, flow)
}

/// Whether the operator's choices are recorded.
fn chosen(place: &Place, flow: &str) -> (bool, bool) {
    let log = place.run(&["log", flow, "--json"]).out;
    let says = |fact: &str| log.contains(&format!("\"fact\":\"{fact}\""));
    (says("improvement_chosen"), says("feedback_started"))
}

#[test]
fn whoever_goes_on_with_a_flow_after_a_death_is_not_asked_how_it_ends() {
    let (place, flow) = killed(&["--improve", "parallel", "--feedback", "no"]);
    let resumed = place.run(&["resume", &flow]);
    assert_eq!(resumed.code, 0, "{resumed:?}");
    assert_eq!(place.status(&flow)["status"], "completed");
    assert_eq!(chosen(&place, &flow), (true, false));
    let log = place.run(&["log", &flow, "--json"]).out;
    assert!(log.contains("\"mode\":\"parallel\""), "{log}");
}

#[test]
fn what_was_not_said_is_asked_and_what_is_said_later_counts_more() {
    let (place, flow) = killed(&["--improve", "parallel"]);
    let resumed = place.run(&["resume", &flow]);
    assert_eq!(resumed.code, 8, "the report was not spoken of: {resumed:?}");
    let (place, flow) = killed(&["--improve", "parallel", "--feedback", "yes"]);
    let resumed = place.run(&["resume", &flow, "--improve", "none"]);
    assert_eq!(resumed.code, 0, "{resumed:?}");
    let log = place.run(&["log", &flow, "--json"]).out;
    assert!(!log.contains("\"mode\":\"parallel\""), "{log}");
}

#[test]
fn the_exit_code_and_the_last_event_say_for_what_a_flow_waits() {
    let says = |item: &str| {
        format!(
            "default: forward\nscript:\n  - node: write\n    say: [ {item}, {{ signal: prompt-human }} ]\n"
        )
    };
    for (script, code) in [
        (says("Which colour?"), 8),
        (says("{ fault: { class: key, message: none } }"), 10),
        (says("{ fault: { class: bad_request } }"), 12),
    ] {
        let place = Place::new(FLOW, &script);
        let said = place.run(&["run", "demo/flow.yaml", "--until-waiting", "--json"]);
        assert_eq!(said.code, code, "{said:?}");
        let last: serde_json::Value =
            serde_json::from_str(said.out.lines().last().unwrap()).unwrap();
        assert_eq!(last["exit_code"], code, "{last}");
        assert_eq!(last["waits"][0]["exit_code"], code, "{last}");
    }
}

#[test]
fn a_file_without_a_project_ends_with_its_forward_work_unless_it_or_the_operator_says_otherwise() {
    for (file, words, code, looked_back) in [
        ("", &[][..], 0, false),
        ("improve: graph\nfeedback: no\n", &[][..], 0, true),
        ("improve: graph\n", &["--improve", "none"][..], 0, false),
        ("", &["--improve", "graph"][..], 8, true),
    ] {
        let place = Place::new(&format!("{file}{FLOW}"), "default: forward\n");
        let run = [&["run", "demo/flow.yaml", "--until-waiting"], words].concat();
        let said = place.run(&run);
        assert_eq!(said.code, code, "{file}{words:?}: {said:?}");
        let flow = place.flow().unwrap();
        let log = place.run(&["log", &flow, "--json"]).out;
        let reflected = log.contains("\"fact\":\"findings_recorded\"");
        assert_eq!(reflected, looked_back, "{file}{words:?}");
    }
}
