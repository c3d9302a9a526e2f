//! The stand-in for providers, judged by clients of the makers of the wires: their requests keep its rules, and
//! its answers are as the makers' types describe them.

use std::process::{Command, Stdio};

use a_society_stand_in::{Ending, Piece, Reply, Seen, Server, Used};
use serde_json::{Value, json};
use std::time::Duration;

use super::installed::python;

/// A thought, words and a call; and the end, once there is a result.
fn answers(seen: &Seen, _: usize) -> Reply {
    let used = Used {
        fresh: 321,
        ..Used::default()
    };
    let (pieces, ending) = if seen.text.contains("It says \u{6f22}\u{5b57}.")
        || seen.text.contains("It says \\u6f22")
    {
        (vec![Piece::text("Done \u{1f600}.")], Ending::Natural)
    } else {
        let thought = Piece::Think("I should read it.".into());
        let call = Piece::call("call_1", r#"{"path":"a.md"}"#);
        (vec![thought, Piece::text("I read."), call], Ending::Natural)
    };
    Reply::Paced(pieces, ending, used, Duration::ZERO)
}

/// What a client of a wire's maker said of a session.
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
