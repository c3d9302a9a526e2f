//! Too much input is refused, and its sender delays no other client.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;
use tungstenite::protocol::Message;

use super::{PATIENCE, Stage, connect, hear, say, status_of};
use crate::server::limits::{BODY_BYTES_MAX, FOLLOWED_MAX, HEAD_BYTES_MAX, HEADERS_MAX};

const HEALTH: &str = "GET /api/health HTTP/1.1\r\nHost: 127.0.0.1:{P}";

#[test]
fn a_head_with_too_many_lines_or_bytes_is_refused() {
    let stage = Stage::new(8);
    let lines = |count: usize| -> String { (0..count).map(|n| format!("\r\nx-{n}: 1")).collect() };
    let fits = format!("{HEALTH}{}", lines(HEADERS_MAX - 4));
    assert_eq!(stage.status(&fits, ""), 200);
    let many = format!("{HEALTH}{}", lines(HEADERS_MAX + 1));
    assert_eq!(stage.status(&many, ""), 431);
    let long = format!("{HEALTH}\r\nx: {}", "a".repeat(HEAD_BYTES_MAX));
    assert_eq!(stage.status(&long, ""), 431);
    assert_eq!(stage.status(HEALTH, ""), 200);
}

#[test]
fn a_body_that_is_too_long_is_refused() {
    let stage = Stage::new(8);
    let post = "POST /api/session HTTP/1.1\r\nHost: 127.0.0.1:{P}\r\nAuthorization: Bearer {T}\r\n\
                Content-Type: application/json";
    let long = format!("\"{}\"", "a".repeat(BODY_BYTES_MAX));
    assert_eq!(stage.status(post, &long), 413);
}

#[test]
fn whoever_does_not_finish_the_head_of_a_request_is_cut_off() {
    let stage = Stage::with(|options| options.head_timeout = Duration::from_millis(100));
    let mut slow = TcpStream::connect(stage.server.address()).unwrap();
    slow.set_read_timeout(Some(PATIENCE)).unwrap();
    slow.write_all(b"GET /api/health HTTP/1.1\r\nHo").unwrap();
    let mut said = Vec::new();
    // It ends by itself, with an answer or without one.
    drop(slow.read_to_end(&mut said));
    let status = status_of(&String::from_utf8_lossy(&said));
    assert!(matches!(status, 0 | 408), "{status}");
    assert_eq!(stage.status(HEALTH, ""), 200);
}

#[test]
fn whoever_does_not_finish_the_body_of_a_request_is_cut_off() {
    let stage = Stage::with(|options| options.head_timeout = Duration::from_millis(100));
    let begun = format!(
        "POST /api/session HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\n\
         Content-Length: 100\r\n\r\n{{",
        stage.port()
    );
    assert_eq!(status_of(&stage.ask(&begun)), 408);
    assert_eq!(stage.status(HEALTH, ""), 200);
}

#[test]
fn one_subscription_too_many_is_told_so_and_the_others_go_on() {
    let stage = Stage::new(8);
    let mut socket = connect(&stage.server);
    hear(&mut socket);
    let sub = |id: usize| json!({ "t": "sub", "id": id, "topic": { "topic": "inbox" }, "since": null, "epoch": null });
    for id in 0..FOLLOWED_MAX {
        say(&mut socket, &sub(id));
        while hear(&mut socket)["t"] != "caught_up" {}
    }
    say(&mut socket, &sub(FOLLOWED_MAX));
    let gone = hear(&mut socket);
    assert_eq!(
        (&gone["t"], &gone["id"]),
        (&json!("gone"), &json!(FOLLOWED_MAX))
    );
    say(&mut socket, &json!({ "t": "ping", "n": 7 }));
    assert_eq!(hear(&mut socket)["n"], 7);
}

#[test]
fn what_is_nested_without_end_is_refused() {
    let stage = Stage::new(8);
    let deep =
        |open: &str, close: &str| format!("{}0{}", open.repeat(100_000), close.repeat(100_000));
    for nested in [deep("[", "]"), deep("{\"a\":", "}")] {
        let mut socket = connect(&stage.server);
        hear(&mut socket);
        socket.send(Message::text(nested.clone())).unwrap();
        assert_eq!(hear(&mut socket)["code"], 1002);
        let inside = format!("{{\"t\":\"do\",\"cmd\":\"c\",\"flow\":{nested}}}");
        let mut socket = connect(&stage.server);
        hear(&mut socket);
        socket.send(Message::text(inside)).unwrap();
        // A command is refused under its name.
        let ack = hear(&mut socket);
        assert_eq!((&ack["cmd"], &ack["ok"]), (&json!("c"), &json!(false)));
    }
    assert_eq!(stage.status(HEALTH, ""), 200);
}

#[test]
fn a_cursor_that_cannot_be_one_ends_the_socket_and_one_from_the_future_begins_anew() {
    let stage = Stage::new(8);
    super::append(&stage.journal(), &super::lines(3));
    let sub = |since: &str| {
        let flow = json!({ "project": "demo", "flow": super::FLOW });
        format!(
            "{{\"t\":\"sub\",\"id\":1,\"topic\":{{\"topic\":\"flow\",\"flow\":{flow}}},\"since\":{since},\"epoch\":\"e\"}}"
        )
    };
    for since in ["-1", "18446744073709551616", "1.5", "\"1\""] {
        let mut socket = connect(&stage.server);
        hear(&mut socket);
        socket.send(Message::text(sub(since))).unwrap();
        assert_eq!(hear(&mut socket)["code"], 1002, "{since}");
    }
    for since in ["1000000", "9223372036854775808"] {
        let mut socket = connect(&stage.server);
        hear(&mut socket);
        socket.send(Message::text(sub(since))).unwrap();
        assert_eq!(hear(&mut socket)["t"], "snap", "{since}");
    }
}
