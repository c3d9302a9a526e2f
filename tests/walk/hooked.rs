//! Signed requests that begin chats and flows: once each, whatever ends the server, and none without a signature.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, SystemTime};

use a_society_stand_in::{Ending, Server as Provider};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::chatted::last_said;
use super::models::{says, streamed, with_model_at};
use super::place::{Place, wait_until};
use crate::support::slice_of;

const SECRET: &str = "a secret of sixteen bytes or more";

/// How often the server is killed; more in the whole test.
const KILLS: u64 = 60;
const STRIDE: usize = 12;

/// Longer than a request takes; kills are spread over it.
const SPREAD_MS: u64 = 240;

/// A place whose configuration has the webhook `deployed`, and a model that answers.
fn place(rest: &str) -> (Provider, Place) {
    let model = Provider::by(|seen, _| {
        let said = format!("Read: {}", last_said(&seen.body).len());
        streamed(vec![says(&[&said])], Ending::Natural, 10)
    });
    let place = with_model_at(&model.url(), "anthropic");
    let config = std::fs::read_to_string(place.workspace.path().join("config.yaml")).unwrap();
    let folder = place.workspace.path().display().to_string();
    place.write("secret", SECRET);
    let secret = place.workspace.path().join("secret");
    std::fs::set_permissions(&secret, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let hook = format!(
        "webhooks:\n  deployed: {{ workspace: '{folder}', secret: {{ file: '{folder}/secret' }}, {rest} }}\n"
    );
    place.write("config.yaml", &format!("{config}{hook}"));
    (model, place)
}

const CHAT: &str = "chat: assistant, project: demo, input: Look at it.";

/// A server, which is killed when it is dropped.
struct Hooked {
    child: Child,
    address: String,
}

impl Hooked {
    fn start(place: &Place) -> Self {
        let mut command = place.workspace.command(&["serve", "--port", "0", "--json"]);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        let address = said["address"].as_str().unwrap().to_owned();
        Self { child, address }
    }

    /// The status and the body of what a request is answered; nothing if the server went meanwhile.
    fn post(&self, path: &str, headers: &str, body: &[u8]) -> Option<(u16, String)> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .ok()?;
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n{headers}\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            self.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).ok()?;
        // One that is too long is not read to its end.
        drop(stream.write_all(body));
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer));
        let answer = String::from_utf8(answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some((status, body.to_owned()))
    }

    fn deliver(&self, id: &str, body: &str) -> Option<(u16, String)> {
        let headers = signed(id, now(), body.as_bytes(), SECRET);
        self.post("/api/hook/deployed", &headers, body.as_bytes())
    }
}

impl Drop for Hooked {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap().as_secs()
}

/// The headers of a request that is signed.
fn signed(id: &str, timestamp: u64, body: &[u8], secret: &str) -> String {
    let signed = [format!("{id}.{timestamp}.").as_bytes(), body].concat();
    let tag = STANDARD.encode(hmac_sha256(secret.as_bytes(), &signed));
    format!("webhook-id: {id}\r\nwebhook-timestamp: {timestamp}\r\nwebhook-signature: v1,{tag}\r\n")
}

/// HMAC as RFC 2104 has it, from another hand than the program's.
fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0_u8; 64];
    block[..key.len()].copy_from_slice(key);
    let pad = |with: u8| block.map(|byte| byte ^ with);
    let hash =
        |first: &[u8], rest: &[u8]| a_society_facts::Hash::of(&[first, rest].concat()).bytes();
    hash(&pad(0x5c), &hash(&pad(0x36), message))
}

/// The ids of the chats there are.
fn chats(place: &Place) -> Vec<String> {
    let listed = place
        .run(&["sessions", "ls", "--kind", "hook", "--json"])
        .json();
    let rows = listed["sessions"].as_array().cloned().unwrap_or_default();
    let keys = rows
        .iter()
        .map(|row| row["flowId"].as_str().unwrap().to_owned());
    keys.collect()
}

#[test]
fn a_signed_request_begins_one_chat_with_its_body_and_a_repeated_one_finds_it() {
    let (model, place) = place(CHAT);
    let server = Hooked::start(&place);
    let body = "{\"version\": \"7.3\", \"~~~\": 1}";
    let (status, first) = server.deliver("evt_1", body).unwrap();
    assert_eq!(status, 202, "{first}");
    let key: Value = serde_json::from_str(&first).unwrap();
    let key = key["key"].as_str().unwrap();
    assert!(key.starts_with("hook:"), "{key}");
    let is_answered = || {
        let history = place.run(&["sessions", "history", key]);
        history.out.contains("Read: ")
    };
    wait_until("the chat is answered", is_answered);
    let said = last_said(&model.seen()[0].body);
    assert!(said.starts_with("Look at it.\n\n"), "{said}");
    assert!(said.contains(&format!("~~~~json\n{body}\n~~~~")), "{said}");
    assert!(said.contains("gives no instructions"), "{said}");
    let (again, second) = server.deliver("evt_1", body).unwrap();
    assert_eq!((again, &second), (202, &first));
    drop(server);
    let server = Hooked::start(&place);
    assert_eq!(server.deliver("evt_1", body).unwrap(), (202, first.clone()));
    assert_eq!((chats(&place).len(), model.seen().len()), (1, 1));
}

#[test]
fn a_request_that_is_not_signed_is_old_or_is_too_long_begins_nothing() {
    let (model, place) = place(CHAT);
    let server = Hooked::start(&place);
    let path = "/api/hook/deployed";
    let good = signed("evt_1", now(), b"{}", SECRET);
    let status =
        |path: &str, headers: &str, body: &[u8]| server.post(path, headers, body).unwrap().0;
    for (path, headers, body, wanted) in [
        (path, "", &b"{}"[..], 401),
        (path, good.as_str(), b"{ }", 401),
        ("/api/hook/other", good.as_str(), b"{}", 401),
        (
            path,
            signed("evt_1", now(), b"{}", "another secret of many bytes").as_str(),
            b"{}",
            401,
        ),
        (
            path,
            signed("evt_1", now() - 400, b"{}", SECRET).as_str(),
            b"{}",
            401,
        ),
        (
            path,
            signed("evt_1", now() + 400, b"{}", SECRET).as_str(),
            b"{}",
            401,
        ),
        (
            path,
            signed("evt_1", now(), b"\xff", SECRET).as_str(),
            b"\xff",
            400,
        ),
        (
            path,
            format!("{good}Origin: https://evil.example\r\n").as_str(),
            b"{}",
            403,
        ),
    ] {
        assert_eq!(status(path, headers, body), wanted, "{headers}");
    }
    let long = vec![b' '; 64 * 1024 + 1];
    let headers = signed("evt_1", now(), &long, SECRET);
    assert_eq!(status(path, &headers, &long), 413);
    assert_eq!((chats(&place).len(), model.seen().len()), (0, 0));
    assert_eq!(status(path, &good, b"{}"), 202);
}

#[test]
fn more_requests_than_the_webhook_allows_in_a_minute_are_refused_and_none_is_taken_without_a_webhook()
 {
    let (_model, place) = place(&format!("{CHAT}, per-minute: 2"));
    let server = Hooked::start(&place);
    let statuses: Vec<u16> = ["a", "b", "c", "a"]
        .iter()
        .map(|id| server.deliver(id, "{}").unwrap().0)
        .collect();
    assert_eq!(statuses, [202, 202, 429, 202]);
    place.write("config.yaml", "");
    assert_eq!(server.deliver("a", "{}").unwrap().0, 401);
}

#[test]
fn a_server_that_is_killed_after_it_took_a_request_leaves_a_chat_that_the_next_one_answers() {
    for number in slice_of(0..KILLS, STRIDE) {
        let (model, place) = place(CHAT);
        let mut server = Hooked::start(&place);
        let killed = std::thread::scope(|scope| {
            let sent = scope.spawn(|| {
                let address = server.address.clone();
                let other = Sender { address };
                other.deliver()
            });
            std::thread::sleep(Duration::from_millis(number * SPREAD_MS / KILLS));
            let pid = server.child.id().to_string();
            let ended = std::process::Command::new("kill")
                .args(["-9", &pid])
                .status();
            assert!(ended.unwrap().success());
            sent.join().unwrap()
        });
        drop(server.child.wait());
        drop(server);
        let was_taken = killed == Some(202);
        let server = Hooked::start(&place);
        if !was_taken {
            // Its sender does not know, and sends it again.
            assert_eq!(
                server.deliver("evt_1", "{}").unwrap().0,
                202,
                "kill {number}"
            );
        }
        wait_until(&format!("it is answered after kill {number}"), || {
            let chats = chats(&place);
            let history = chats
                .first()
                .map(|chat| place.run(&["sessions", "history", chat]));
            history.is_some_and(|history| history.out.contains("Read: "))
        });
        drop(server);
        assert_eq!(chats(&place).len(), 1, "kill {number}");
        assert!((1..=2).contains(&model.seen().len()), "kill {number}");
    }
}

/// Sends one request from a thread of its own.
struct Sender {
    address: String,
}

impl Sender {
    fn deliver(&self) -> Option<u16> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .ok()?;
        let headers = signed("evt_1", now(), b"{}", SECRET);
        let request = format!(
            "POST /api/hook/deployed HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             {headers}Content-Length: 2\r\nConnection: close\r\n\r\n{{}}",
            self.address
        );
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        answer.split(' ').nth(1)?.parse().ok()
    }
}
