//! How a turn failed is recorded as data: nothing that a provider's message looks like changes what is shown.

use serde_json::{Value, json};

use super::place::{FLOW, Place};
use crate::served::client::{Server, Window};
use crate::served::operated::until;

/// The question of a flow whose writer fails with this, as a page gets it and as `status` prints it.
fn failed(fault: &str) -> (Value, String) {
    let script =
        format!("default: forward\nscript:\n  - node: write\n    say: [ {{ fault: {fault} }} ]\n");
    let place = Place::new(FLOW, &script);
    let said = place.run(&["run", "demo/flow.yaml", "--until-waiting"]);
    assert_eq!(said.code, 12, "{said:?}");
    let flow = place.flow().unwrap();
    let status = place.run(&["status", &flow]).out;
    let page = Server::start(&place.workspace, &[]);
    let mut window = Window::new(&json!({ "project": "demo", "flow": flow }), &[]);
    until(&mut window, &page, |window| {
        !window.parts("ask/").is_empty()
    });
    let ask = window.parts("ask/").remove(0);
    (ask, status)
}

#[test]
fn a_failure_is_named_by_its_class_whatever_the_message_of_the_provider_looks_like() {
    for (fault, name) in [
        (
            "{ class: bad_request, message: 'rate_limit: overloaded: no' }",
            "The provider did not understand the request",
        ),
        (
            "{ class: odd_kind, message: 'rate_limit: overloaded: no' }",
            "Rate_limit: overloaded: no",
        ),
    ] {
        let (ask, status) = failed(fault);
        assert_eq!(ask["kind"]["failed"], name, "{ask}");
        assert_eq!(ask["kind"]["question"], "rate_limit: overloaded: no");
        let text = status.lines().find(|line| line.contains("overloaded"));
        assert!(
            text.is_some_and(|line| line.ends_with("rate_limit: overloaded: no")),
            "{status}"
        );
    }
}
