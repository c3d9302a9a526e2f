//! A session as it was, what came back for a request, and the build that a page came with.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use a_society_facts::Fact;
use a_society_facts::id::FlowId;
use a_society_facts::view::route::session_role;
use a_society_facts::view::session::Texts;
use a_society_facts::view::{FactView, session::SessionView};
use a_society_samples::{recorded, walk};
use serde_json::Value;

use super::super::transcript::Read;
use super::Stage;
use super::changed::{JOURNAL, get, stage};

/// The roles of the journal, and how long it is.
fn roles() -> (BTreeSet<String>, u64) {
    let lines = JOURNAL.lines().filter(|line| !line.is_empty());
    let records: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let roles = records.iter().filter_map(|record| record["role"].as_str());
    (roles.map(str::to_owned).collect(), records.len() as u64)
}

#[test]
fn a_session_as_it_was_at_a_record_holds_nothing_that_came_later() {
    let stage = stage();
    let (roles, last) = roles();
    assert!(roles.len() > 1, "{roles:?}");
    for role in roles {
        let told = |at: u64| get(&stage, &format!("role/{role}/transcript?seg=live&at={at}"));
        let (_, whole) = told(last);
        let (mut before, mut grew) = (0, 0);
        for at in (1..=last).step_by(7) {
            let (status, then) = told(at);
            if status == 404 {
                assert_eq!(before, 0, "{role} had begun before {at}");
                continue;
            }
            let messages = then["messages"].as_array().unwrap();
            for message in messages {
                assert!(message["seq"].as_u64().unwrap() <= at, "{role} at {at}");
            }
            grew += usize::from(messages.len() > before);
            before = messages.len();
        }
        assert!(grew > 0, "{role} said nothing");
        assert!(whole["total"].as_u64().unwrap() >= before as u64);
    }
}

#[test]
fn a_request_that_failed_says_what_came_back_and_no_other_does() {
    let facts = walk();
    let failed = facts.iter().find_map(|fact| {
        let Fact::ModelFailed(failed) = fact else {
            return None;
        };
        Some(failed.clone())
    });
    let failed = failed.unwrap();
    let role = failed.role.clone();
    let flow: FlowId = super::FLOW.parse().unwrap();
    let mut read = Read::default();
    for recorded in recorded(facts) {
        read.hear(&flow, &role, &recorded);
    }
    let requests = read.known_of_requests().enumerate();
    let requests: Vec<_> = requests.filter_map(|(n, _)| read.request(n)).collect();
    let told: Vec<_> = requests
        .iter()
        .filter(|request| !request.raw["failed"].is_null())
        .collect();
    let [request] = told.as_slice() else {
        panic!("{} requests failed", told.len());
    };
    assert_eq!(request.raw["failed"]["error"], failed.error.as_str());
    assert_eq!(request.raw["request"], failed.request);
    let why = a_society_facts::words::calls::failure(&failed.class).unwrap();
    assert_ne!(why, failed.class);
    assert_eq!(request.raw["failed"]["what"], why);
    assert!(request.content.ends_with(&format!(", failed: {why}")));
    let answered = requests
        .iter()
        .any(|request| !request.raw["answered"].is_null());
    assert!(answered, "no request was answered");
}

#[test]
fn the_page_says_which_build_it_came_with_and_its_parts_do_not() {
    let stage = Stage::new(8);
    let head = |path: &str| {
        let port = stage.port();
        stage.ask(&format!(
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
        ))
    };
    for place in ["/", "/p/demo/f/x"] {
        let said = head(place);
        assert!(
            said.contains("server-timing: build;desc=\"test\"\r\n"),
            "{said}"
        );
    }
    assert!(!head("/favicon.svg").contains("server-timing"));
}

/// What comes back for a session that is taken along: its name, and what it holds.
fn taken(stage: &Stage, flow: &str, rest: &str) -> (String, String) {
    let (port, token) = (stage.port(), stage.server.token());
    let head = format!(
        "GET /api/flow/demo/{flow}/role/{rest} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\
         Authorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    );
    let mut stream = TcpStream::connect(stage.server.address()).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let name = head.split("attachment; filename=").nth(1);
    let name = name.and_then(|name| name.split("\r\n").next());
    (name.unwrap_or_default().to_owned(), body.to_owned())
}

#[test]
fn a_session_is_taken_along_as_it_stands_on_a_disk_now_then_or_one_archive_of_it() {
    let stage = Stage::new(8);
    super::append(&stage.journal(), &super::written(walk()));
    let id = super::FLOW;
    let flow: FlowId = id.parse().unwrap();
    let (mut sessions, mut last) = (BTreeMap::new(), 0);
    for recorded in recorded(walk()) {
        last = recorded.seq;
        let Some(role) = recorded.fact().and_then(session_role) else {
            continue;
        };
        let new = || SessionView::new(role.clone(), Some(flow.clone()));
        let session = sessions.entry(role.clone()).or_insert_with(new);
        session.apply(&recorded);
        let mut whole = Vec::new();
        session.write_json(&mut whole, Texts::BEGINNINGS);
        let at = recorded.seq;
        let (name, then) = taken(&stage, id, &format!("{role}/transcript.json?at={at}"));
        let whole = String::from_utf8(whole).unwrap();
        assert_eq!(then, whole, "{role} at {at}");
        assert_eq!(name, format!("\"{id}-{role}-at-{at}-transcript.json\""));
    }
    let archives = sessions.iter().flat_map(|(role, session)| {
        let archives = session.archives.iter();
        archives.map(move |archive| (role, archive))
    });
    let mut several = 0;
    for (role, archive) in archives {
        several += 1;
        let rest = format!("{role}/transcript.json?seg={}&at={last}", archive.id);
        let (_, told) = taken(&stage, id, &rest);
        let told: Value = serde_json::from_str(&told).unwrap();
        let whole = sessions[role].archive_json(&archive.id, Texts::BEGINNINGS);
        let whole: Value = serde_json::from_slice(&whole.unwrap()).unwrap();
        assert_eq!(told, whole);
    }
    assert!(several > 0, "no history was put away");
    for rest in ["nobody/transcript.json", "owner/transcript.json?seg=none"] {
        let (name, told) = taken(&stage, id, rest);
        assert!(name.is_empty() && told.contains("not-found"), "{told}");
    }
}
