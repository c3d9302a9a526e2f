//! Providers against a server that this project did not write.
//!
//! It is `@copilotkit/aimock`, which speaks all three wires and which the gate installs in `tests/world`;
//! where it is not, or there is no node, the test says so.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::*;
use crate::{AnswerStop, FaultClass};

/// Its main file.
const PROGRAM: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/world/node_modules/@copilotkit/aimock/dist/cli.js"
);

const FIXTURES: &str = r#"{"fixtures": [
  {"match": {"userMessage": "Look at", "hasToolResult": true},
   "response": {"content": "They say \u6f22\u5b57 \ud83d\ude00."}},
  {"match": {"userMessage": "Look at"},
   "response": {"reasoning": "I should read them.", "content": "I read both.", "toolCalls": [
     {"name": "read_file", "arguments": "{\"path\":\"a.md\"}"},
     {"name": "read_file", "arguments": "{\"path\":\"b.md\"}"}]}},
  {"match": {"userMessage": "Break off"}, "truncateAfterChunks": 9, "latency": 20,
   "response": {"content": "This is a long answer of which not everything will ever arrive."}},
  {"match": {"userMessage": "Too many"}, "response": {"status": 429, "error":
    {"message": "slow down", "type": "rate_limit_error", "code": "rate_limit_exceeded"}}}
]}"#;

/// The server, until the test is over.
struct Aimock {
    process: Child,
    url: String,
}

impl Drop for Aimock {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

fn start(folder: &Path) -> Result<Aimock, String> {
    if !Path::new(PROGRAM).exists() {
        return Err("it is not installed in tests/world".into());
    }
    let fixtures = folder.join("fixtures.json");
    std::fs::write(&fixtures, FIXTURES).map_err(|why| why.to_string())?;
    let mut process = Command::new("node")
        .arg(PROGRAM)
        .args(["--port", "0", "--strict", "--chunk-size", "5", "--fixtures"])
        .arg(fixtures)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|why| format!("node: {why}"))?;
    let said = process.stdout.take().ok_or("no output")?;
    let mut lines = BufReader::new(said).lines().map_while(Result::ok);
    let url = lines.find_map(|line| line.split("listening on ").nth(1).map(ToOwned::to_owned));
    // What it says later is read, so that it never waits for a reader.
    std::thread::spawn(move || lines.for_each(drop));
    match url {
        Some(url) => Ok(Aimock { process, url }),
        None => {
            process.kill().unwrap();
            Err(format!("it ended: {:?}", process.wait()))
        }
    }
}

#[test]
fn a_server_that_somebody_else_wrote_is_understood_on_every_wire() {
    let folder = tempfile::tempdir().unwrap();
    let server = match start(folder.path()) {
        Ok(server) => server,
        Err(why) => {
            // A test that could not run must not look like one that passed.
            writeln!(
                std::io::stderr(),
                "NOT MEASURED: programs that others wrote: aimock: {why}"
            )
            .unwrap();
            return;
        }
    };
    let url = format!("{}/v1", server.url.trim());
    for wire in Wire::ALL {
        let provider = provider_at(wire, &url, Timeouts::default());
        let mut history = vec![user("Look at both files.")];
        let heard = arrivals(&provider, &history);
        let Some(StreamArrival::Answer(answer)) = heard.last() else {
            panic!("{wire}: {heard:?}");
        };
        assert_eq!(
            (answer.text.as_str(), &answer.stop),
            ("I read both.", &AnswerStop::Tools),
            "{wire}"
        );
        assert_eq!(texts(&heard), "I read both.", "{wire}");
        let calls: Vec<_> = answer
            .calls
            .iter()
            .map(|call| (call.name.as_str(), call.input.get()))
            .collect();
        assert_eq!(
            calls,
            [
                ("read_file", r#"{"path":"a.md"}"#),
                ("read_file", r#"{"path":"b.md"}"#)
            ],
            "{wire}"
        );
        assert!(
            answer.calls.iter().all(|call| call.fault.is_none()),
            "{wire}"
        );
        let thought = heard
            .iter()
            .any(|it| matches!(it, StreamArrival::Event(StreamEvent::Reasoning(_))));
        assert!(thought, "{wire}");
        history.push(said(answer, 1));
        history.extend(results(&history[1]));
        let answer = ask(&provider, &history).unwrap_or_else(|why| panic!("{wire}: {why}"));
        assert_eq!(
            (answer.text.as_str(), answer.stop),
            ("They say \u{6f22}\u{5b57} \u{1f600}.", AnswerStop::End),
            "{wire}"
        );
        let broken = ask(&provider, &[user("Break off now.")]).unwrap_err();
        assert_eq!(
            (broken.class, broken.streamed),
            (FaultClass::CutOff, true),
            "{wire}: {broken}"
        );
        let refused = ask(&provider, &[user("Too many of us.")]).unwrap_err();
        assert_eq!(refused.class, FaultClass::RateLimit, "{wire}: {refused}");
        assert!(refused.message.contains("slow down"), "{wire}: {refused}");
        let unknown = ask(&provider, &[user("Nobody expects this.")]).unwrap_err();
        assert!(unknown.is_retryable(), "{wire}: {unknown}");
    }
}
