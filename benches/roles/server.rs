//! A server of models that answers at once, and counts its own time.
//!
//! It is not the stand-in of the tests, because the figures are those of the program without its server. The
//! stand-in reads every request as JSON, checks it by the rules of its wire and keeps it, which takes the longer
//! the larger a session is, and it closes the connection after each answer, so that every request would also
//! be measured with a new one. Here a request is read as bytes, and its connection is kept, as a provider keeps it.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// What a server says.
#[derive(Clone, Copy)]
pub(crate) enum Manner {
    /// At each node a call of `write_file` and then a handoff, in so many deltas each.
    Writes {
        /// Pieces of an answer.
        deltas: usize,
        /// Bytes of a piece.
        bytes: usize,
    },
    /// The same, but a large file is read.
    Reads {
        /// Pieces of an answer.
        deltas: usize,
        /// Bytes of a piece.
        bytes: usize,
    },
    /// Words at an even pace, and then a handoff.
    Streams {
        /// Words a second, of each stream.
        per_second: u64,
        /// For how long.
        time: Duration,
    },
}

/// What was done since it was last asked.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Spent {
    /// Requests.
    pub(crate) requests: u32,
    /// From the last byte of each request to the last byte of its answer.
    pub(crate) answering: Duration,
    /// From the first byte of each request to its last.
    pub(crate) hearing: Duration,
    /// Bytes of requests.
    pub(crate) bytes: u64,
    /// Bytes of the longest.
    pub(crate) longest: usize,
}

/// What was answered is counted by then.
const LATEST: Duration = Duration::from_secs(5);

/// The server. It ends with the process.
pub(crate) struct Server {
    pub(crate) url: String,
    spent: Arc<Mutex<Spent>>,
}

impl Server {
    pub(crate) fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let spent = Arc::new(Mutex::new(Spent::default()));
        let counted = Arc::clone(&spent);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let counted = Arc::clone(&counted);
                // A client that goes away ends its connection.
                std::thread::spawn(move || serve(&stream, manner, &counted));
            }
        });
        Self { url, spent }
    }

    pub(crate) fn take(&self) -> Spent {
        std::mem::take(&mut self.spent.lock().unwrap())
    }

    /// The same, once so many requests were counted. A client may have its last answer before the server
    /// has counted it.
    pub(crate) fn take_all(&self, requests: usize) -> Spent {
        let started = Instant::now();
        while (self.spent.lock().unwrap().requests as usize) < requests {
            assert!(started.elapsed() < LATEST, "requests are missing");
            std::thread::sleep(Duration::from_millis(1));
        }
        self.take()
    }
}

fn serve(stream: &TcpStream, manner: Manner, spent: &Mutex<Spent>) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut reader = BufReader::with_capacity(256 * 1024, stream);
    let (mut line, mut body) = (String::new(), Vec::new());
    loop {
        let mut length = 0;
        let mut begun = None;
        loop {
            line.clear();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            begun.get_or_insert_with(Instant::now);
            let head = line.trim().to_ascii_lowercase();
            if let Some(value) = head.strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
            if head.is_empty() {
                break;
            }
        }
        body.resize(length, 0);
        reader.read_exact(&mut body).ok()?;
        let heard = Instant::now();
        answer(stream, manner, &body)?;
        let mut spent = spent.lock().unwrap();
        spent.requests += 1;
        spent.answering += heard.elapsed();
        spent.hearing += heard - begun?;
        spent.bytes += length as u64;
        spent.longest = spent.longest.max(length);
    }
}

const HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

fn answer(mut stream: &TcpStream, manner: Manner, body: &[u8]) -> Option<()> {
    // What is asked now stands at the end of the body.
    let tail = String::from_utf8_lossy(&body[body.len().saturating_sub(256 * 1024)..]);
    let told = tail.rfind("Write to n");
    let node: usize = told
        .and_then(|at| tail[at + 10..].split('.').next())
        .and_then(|digits| digits.parse().ok())
        .unwrap_or_default();
    let results = tail.rfind("\"type\":\"tool_result\"");
    let is_second = results > told;
    let is_last = told.is_some_and(|at| tail[at..].starts_with(&format!("Write to n{node}. End.")));
    let is_stream =
        told.is_some_and(|at| tail[at..].starts_with(&format!("Write to n{node}. Stream.")));
    let handoff = if tail.rfind("Hand to all ") > told {
        to_all(&tail)
    } else if is_last {
        "\n\n```handoff\ntype: forward-pass-closed\n```".to_owned()
    } else {
        let next = if is_stream {
            "end".to_owned()
        } else {
            format!("n{}", node + 1)
        };
        let artifact = match manner {
            Manner::Writes { .. } => written(node),
            Manner::Reads { .. } | Manner::Streams { .. } => format!("n{node}.md"),
        };
        format!("\n\n```handoff\ntarget_node_id: {next}\nartifact_path: {artifact}\n```")
    };
    stream.write_all(HEAD.as_bytes()).ok()?;
    send(stream, &begins())?;
    match manner {
        Manner::Writes { deltas, bytes } | Manner::Reads { deltas, bytes } => {
            for _ in 0..deltas {
                send(stream, &delta(&words(bytes)))?;
            }
            if is_second {
                send(
                    stream,
                    &[delta(&handoff), spoken(), ends("end_turn")].concat(),
                )?;
            } else {
                let (name, input) = match manner {
                    Manner::Reads { .. } => ("read_file", json!({ "path": "big.txt" })),
                    Manner::Writes { .. } | Manner::Streams { .. } => {
                        let text = words(1024);
                        (
                            "write_file",
                            json!({ "path": written(node), "content": text }),
                        )
                    }
                };
                send(stream, &[calls(name, &input), ends("tool_use")].concat())?;
            }
        }
        Manner::Streams { per_second, time } => {
            if is_stream {
                pace(stream, per_second, time)?;
            }
            send(
                stream,
                &[delta(&handoff), spoken(), ends("end_turn")].concat(),
            )?;
        }
    }
    stream.write_all(b"0\r\n\r\n").ok()
}

/// The file that a node writes; nobody wrote it before, so that nobody has to read it first.
fn written(node: usize) -> String {
    format!("new{node}.md")
}

/// A handoff to every node that the packet says is owed something.
fn to_all(packet: &str) -> String {
    let count: usize = packet
        .rfind("Hand to all ")
        .and_then(|at| packet[at + 12..].split('.').next())
        .and_then(|digits| digits.parse().ok())
        .unwrap_or_default();
    let mut text = String::from("\n\n```handoff\n");
    for node in 2..count + 2 {
        writeln!(text, "- target_node_id: n{node}\n  artifact_path: a.md").unwrap();
    }
    text + "```"
}

/// Words at an even pace; several at once where they would come faster than a machine sleeps.
fn pace(stream: &TcpStream, per_second: u64, time: Duration) -> Option<()> {
    let started = Instant::now();
    let mut said = 0;
    while started.elapsed() < time {
        let due =
            u64::try_from(started.elapsed().as_micros()).unwrap_or(0) * per_second / 1_000_000;
        let mut text = String::new();
        for _ in said..due {
            text.push_str(&delta(" word"));
        }
        said = due;
        if !text.is_empty() {
            send(stream, &text)?;
        }
        let pause = 1_000_000 / per_second.max(1);
        std::thread::sleep(Duration::from_micros(pause.max(2_000)));
    }
    Some(())
}

fn send(mut stream: &TcpStream, events: &str) -> Option<()> {
    let chunk = format!("{:x}\r\n{events}\r\n", events.len());
    stream.write_all(chunk.as_bytes()).ok()
}

fn event(event: &Value) -> String {
    format!(
        "event: {}\ndata: {event}\n\n",
        event["type"].as_str().unwrap()
    )
}

fn begins() -> String {
    event(&json!({ "type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
        "usage": { "input_tokens": 100, "output_tokens": 1 } } }))
        + &event(&json!({ "type": "content_block_start", "index": 0,
            "content_block": { "type": "text", "text": "" } }))
}

fn delta(text: &str) -> String {
    event(&json!({ "type": "content_block_delta", "index": 0,
        "delta": { "type": "text_delta", "text": text } }))
}

/// The words of the answer are over.
fn spoken() -> String {
    event(&json!({ "type": "content_block_stop", "index": 0 }))
}

fn calls(name: &str, input: &Value) -> String {
    [
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "content_block_start", "index": 1,
            "content_block": { "type": "tool_use", "id": "toolu_1", "name": name, "input": {} } }),
        json!({ "type": "content_block_delta", "index": 1,
            "delta": { "type": "input_json_delta", "partial_json": input.to_string() } }),
        json!({ "type": "content_block_stop", "index": 1 }),
    ]
    .iter()
    .map(event)
    .collect()
}

fn ends(stop: &str) -> String {
    event(
        &json!({ "type": "message_delta", "delta": { "stop_reason": stop },
        "usage": { "output_tokens": 20 } }),
    ) + &event(&json!({ "type": "message_stop" }))
}

/// So many bytes of text.
pub(crate) fn words(bytes: usize) -> String {
    const WORDS: &str = "The harbour was quiet, and nobody had seen the ship come in. ";
    let mut text = WORDS.repeat(bytes / WORDS.len() + 1);
    text.truncate(bytes);
    text
}
