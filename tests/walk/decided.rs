//! What the page decides about calls of a model: what then runs, and what the model reads of it.

use serde_json::{Value, json};

use super::models::{Model, call, with_model};
use super::place::wait_until;
use crate::served::client::{Server, Window};
use crate::served::operated::{said, started, until};

const WHY: &str = "Write two, not one.";

/// One command after the other.
fn writes(results: usize) -> Vec<(Value, Vec<Value>)> {
    let words = ["one", "two", "three"];
    let command = words
        .get(results)
        .map(|word| format!("echo {word} >> log.txt"));
    let call = command.map(|command| call(results, "run_command", json!({ "command": command })));
    call.into_iter().collect()
}

/// The question about a call, which is not this one.
fn asked(window: &mut Window, server: &Server, before: &Value) -> Value {
    let find = |window: &Window| {
        let asks = window.parts("ask/").into_iter();
        let mut kinds = asks.map(|ask| ask["kind"].clone());
        kinds.find(|kind| kind["kind"] == "consent" && kind["consent"] != before["consent"])
    };
    until(window, server, |window| find(window).is_some());
    find(window).unwrap()
}

#[test]
fn calls_run_or_do_not_as_the_page_says_and_the_model_reads_why() {
    let model = Model::start_with(writes);
    let place = with_model(&model);
    let server = Server::start(&place.workspace, &[]);
    let flow = started(&server);
    let mut window = Window::new(&flow, &["owner"]);
    let log =
        || std::fs::read_to_string(place.workspace.path().join("demo/log.txt")).unwrap_or_default();
    let decide = |window: &mut Window, what: &str, ask: &Value, more: Value| {
        let mut command = json!({ "do": what, "consent": ask["consent"], "action": ask["action"] });
        let members = command.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        let ack = said(window, &server, what, &command);
        assert_eq!(ack["ok"], json!(true), "{ack}");
    };
    let first = asked(&mut window, &server, &Value::Null);
    assert_eq!((model.requests(), log().as_str()), (1, ""));
    decide(&mut window, "deny", &first, json!({ "reason": WHY }));
    let second = asked(&mut window, &server, &first);
    let heard = model.heard();
    assert!(
        heard[1].contains(WHY) && !heard[0].contains(WHY),
        "{}",
        heard[1]
    );
    assert_eq!(log(), "");
    decide(
        &mut window,
        "allow",
        &second,
        json!({ "for_the_flow": false }),
    );
    let _third = asked(&mut window, &server, &second);
    assert_eq!(log(), "two\n");
    // Where nothing is asked any more, what is asked already runs, too.
    let mode = json!({ "do": "mode", "mode": "full-access" });
    let ack = said(&mut window, &server, "mode", &mode);
    assert_eq!(ack["ok"], json!(true), "{ack}");
    wait_until("it has run", || log() == "two\nthree\n");
}
