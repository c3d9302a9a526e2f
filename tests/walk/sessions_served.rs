//! Sessions over HTTP: other programs list them, read them, send to chats, and get the answers, over deaths of the
//! server.

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use a_society_stand_in::{Ending, Server as StandIn};
use serde_json::{Value, json};

use super::chatted::{last_said, texts};
use super::models::{says, streamed, with_model_at};
use super::place::wait_until;
use super::sessions_sent::SlowEcho;
use crate::served::client::{Place, Server};

/// The status and the body of an answer.
fn asked(place: &Place, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let answer = place.answer(method, path, &body).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let value = serde_json::from_str(body).unwrap_or_else(|_| Value::from(body));
    (status, value)
}

fn got(place: &Place, path: &str) -> (u16, Value) {
    asked(place, "GET", path, &Value::Null)
}

fn sent(place: &Place, message: &Value) -> (u16, Value) {
    asked(place, "POST", "/api/sessions/send", message)
}

#[test]
fn another_program_lists_sessions_reads_one_and_gets_the_answer_to_its_message() {
    let model = SlowEcho::start();
    let (place, chat) = model.place();
    let server = Server::start(&place.workspace, &[]);
    let web = &server.place;
    let message = json!({ "to": "notes", "text": "Second.", "client": "mine", "wait": 60 });
    let run = format!("{}:mine", chat.split_once('/').map_or(&*chat, |(_, id)| id));
    let reply = json!({ "runId": run, "status": "ok", "reply": "You said: Second." });
    assert_eq!(sent(web, &message), (200, reply.clone()));
    assert_eq!(
        texts(&model.bodies()[1])
            .last()
            .map(|(_, text)| text.as_str()),
        Some("Second.")
    );
    // The same message is the same run, and no request leaves.
    assert_eq!(sent(web, &message), (200, reply.clone()));
    assert_eq!(
        got(web, &format!("/api/sessions/run?run={run}&wait=0")),
        (200, reply)
    );
    assert_eq!(model.bodies().len(), 2);

    let (status, listed) = got(web, "/api/sessions?label=notes&kind=main,other&messages=1");
    assert_eq!((status, &listed["count"]), (200, &json!(1)), "{listed}");
    let printed = place.run(&[
        "sessions",
        "ls",
        "--label",
        "notes",
        "--messages",
        "1",
        "--json",
    ]);
    assert_eq!(listed, printed.json());
    let (status, read) = got(web, "/api/sessions/history?of=notes&limit=1");
    let said = &read["messages"][0]["content"];
    assert_eq!((status, said), (200, &json!("You said: Second.")), "{read}");
    let printed = place.run(&["sessions", "history", "notes", "--limit", "1", "--json"]);
    assert_eq!(read, printed.json());
}

#[test]
fn a_run_is_not_lost_with_its_client_or_its_server() {
    let model = SlowEcho::start();
    let (place, _) = model.place();
    let mut server = Server::start(&place.workspace, &[]);
    let message = json!({ "to": "notes", "text": "Answer slowly.", "client": "slow", "wait": 0 });
    let (status, accepted) = sent(&server.place, &message);
    assert_eq!((status, &accepted["status"]), (202, &json!("accepted")));
    let run = accepted["runId"].as_str().unwrap();
    let path = |wait: u32| format!("/api/sessions/run?run={run}&wait={wait}");
    let (status, late) = got(&server.place, &path(1));
    assert_eq!(
        (status, &late["status"]),
        (202, &json!("timeout")),
        "{late}"
    );
    let error = late["error"].as_str().unwrap();
    assert!(error.contains("GET /api/sessions/run"), "{error}");
    server.kill();
    let server = Server::start(&place.workspace, &[]);
    let (status, answered) = got(&server.place, &path(60));
    assert_eq!(
        (status, &answered["reply"]),
        (200, &json!("You said: Answer slowly."))
    );
    assert_eq!(model.bodies().len(), 2);
}

/// How many requests wait at once.
const ROOM: usize = 64;

#[test]
fn as_many_wait_as_there_is_room_for_and_one_that_leaves_makes_room() {
    let open = Arc::new(AtomicBool::new(false));
    let gate = Arc::clone(&open);
    let model = StandIn::by(move |seen, _| {
        while last_said(&seen.body) == "Wait." && !gate.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
        }
        streamed(vec![says(&["Done."])], Ending::Natural, 100)
    });
    let place = with_model_at(&model.url(), "anthropic");
    let begun = place.run(&[
        "chat",
        "--project",
        "demo",
        "--label",
        "notes",
        "--once",
        "First.",
    ]);
    assert_eq!(begun.code, 0, "{begun:?}");
    let server = Server::start(&place.workspace, &[]);
    let message = json!({ "to": "notes", "text": "Wait.", "client": "a", "wait": 0 });
    let (_, accepted) = sent(&server.place, &message);
    let run = accepted["runId"].as_str().unwrap().to_owned();
    let Place { address, token } = &server.place;
    let wait = || {
        let mut stream = TcpStream::connect(address).unwrap();
        let request = format!(
            "GET /api/sessions/run?run={run}&wait=600 HTTP/1.1\r\nHost: {address}\r\n\
             Authorization: Bearer {token}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        stream
    };
    let look = || {
        got(
            &server.place,
            &format!("/api/sessions/run?run={run}&wait=0"),
        )
        .0
    };
    let mut waits: Vec<TcpStream> = (0..ROOM).map(|_| wait()).collect();
    wait_until("all of them wait", || {
        let is_full = look() == 503;
        if !is_full {
            // The one that looks may have had the last place.
            waits.push(wait());
        }
        is_full
    });
    // What only reads the disk is answered meanwhile.
    assert_eq!(got(&server.place, "/api/sessions/history?of=notes").0, 200);
    drop(waits);
    wait_until("their places are free", || look() == 202);
    open.store(true, Ordering::SeqCst);
    wait_until("it is answered", || look() == 200);
}

#[test]
fn what_is_not_there_or_cannot_be_says_so_and_nothing_is_sent() {
    let model = SlowEcho::start();
    let (place, _) = model.place();
    let server = Server::start(&place.workspace, &[]);
    let web = &server.place;
    let nobody = json!({ "to": "other", "text": "Hello." });
    let (status, fault) = sent(web, &nobody);
    assert_eq!(
        (status, &fault["code"]),
        (404, &json!("no-session")),
        "{fault}"
    );
    assert!(fault["why"].as_str().unwrap().contains("notes"), "{fault}");
    let late = json!({ "to": "notes", "text": "Hello.", "wait": 601 });
    let (status, fault) = sent(web, &late);
    assert_eq!((status, &fault["code"]), (400, &json!("usage")), "{fault}");
    let unknown = json!({ "to": "notes", "text": "Hello.", "wiat": 1 });
    let (status, why) = sent(web, &unknown);
    assert_eq!(status, 400);
    assert!(why.to_string().contains("wiat"), "{why}");
    for (path, status) in [
        ("/api/sessions?kind=mian", 400),
        ("/api/sessions?state=old", 400),
        ("/api/sessions?knid=main", 400),
        ("/api/sessions/history?of=other", 404),
        ("/api/sessions/history", 400),
        ("/api/sessions/run?run=a:b", 404),
        ("/api/sessions/run?run=nothing", 404),
    ] {
        assert_eq!(got(web, path).0, status, "{path}");
    }
    assert_eq!(model.bodies().len(), 1);
}
