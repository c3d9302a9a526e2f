//! The stand-in for providers, judged by clients of the makers of the wires: their requests keep its rules, and
//! its answers are as the makers' types describe them.
//!
//! The clients run in the whole test. The exchanges between them and the stand-in are kept in `sessions/`, and
//! everywhere else the stand-in must send and accept the same.

use std::process::{Command, Stdio};

use a_society_stand_in::{Ending, Piece, Reply, Seen, Server, Used, Wire, strict};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;

use super::installed::python;
use crate::tidy::expect_generated;

const USED: Used = Used {
    fresh: 321,
    cache_read: 0,
    cache_write: 0,
};

/// A thought, words and a call; and the end, once there is a result.
fn answer(request: &str) -> Vec<Piece> {
    if request.contains("It says \u{6f22}\u{5b57}.") || request.contains("It says \\u6f22") {
        return vec![Piece::text("Done \u{1f600}.")];
    }
    let thought = Piece::Think("I should read it.".into());
    let call = Piece::call("call_1", r#"{"path":"a.md"}"#);
    vec![thought, Piece::text("I read."), call]
}

fn answers(seen: &Seen, _: usize) -> Reply {
    Reply::Paced(answer(&seen.text), Ending::Natural, USED, Duration::ZERO)
}

/// One request of a maker's client, and what the stand-in answered.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Exchange {
    path: String,
    request: Value,
    answer: String,
}

impl Exchange {
    fn of(path: &str, request: Value) -> Self {
        let wire = Wire::at(path).unwrap();
        let model = request["model"].as_str().unwrap_or_default();
        let pieces = answer(&request.to_string());
        Self {
            path: path.to_owned(),
            answer: strict::say(wire, model, &pieces, Ending::Natural, USED),
            request,
        }
    }
}

fn kept(wire: &str) -> String {
    format!("tests/world/sessions/{wire}.json")
}

#[test]
fn the_sessions_that_clients_of_the_makers_had_are_taken_and_answered_as_they_were() {
    for wire in ["messages", "chat", "responses"] {
        let text = std::fs::read_to_string(kept(wire)).unwrap();
        let session: Vec<Exchange> = serde_json::from_str(&text).unwrap();
        assert!(session.len() >= 2, "{wire}");
        for exchange in session {
            let of = Wire::at(&exchange.path).unwrap();
            assert_eq!(strict::check(of, &exchange.request), Ok(()), "{wire}");
            let now = Exchange::of(&exchange.path, exchange.request.clone());
            assert_eq!(now, exchange, "{wire}");
        }
    }
}

/// A maker's client's report of a session.
fn session(wire: &str) -> Option<Value> {
    let python = python()?;
    let server = Server::by(answers);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/world/python/clients.py");
    let client = Command::new(python)
        .args([script, wire, &server.url()])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(
        server.refused(),
        [""; 0],
        "the maker's own client is refused"
    );
    let why = String::from_utf8_lossy(&client.stderr);
    assert!(client.status.success(), "{why}");
    let heard: Value = serde_json::from_slice(&client.stdout).unwrap();
    let seen = server.seen().into_iter();
    let session: Vec<Exchange> = seen.map(|it| Exchange::of(&it.path, it.body)).collect();
    expect_generated(
        &kept(wire),
        &(serde_json::to_string_pretty(&session).unwrap() + "\n"),
    );
    assert_eq!(heard["faults"], json!([]), "{wire}");
    Some(heard["said"].clone())
}

#[test]
fn the_makers_of_the_wires_understand_the_stand_in_and_are_understood() {
    for (wire, stops) in [
        ("messages", ["tool_use", "end_turn"]),
        ("chat", ["tool_calls", "stop"]),
        ("responses", ["completed", "completed"]),
    ] {
        let Some(said) = session(wire) else { return };
        let calls = json!([["read_file", { "path": "a.md" }]]);
        let of = |member: &str| json!([said[0][member], said[1][member]]);
        assert_eq!(of("text"), json!(["I read.", "Done \u{1f600}."]), "{wire}");
        assert_eq!(of("calls"), json!([calls, []]), "{wire}");
        assert_eq!(of("stop"), json!(stops), "{wire}");
        assert_eq!(of("tokens"), json!([321, 321]), "{wire}");
        if wire != "chat" {
            assert_eq!(of("thought"), json!(["I should read it.", ""]), "{wire}");
        }
    }
}
