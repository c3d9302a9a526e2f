//! A client of the page's protocol, written from `operator-ui/PROTOCOL.md` and from nothing else.
//!
//! It follows one flow, the feeds of its roles and the list of all flows; it may break off at any
//! moment and come back with what it has. Whatever the document promises and does not hold, such as
//! a hole between two batches, ends the test.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tungstenite::error::Error as Broken;
use tungstenite::protocol::{Message, Role, WebSocket};

use crate::support::Workspace;

/// How long anything may take that goes well.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Where a server is reached, and by whom.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) address: String,
    pub(crate) token: String,
}

/// A server of a workspace.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    pub(crate) place: Place,
}

impl Server {
    pub(crate) fn start(workspace: &Workspace, more: &[&str]) -> Self {
        let words = [&["serve", "--port", "0", "--json"], more].concat();
        let mut command = workspace.command(&words);
        let piped = command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = piped.spawn().unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        let text = |key: &str| said[key].as_str().unwrap().to_owned();
        let place = Place {
            address: text("address"),
            token: text("token"),
        };
        Self { child, place }
    }

    /// Ends it as a power cut would.
    pub(crate) fn kill(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Place {
    /// The body of what a path answers; nothing if the server went meanwhile.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> Option<Value> {
        let answer = self.answer(method, path, body)?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        assert!(head.starts_with("HTTP/1.1 200 "), "{path}: {head} {body}");
        serde_json::from_str(body).ok()
    }

    /// The status of what a browser gets that shows a token.
    pub(crate) fn sign_in(&self, body: &str) -> u16 {
        let answer = self.answer("POST", "/api/session", body).unwrap();
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }

    pub(crate) fn answer(&self, method: &str, path: &str, body: &str) -> Option<String> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        let Self { address, token } = self;
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer)
    }

    /// Opens a socket; nothing if the server went meanwhile.
    fn open(&self) -> Option<WebSocket<TcpStream>> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        let Self { address, token } = self;
        let request = format!(
            "GET /api/socket HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
             Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).ok()?;
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            if stream.read(&mut byte).ok()? == 0 {
                return None;
            }
            head.push(byte[0]);
        }
        let head = String::from_utf8_lossy(&head);
        assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
        Some(WebSocket::from_raw_socket(stream, Role::Client, None))
    }
}

/// What is followed: the list of flows, a flow, or the feed of a role.
#[derive(Debug, Default, Clone)]
pub(super) struct Followed {
    topic: Value,
    cursor: Option<(u64, String)>,
    /// The parts by their keys.
    pub(super) parts: BTreeMap<String, Value>,
    /// The items of a feed by their first record and their id, which is their order.
    pub(super) items: BTreeMap<(u64, String), Value>,
    /// The text of items that stream.
    streams: BTreeMap<String, String>,
    pub(super) snaps: usize,
    caught_up: bool,
}

/// A window of an operator.
#[derive(Debug)]
pub(crate) struct Window {
    pub(super) flow: Value,
    /// What is followed, by the number of the subscription.
    pub(super) followed: BTreeMap<u64, Followed>,
    /// What was answered to commands, by their names.
    pub(crate) acks: BTreeMap<String, Value>,
    /// How often the text of an item had to be read, because what streamed did not go on from it.
    pub(super) bodies: usize,
}

/// A socket of a window.
pub(crate) struct Connection {
    socket: WebSocket<TcpStream>,
    place: Place,
}

impl Window {
    pub(crate) fn new(flow: &Value, roles: &[&str]) -> Self {
        let mut topics = vec![
            json!({ "topic": "inbox" }),
            json!({ "topic": "flow", "flow": flow }),
        ];
        topics.extend(
            (roles.iter()).map(|role| json!({ "topic": "feed", "flow": flow, "role": role })),
        );
        let followed = topics.into_iter().zip(1..).map(|(topic, id)| {
            let followed = Followed {
                topic,
                ..Followed::default()
            };
            (id, followed)
        });
        Self {
            flow: flow.clone(),
            followed: followed.collect(),
            acks: BTreeMap::new(),
            bodies: 0,
        }
    }

    /// Connects, and goes on from where it was.
    pub(crate) fn connect(&mut self, place: &Place) -> Option<Connection> {
        let socket = place.open()?;
        let mut connection = Connection {
            socket,
            place: place.clone(),
        };
        let hello = connection.hear(PATIENCE)?;
        assert_eq!((&hello["t"], &hello["proto"]), (&json!("hello"), &json!(2)));
        for (id, followed) in &mut self.followed {
            let (since, epoch) = followed.cursor.clone().unzip();
            followed.caught_up = false;
            followed.streams.clear();
            connection.say(&json!({
                "t": "sub", "id": id, "topic": followed.topic, "since": since, "epoch": epoch, "window": 1_000
            }))?;
        }
        Some(connection)
    }

    /// Whether everything is there that was recorded when it came.
    pub(super) fn is_caught_up(&self) -> bool {
        self.followed.values().all(|followed| followed.caught_up)
    }

    /// What the flow has under keys that begin so.
    pub(crate) fn parts(&self, prefix: &str) -> Vec<Value> {
        let parts = self.followed[&2].parts.iter();
        let mine = parts.filter(|(key, _)| key.starts_with(prefix));
        mine.map(|(_, part)| part.clone()).collect()
    }

    /// What the list of all flows has under a key.
    pub(crate) fn of_inbox(&self, key: &str) -> Option<Value> {
        self.followed[&1].parts.get(key).cloned()
    }

    /// Takes a message.
    pub(crate) fn hear(&mut self, connection: &Connection, message: &Value) {
        if message["t"] == "ack" {
            let name = message["cmd"].as_str().unwrap().to_owned();
            self.acks.insert(name, message.clone());
            return;
        }
        let id = message["id"].as_u64().unwrap();
        let followed = self.followed.get_mut(&id).unwrap();
        match message["t"].as_str().unwrap() {
            "snap" => followed.begin(message),
            "ev" => followed.go_on(message),
            "caught_up" => followed.caught_up = true,
            "delta" => {
                let item = message["item"].as_str().unwrap();
                let offset = message["offset"].as_u64().unwrap() as usize;
                let text = message["text"].as_str().unwrap();
                let known = followed.streams.entry(item.to_owned()).or_default();
                if known.len() == offset {
                    known.push_str(text);
                    return;
                }
                // The document: the client reads the item's body.
                self.bodies += 1;
                let flow = &self.flow;
                let path = format!(
                    "/api/flow/{}/{}/item/{item}/body",
                    flow["project"].as_str().unwrap(),
                    flow["flow"].as_str().unwrap()
                );
                if let Some(body) = connection.place.ask("GET", &path, "") {
                    known.clear();
                    known.push_str(body["text"].as_str().unwrap());
                }
            }
            other => panic!("{other}: {message}"),
        }
    }
}

impl Followed {
    /// Everything, once more.
    fn begin(&mut self, snap: &Value) {
        self.snaps += 1;
        let epoch = snap["epoch"].as_str().unwrap().to_owned();
        self.cursor = Some((snap["seq"].as_u64().unwrap(), epoch));
        self.parts.clear();
        self.items.clear();
        let state = &snap["state"];
        if self.topic["topic"] == "feed" {
            self.take(&state["items"]);
            assert_eq!(state["total"].as_u64(), Some(self.items.len() as u64));
            return;
        }
        // The groups of a whole state, and how the keys of their parts begin.
        let groups = [
            ("flows", "flow/"),
            ("nodes", "node/"),
            ("edges", "edge/"),
            ("roles", "role/"),
            ("asks", "ask/"),
            ("changes", "change/"),
        ];
        for (group, prefix) in groups {
            for (name, part) in state[group].as_object().into_iter().flatten() {
                self.parts.insert(format!("{prefix}{name}"), part.clone());
            }
        }
        for key in ["flow", "order", "improvement", "decided"] {
            if let Some(part) = state.get(key).filter(|part| !part.is_null()) {
                self.parts.insert(key.to_owned(), part.clone());
            }
        }
    }

    /// What came after what is there.
    fn go_on(&mut self, ev: &Value) {
        let (seq, _) = self.cursor.as_mut().expect("an ev comes after a snap");
        assert_eq!(ev["from"].as_u64(), Some(*seq), "a hole: {ev}");
        *seq = ev["to"].as_u64().unwrap();
        let put = &ev["put"];
        if put.is_array() {
            self.take(put);
        }
        for (key, part) in put.as_object().into_iter().flatten() {
            if part.is_null() {
                self.parts.remove(key);
            } else {
                self.parts.insert(key.clone(), part.clone());
            }
        }
    }

    fn take(&mut self, items: &Value) {
        for item in items.as_array().unwrap() {
            let id = item["id"].as_str().unwrap().to_owned();
            if item["pending"] == true {
                let text = item["text"].as_str().unwrap().to_owned();
                self.streams.entry(id.clone()).or_insert(text);
            } else {
                self.streams.remove(&id);
            }
            let place = (item["first"].as_u64().unwrap(), id);
            self.items.insert(place, item.clone());
        }
    }
}

impl Connection {
    /// Says something; nothing if the server went meanwhile.
    pub(crate) fn say(&mut self, message: &Value) -> Option<()> {
        self.socket.send(Message::text(message.to_string())).ok()
    }

    /// The next message; nothing if there is none for so long, or the server went.
    pub(crate) fn hear(&mut self, longest: Duration) -> Option<Value> {
        self.socket.get_mut().set_read_timeout(Some(longest)).ok()?;
        loop {
            match self.socket.read() {
                Ok(Message::Text(text)) => return Some(serde_json::from_str(&text).unwrap()),
                Ok(_) => {}
                Err(Broken::Io(error)) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
    }
}
