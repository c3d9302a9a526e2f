//! The door, from outside: what is refused and how, and that no follower loses anything.

mod again;
mod bounds;
mod changed;
mod dev;
mod imported;
mod routes;
mod then;
mod tls;
mod unfit;

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use a_society_facts::Fact;
use a_society_facts::fact::operator::ConsentRules;
use a_society_facts::line;
use a_society_orchestrator::workspace::begin::BegunFlow;
use a_society_samples::{long, recorded};
use a_society_state::clock::SystemClock;
use a_society_state::disk::RealDisk;
use a_society_state::layout::FlowFolder;
use a_society_state::{FlowRef, Ground, Store, process};
use serde_json::{Value, json};
use tungstenite::protocol::{Message, Role, WebSocket};

use super::access::Secrets;
use super::actions::Actions;
use super::limits::HEAD_TIMEOUT;
use super::listen::{Options, Server, start};
use crate::hub::Hubs;
use crate::protocol::down::{Fault, Mode};
use crate::protocol::http::NewFlow;
use crate::protocol::workspace::{MadeProject, NewProject};

/// Long enough for a machine that is busy, and never waited for when all is well.
const PATIENCE: Duration = Duration::from_secs(30);

/// A program around the server that can do nothing.
#[derive(Debug)]
struct Idle;

fn idle() -> Fault {
    Fault {
        code: "usage".to_owned(),
        what: "nothing can be started here".to_owned(),
        why: "it is a test".to_owned(),
        r#try: "nothing".to_owned(),
    }
}

impl Actions for Idle {
    fn start(&self, _: &NewFlow, _: ConsentRules) -> Result<BegunFlow, Fault> {
        Err(idle())
    }

    fn resume(&self, _: &FlowRef) -> Result<BegunFlow, Fault> {
        Err(idle())
    }

    fn make_project(&self, _: &NewProject) -> Result<MadeProject, Fault> {
        Err(idle())
    }

    fn redact(&self, text: &str) -> String {
        text.replace("canary", "[secret withheld]")
    }
}

/// A workspace with a server.
struct Stage {
    folder: tempfile::TempDir,
    server: Server,
}

impl Stage {
    fn new(sockets_max: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = serve(&folder, sockets_max);
        Self { folder, server }
    }

    /// One whose server is set up otherwise.
    fn with(change: impl FnOnce(&mut Options)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = serve_with(&folder, 8, change);
        Self { folder, server }
    }

    fn port(&self) -> u16 {
        self.server.address().port()
    }

    /// What comes back for the bytes of a request.
    fn ask(&self, request: &str) -> String {
        ask(self.server.address(), request)
    }

    /// The status of a request whose head is given with `P` for the port and `T` for the token.
    fn status(&self, head: &str, body: &str) -> u16 {
        let head = head
            .replace("{P}", &self.port().to_string())
            .replace("{T}", self.server.token());
        let length = match body {
            "" => String::new(),
            body => format!("Content-Length: {}\r\n", body.len()),
        };
        let request = format!("{head}\r\n{length}Connection: close\r\n\r\n{body}");
        status_of(&self.ask(&request))
    }

    fn journal(&self) -> PathBuf {
        journal(&self.folder)
    }
}

fn journal(folder: &tempfile::TempDir) -> PathBuf {
    let root = folder.path().join(".a-society/state/demo").join(FLOW);
    FlowFolder::at(root).segment(1)
}

fn serve(folder: &tempfile::TempDir, sockets_max: usize) -> Server {
    serve_with(folder, sockets_max, |_| {})
}

fn serve_with(
    folder: &tempfile::TempDir,
    sockets_max: usize,
    change: impl FnOnce(&mut Options),
) -> Server {
    let disk = Arc::new(RealDisk);
    let ground = Ground {
        process: process::this(disk.as_ref()),
        disk,
        clock: Arc::new(SystemClock::default()),
        ledger: None,
    };
    let store = Store::new(ground, folder.path().join(".a-society/state"));
    let hubs = Hubs::new(store, "epoch".to_owned(), None);
    let mut options = Options {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        hosts: Vec::new(),
        identity: None,
        head_timeout: HEAD_TIMEOUT,
        sockets_max,
        secrets: Secrets::new().unwrap(),
        workspace: "workspace".to_owned(),
        build: "test".to_owned(),
        mode: Mode::Live,
        dev: None,
    };
    change(&mut options);
    start(hubs, Arc::new(Idle), options).unwrap()
}

fn ask(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let mut piece = [0; 4096];
    // A socket stays open, and its head is all that is wanted.
    while !answer.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => break,
            Ok(read) => answer.extend_from_slice(&piece[..read]),
        }
    }
    String::from_utf8_lossy(&answer).into_owned()
}

/// The status and the whole body of what is read of a flow.
fn get(stage: &Stage, flow: &str, rest: &str) -> (u16, Value) {
    let (status, body) = asked(stage, &format!("GET /api/flow/demo/{flow}/{rest}"), "");
    (status, serde_json::from_str(&body).unwrap())
}

/// A text of a flow.
fn text(stage: &Stage, flow: &str, rest: &str) -> String {
    asked(stage, &format!("GET /api/flow/demo/{flow}/{rest}"), "").1
}

/// Sends JSON to a flow.
fn post(stage: &Stage, flow: &str, rest: &str, body: &Value) -> (u16, Value) {
    let line = format!("POST /api/flow/demo/{flow}/{rest}");
    let (status, body) = asked(stage, &line, &body.to_string());
    (status, serde_json::from_str(&body).unwrap())
}

fn asked(stage: &Stage, line: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(stage.server.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let request = format!(
        "{line} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\
         Authorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        stage.port(),
        stage.server.token(),
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (status_of(head), body.to_owned())
}

fn status_of(answer: &str) -> u16 {
    let word = answer.split(' ').nth(1).unwrap_or("0");
    word.parse().unwrap_or(0)
}

const UPGRADE: &str = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
                       Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";

/// The cookie that a browser has after it showed the token.
fn cookie(stage: &Stage) -> String {
    let link = stage.server.link();
    let (_, token) = link.split_once("#token=").unwrap();
    let body = format!("{{\"token\":\"{token}\"}}");
    let answer = stage.ask(&format!(
        "POST /api/session HTTP/1.1\r\nHost: 127.0.0.1:{p}\r\nOrigin: http://127.0.0.1:{p}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len(),
        p = stage.port()
    ));
    let line = answer
        .lines()
        .find(|line| line.starts_with("set-cookie: "))
        .unwrap();
    assert!(
        line.contains("HttpOnly") && line.contains("SameSite=Strict"),
        "{line}"
    );
    line["set-cookie: ".len()..]
        .split(';')
        .next()
        .unwrap()
        .to_owned()
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table")]
fn whoever_is_not_the_operator_is_turned_away() {
    let stage = Stage::new(8);
    let cookie = cookie(&stage);
    let get = "GET /api/projects HTTP/1.1\r\nHost: 127.0.0.1:{P}";
    let socket = format!("GET /api/socket HTTP/1.1\r\nHost: 127.0.0.1:{{P}}\r\n{UPGRADE}");
    let bearer = "Authorization: Bearer {T}";
    let ours = "Origin: http://127.0.0.1:{P}";
    let token = stage.server.token().to_owned();
    let short: String = token.chars().take(token.len() - 1).collect();
    let rows: Vec<(&str, String, u16)> = vec![
        (
            "W01",
            format!("{socket}\r\nCookie: {cookie}\r\nOrigin: https://evil.example"),
            403,
        ),
        ("W03", format!("{socket}\r\nCookie: {cookie}"), 401),
        (
            "W04",
            format!("{socket}\r\nCookie: {cookie}\r\n{ours}"),
            101,
        ),
        (
            "W05",
            format!("{socket}\r\nCookie: {cookie}\r\nOrigin: http://127.0.0.1:{{P}}.evil.example"),
            403,
        ),
        (
            "W07",
            format!("{socket}\r\nCookie: {cookie}\r\nOrigin: https://127.0.0.1:{{P}}"),
            403,
        ),
        ("a program", format!("{socket}\r\n{bearer}"), 101),
        ("no token", socket.clone(), 401),
        (
            "W09",
            format!("GET /api/projects HTTP/1.1\r\nHost: 127.0.0.1.nip.io:{{P}}\r\n{bearer}"),
            403,
        ),
        (
            "another port",
            format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:1\r\n{bearer}"),
            403,
        ),
        (
            "a page elsewhere",
            "GET / HTTP/1.1\r\nHost: evil.example".to_owned(),
            403,
        ),
        (
            "W11",
            format!("{get}\r\nHost: 127.0.0.1:{{P}}\r\n{bearer}"),
            400,
        ),
        (
            "W11 absolute",
            format!(
                "GET http://evil.example/api/projects HTTP/1.1\r\nHost: 127.0.0.1:{{P}}\r\n{bearer}"
            ),
            400,
        ),
        (
            "W13",
            format!("{get}\r\nX-Forwarded-For: 127.0.0.1\r\nForwarded: for=127.0.0.1"),
            401,
        ),
        (
            "another site",
            format!("{get}\r\nCookie: {cookie}\r\nSec-Fetch-Site: cross-site"),
            403,
        ),
        ("a cookie", format!("{get}\r\nCookie: {cookie}"), 200),
        ("another cookie", format!("{get}\r\nCookie: {cookie}0"), 401),
        (
            "an empty cookie",
            format!("{get}\r\nCookie: a_society_{{P}}="),
            401,
        ),
        (
            "W19",
            "GET /api/projects?token={T} HTTP/1.1\r\nHost: 127.0.0.1:{P}".to_owned(),
            401,
        ),
        (
            "W19 on the page",
            "GET /?token={T} HTTP/1.1\r\nHost: 127.0.0.1:{P}".to_owned(),
            401,
        ),
        ("W21 empty", format!("{get}\r\nAuthorization: Bearer "), 401),
        (
            "W21 null",
            format!("{get}\r\nAuthorization: Bearer null"),
            401,
        ),
        (
            "W21 undefined",
            format!("{get}\r\nAuthorization: Bearer undefined"),
            401,
        ),
        (
            "W21 short",
            format!("{get}\r\nAuthorization: Bearer {short}"),
            401,
        ),
        (
            "W21 long",
            format!("{get}\r\nAuthorization: Bearer {token}0"),
            401,
        ),
        (
            "W21 case",
            format!("{get}\r\nAuthorization: Bearer {}", token.to_uppercase()),
            401,
        ),
        (
            "W23",
            "GET /?gatewayUrl=ws://evil:1/ HTTP/1.1\r\nHost: 127.0.0.1:{P}".to_owned(),
            200,
        ),
        (
            "W25",
            "GET /assets/..%2f..%2f.a-society%2fserver.json HTTP/1.1\r\nHost: 127.0.0.1:{P}"
                .to_owned(),
            404,
        ),
        (
            "W25 plain",
            "GET /assets/../../.a-society/server.json HTTP/1.1\r\nHost: 127.0.0.1:{P}".to_owned(),
            404,
        ),
        (
            "health",
            "GET /api/health HTTP/1.1\r\nHost: localhost:{P}".to_owned(),
            200,
        ),
    ];
    for (name, head, wanted) in rows {
        assert_eq!(stage.status(&head, ""), wanted, "{name}");
    }
}

#[test]
fn forms_and_unfit_bodies_are_refused() {
    let stage = Stage::new(8);
    let post = "POST /api/flows HTTP/1.1\r\nHost: 127.0.0.1:{P}\r\nAuthorization: Bearer {T}";
    let json = format!("{post}\r\nContent-Type: application/json");
    let rows = [
        (
            "W15 form",
            format!("{post}\r\nContent-Type: application/x-www-form-urlencoded"),
            "a=b",
            415,
        ),
        (
            "W15 multipart",
            format!("{post}\r\nContent-Type: multipart/form-data"),
            "a",
            415,
        ),
        ("W15 nothing", post.to_owned(), "{}", 415),
        (
            "W33",
            json.clone(),
            r#"{"from":{"file":"a"},"from":{"file":"b"}}"#,
            400,
        ),
        (
            "unknown key",
            json.clone(),
            r#"{"from":{"file":"a"},"more":1}"#,
            400,
        ),
        (
            "refused by the workspace",
            json.clone(),
            r#"{"from":{"file":"a"}}"#,
            400,
        ),
        (
            "a page of another site",
            format!("{json}\r\nOrigin: http://evil.example"),
            "{}",
            403,
        ),
        (
            "a wrong token",
            "POST /api/session HTTP/1.1\r\nHost: 127.0.0.1:{P}\r\nContent-Type: application/json"
                .to_owned(),
            r#"{"token":"undefined"}"#,
            401,
        ),
    ];
    for (name, head, body, wanted) in rows {
        assert_eq!(stage.status(&head, body), wanted, "{name}");
    }
}

#[test]
fn every_answer_says_what_a_browser_may_do_with_it_and_none_lets_others_in() {
    let stage = Stage::new(8);
    let nothing = "content-security-policy: default-src 'none'; frame-ancestors 'none'\r\n";
    let page = "require-trusted-types-for 'script'";
    // A script and a style are under the policy of the page that asked for them; a worker brings its own.
    for (path, policy) in [
        ("/", page),
        ("/inbox", page),
        ("/api/health", nothing),
        ("/api/projects", nothing),
        ("/assets/none.js", nothing),
        ("/favicon.svg", nothing),
        ("/assets/layout.worker.js", page),
        ("/assets/first.js", ""),
        ("/assets/first.css", ""),
    ] {
        for (origin, policy) in [("", policy), ("Origin: http://evil.example\r\n", nothing)] {
            let request = format!(
                "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{origin}Connection: close\r\n\r\n",
                stage.port()
            );
            let answer = stage.ask(&request).to_lowercase();
            let (head, _) = answer.split_once("\r\n\r\n").unwrap();
            let head = format!("{head}\r\n");
            assert!(head.contains(policy), "{path} {head}");
            assert!(
                policy.is_empty() || head.contains("frame-ancestors 'none'"),
                "{path} {head}"
            );
            assert!(
                head.contains("nosniff") && head.contains("resource-policy: same-origin"),
                "{path} {head}"
            );
            assert!(!head.contains("access-control-allow-origin"), "{path}");
        }
    }
}

const FLOW: &str = "20260527T143000123Z-a1b2c3";

/// A client that folds a feed, as a page does.
#[derive(Debug, Default)]
struct Follows {
    seq: Option<u64>,
    epoch: Option<String>,
    items: Vec<(String, Value)>,
    snaps: usize,
}

type Socket = WebSocket<TcpStream>;

fn connect(server: &Server) -> Socket {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let request = format!(
        "GET /api/socket HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n{UPGRADE}\r\n\r\n",
        server.address().port(),
        server.token()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        assert_eq!(
            stream.read(&mut byte).unwrap(),
            1,
            "{}",
            String::from_utf8_lossy(&head)
        );
        head.push(byte[0]);
    }
    assert_eq!(status_of(&String::from_utf8_lossy(&head)), 101);
    WebSocket::from_raw_socket(stream, Role::Client, None)
}

fn say(socket: &mut Socket, message: &Value) {
    socket.send(Message::text(message.to_string())).unwrap();
}

fn hear(socket: &mut Socket) -> Value {
    loop {
        match socket.read().unwrap() {
            Message::Text(text) => return serde_json::from_str(&text).unwrap(),
            Message::Close(frame) => {
                return json!({ "t": "close", "code": frame.map(|it| u16::from(it.code)) });
            }
            Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
        }
    }
}

#[test]
fn what_is_not_the_protocol_ends_the_socket_with_a_reason() {
    let stage = Stage::new(8);
    let rows = [
        (
            "W29",
            Message::text(format!("\"{}\"", "a".repeat(16 << 20))),
            1009,
        ),
        (
            "W33",
            Message::text(r#"{"t":"ping","t":"live","n":1}"#),
            1002,
        ),
        ("not JSON", Message::text("hello"), 1002),
        ("binary", Message::binary(vec![1, 2, 3]), 1003),
    ];
    for (name, message, code) in rows {
        let mut socket = connect(&stage.server);
        assert_eq!(hear(&mut socket)["t"], "hello");
        socket.send(message).unwrap();
        assert_eq!(hear(&mut socket)["code"], code, "{name}");
    }
    // W31: a text frame that is not text, which no client library sends.
    let mut socket = connect(&stage.server);
    hear(&mut socket);
    socket
        .get_mut()
        .write_all(&[0x81, 0x82, 0, 0, 0, 0, 0xff, 0xfe])
        .unwrap();
    assert_eq!(hear(&mut socket)["code"], 1007);
    // W41: ten thousand pings a second.
    let mut socket = connect(&stage.server);
    hear(&mut socket);
    for n in 0..1_000 {
        // It ends somewhere on the way.
        let sent = socket.send(Message::text(json!({ "t": "ping", "n": n }).to_string()));
        if sent.is_err() {
            break;
        }
    }
    let last = std::iter::from_fn(|| Some(hear(&mut socket))).find(|it| it["t"] != "pong");
    assert_eq!(last.unwrap()["code"], 1008);
}

#[test]
fn one_socket_too_many_is_told_so() {
    let stage = Stage::new(2);
    let mut kept = [connect(&stage.server), connect(&stage.server)];
    let socket = format!(
        "GET /api/socket HTTP/1.1\r\nHost: 127.0.0.1:{{P}}\r\nAuthorization: Bearer {{T}}\r\n{UPGRADE}"
    );
    assert_eq!(stage.status(&socket, ""), 503);
    for socket in &mut kept {
        assert_eq!(hear(socket)["t"], "hello");
    }
}

/// The lines of a long journal.
fn lines(turns: usize) -> Vec<Vec<u8>> {
    written(long(turns, 7))
}

/// Facts as the lines of a journal.
fn written(facts: impl IntoIterator<Item = Fact>) -> Vec<Vec<u8>> {
    let mut prev = 0;
    let written = recorded(facts).map(|record| {
        let mut out = Vec::new();
        let fact = record.fact().unwrap();
        prev = line::write(&mut out, record.seq, record.at, 0, prev, fact).unwrap();
        out
    });
    written.collect()
}

fn append(path: &PathBuf, lines: &[Vec<u8>]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .unwrap();
    file.write_all(&lines.concat()).unwrap();
}

impl Follows {
    /// Follows until a record, or breaks off after so many messages. Says whether it is there.
    fn until(&mut self, server: &Server, role: &str, head: u64, most: usize) -> bool {
        let mut socket = connect(server);
        let topic =
            json!({ "topic": "feed", "flow": { "project": "demo", "flow": FLOW }, "role": role });
        say(
            &mut socket,
            &json!({ "t": "sub", "id": 1, "topic": topic, "since": self.seq, "epoch": self.epoch, "window": 1_000 }),
        );
        for _ in 0..most {
            let message = hear(&mut socket);
            self.hear(&message);
            if message["t"] != "hello" && self.seq >= Some(head) {
                drop(socket.get_mut().shutdown(Shutdown::Both));
                return true;
            }
        }
        drop(socket.get_mut().shutdown(Shutdown::Both));
        false
    }

    fn hear(&mut self, message: &Value) {
        match message["t"].as_str().unwrap() {
            "snap" => {
                self.snaps += 1;
                self.items.clear();
                self.take(&message["state"]["items"]);
                self.seq = message["seq"].as_u64();
                self.epoch = message["epoch"].as_str().map(str::to_owned);
            }
            "ev" => {
                assert_eq!(message["from"].as_u64(), self.seq, "a hole: {message}");
                self.seq = message["to"].as_u64();
                self.take(&message["put"]);
            }
            "hello" | "caught_up" | "delta" => {}
            other => panic!("{other}"),
        }
    }

    fn take(&mut self, items: &Value) {
        for item in items.as_array().unwrap() {
            let id = item["id"].as_str().unwrap();
            match self.items.iter_mut().find(|(known, _)| known == id) {
                Some((_, known)) => *known = item.clone(),
                None => self.items.push((id.to_owned(), item.clone())),
            }
        }
    }
}

#[test]
fn nothing_is_lost_or_doubled_however_often_one_breaks_off_and_the_server_is_killed() {
    let full = std::env::var_os("A_SOCIETY_TEST_FULL").is_some();
    let rounds = if full { 1_000 } else { 60 };
    let mut stage = Stage::new(64);
    let all = lines(150);
    append(&stage.journal(), &all[..20]);
    let role = "owner";
    let mut client = Follows::default();
    client.until(&stage.server, role, 20, 100);
    let snaps = client.snaps;
    let mut written = 20;
    for round in 0..rounds {
        let upto = (written + all.len() / rounds + 1).min(all.len());
        append(&stage.journal(), &all[written..upto]);
        written = upto;
        // It breaks off after a few messages, wherever it then is.
        client.until(&stage.server, role, u64::MAX, 1 + round % 3);
        if round % 20 == 19 {
            // The server goes in the middle, and another one comes.
            stage.server = serve(&stage.folder, 64);
        }
    }
    append(&stage.journal(), &all[written..]);
    let head = all.len() as u64;
    for _ in 0..100 {
        if client.until(&stage.server, role, head, 1_000) {
            break;
        }
    }
    let mut fresh = Follows::default();
    fresh.until(&stage.server, role, head, 1_000);
    assert_eq!(client.seq, Some(head));
    // A newcomer gets the newest items only.
    let older = client.items.len() - fresh.items.len();
    assert_eq!(client.items[older..], fresh.items);
    assert_eq!(client.snaps, snaps, "a cursor was good all the time");
    let ids: std::collections::BTreeSet<&String> = client.items.iter().map(|(id, _)| id).collect();
    assert_eq!(ids.len(), client.items.len());
}
