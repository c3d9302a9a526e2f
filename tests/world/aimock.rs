//! A third-party server of models: it speaks all three wires and keeps its requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::installed::package;

/// The server, until the test is over.
pub(super) struct Aimock {
    process: Child,
    /// Host and port.
    address: String,
    _fixtures: tempfile::NamedTempFile,
}

impl Drop for Aimock {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// One answer: what a request has to look like, and the response. The first match counts.
pub(super) fn when(fits: Value, says: Value) -> Value {
    json!({ "match": fits, "response": says })
}

/// An answer of one call, after some words.
pub(super) fn calls(tool: &str, arguments: &Value) -> Value {
    let call = json!({ "name": tool, "arguments": arguments.to_string() });
    json!({ "content": format!("I call {tool} now."), "toolCalls": [call] })
}

impl Aimock {
    /// Starts it, if it is installed. What none of the answers fits is refused.
    pub(super) fn start(answers: &[Value]) -> Option<Self> {
        let program = package("@copilotkit/aimock")?.join("dist/cli.js");
        let fixtures = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
        let text = json!({ "fixtures": answers }).to_string();
        std::fs::write(fixtures.path(), text).unwrap();
        let mut process = Command::new("node")
            .arg(program)
            // What nothing fits is not found, which is not retried.
            .args(["--port", "0", "--chunk-size", "7", "--fixtures"])
            .arg(fixtures.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let said = process.stdout.take().unwrap();
        let mut lines = BufReader::new(said).lines().map_while(Result::ok);
        let address = lines.find_map(|line| line.split("http://").nth(1).map(ToOwned::to_owned));
        // What it says later is read, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Self {
            process,
            address: address.expect("it says where it listens").trim().to_owned(),
            _fixtures: fixtures,
        })
    }

    /// Where it is asked.
    pub(super) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// What it was asked so far, in its own words: path, body, status. It reads all wires into one
    /// shape, that of Chat Completions.
    pub(super) fn heard(&self) -> Vec<Value> {
        serde_json::from_str(&self.ask("GET")).unwrap()
    }

    /// Lets it forget what it was asked.
    pub(super) fn forget(&self) {
        self.ask("DELETE");
    }

    fn ask(&self, method: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        // In this version of HTTP the end of the connection is the end of the answer.
        let request = format!(
            "{method} /v1/_requests HTTP/1.0\r\nhost: {}\r\n\r\n",
            self.address
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        body.to_owned()
    }

    /// The same, where every request was answered.
    pub(super) fn answered(&self) -> Vec<Value> {
        let heard = self.heard();
        let answered = |request: &Value| request["response"]["status"] == 200;
        assert!(heard.iter().all(answered), "{:?}", self.results());
        heard
    }

    /// The results of tools in the last request, for what a failing test says.
    pub(super) fn results(&self) -> Vec<String> {
        let heard = self.heard();
        let last = heard.last().map(|request| texts(request, "tool"));
        last.into_iter().flatten().map(ToOwned::to_owned).collect()
    }
}

/// The texts of messages with a role, in order.
pub(super) fn texts<'v>(request: &'v Value, role: &str) -> Vec<&'v str> {
    let messages = request["body"]["messages"].as_array().unwrap();
    let of_role = messages.iter().filter(|message| message["role"] == role);
    of_role
        .filter_map(|message| message["content"].as_str())
        .collect()
}
