//! Commands that cannot be read, or that no page may give.

use serde_json::json;

use super::*;

#[test]
fn a_command_that_makes_no_sense_is_answered_under_its_name() {
    let stage = Stage::new(8);
    let mut socket = connect(&stage.server);
    hear(&mut socket);
    say(
        &mut socket,
        &json!({ "t": "do", "cmd": "c1", "flow": { "project": "demo", "flow": FLOW }, "command": { "do": "shout" } }),
    );
    let ack = hear(&mut socket);
    assert_eq!((&ack["cmd"], &ack["ok"]), (&json!("c1"), &json!(false)));
    say(
        &mut socket,
        &json!({ "t": "do", "cmd": "c2", "flow": { "project": "../x", "flow": FLOW }, "command": { "do": "pause" } }),
    );
    let ack = hear(&mut socket);
    assert_eq!((&ack["cmd"], &ack["ok"]), (&json!("c2"), &json!(false)));
}

#[test]
fn a_command_that_is_too_long_is_refused_under_its_name_and_the_socket_stays_open() {
    let stage = Stage::new(8);
    let mut socket = connect(&stage.server);
    hear(&mut socket);
    let command = json!({ "do": "reply", "to": "only", "text": "a".repeat(16 << 20) });
    let flow = json!({ "project": "demo", "flow": FLOW });
    say(
        &mut socket,
        &json!({ "t": "do", "cmd": "c1", "flow": flow, "command": command }),
    );
    let ack = hear(&mut socket);
    assert_eq!((&ack["cmd"], &ack["ok"]), (&json!("c1"), &json!(false)));
    let why = ack["error"]["why"].as_str().unwrap();
    assert_eq!(why, "it is longer than 16 MiB");
    say(&mut socket, &json!({ "t": "ping", "n": 1 }));
    assert_eq!(hear(&mut socket)["t"], "pong");
}

#[test]
fn a_command_in_the_words_of_an_older_protocol_is_refused_and_its_page_is_asked_to_reload() {
    let stage = Stage::new(8);
    let mut socket = connect(&stage.server);
    assert_eq!(hear(&mut socket)["proto"], crate::protocol::PROTO);
    for (n, (command, says)) in [
        (
            json!({ "do": "steer", "role": "owner", "text": "go on", "when": "next_turn" }),
            "next_turn",
        ),
        (
            json!({ "do": "rules", "allow": ["ls"], "deny": [], "back": false }),
            "allow",
        ),
        (
            json!({ "do": "improve", "mode": "graph_based" }),
            "graph_based",
        ),
        (json!({ "do": "approve" }), "names what it answers"),
        (
            json!({ "do": "allow", "consent": "k", "for_the_flow": true }),
            "names what it answers",
        ),
        (json!({ "do": "reopen", "node": "no node" }), "no node"),
        (json!({ "do": "resume", "because": 1 }), "because"),
        (json!({ "do": 7 }), "7"),
        (json!([]), ""),
    ]
    .into_iter()
    .enumerate()
    {
        let cmd = format!("c{n}");
        say(
            &mut socket,
            &json!({ "t": "do", "cmd": cmd, "flow": { "project": "demo", "flow": FLOW }, "command": command }),
        );
        let ack = hear(&mut socket);
        assert_eq!(
            (&ack["cmd"], &ack["ok"]),
            (&json!(cmd), &json!(false)),
            "{ack}"
        );
        let error = &ack["error"];
        assert_eq!(
            (&error["code"], &error["try"]),
            (&json!("message-unfit"), &json!("load the page anew")),
            "{ack}"
        );
        assert!(error["why"].as_str().unwrap().contains(says), "{ack}");
    }
}
