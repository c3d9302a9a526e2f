//! The model: a server that streams at an even pace, and remembers when it said what.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How many bytes a delta has.
pub(crate) const DELTA_BYTES: usize = 8;

/// How long the model thinks between its last word and what it hands over, so that the words come by
/// the stream and not with the end of it.
const BREATH: Duration = Duration::from_millis(500);

/// A model that says a number of words when it is let.
pub(crate) struct Model {
    pub(crate) url: String,
    shared: Arc<Shared>,
}

struct Shared {
    began: Instant,
    /// When each delta was sent, in microseconds since the beginning.
    sent_us: Vec<AtomicU64>,
    /// Whether it was asked, and whether it may begin.
    stage: Mutex<(bool, bool)>,
    changed: Condvar,
}

/// The word with a number.
fn word(number: usize) -> String {
    format!("w{number:06} ")
}

impl Model {
    pub(crate) fn start(deltas: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared {
            began: Instant::now(),
            sent_us: (0..deltas).map(|_| AtomicU64::new(0)).collect(),
            stage: Mutex::default(),
            changed: Condvar::new(),
        });
        let of_server = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&of_server);
                std::thread::spawn(move || serve(&stream, &shared));
            }
        });
        Self { url, shared }
    }

    /// Waits until it is asked.
    pub(crate) fn until_asked(&self) {
        let stage = self.shared.stage.lock().unwrap();
        let asked = self.shared.changed.wait_while(stage, |stage| !stage.0);
        drop(asked.unwrap());
    }

    /// Lets it speak.
    pub(crate) fn go(&self) {
        self.shared.stage.lock().unwrap().1 = true;
        self.shared.changed.notify_all();
    }

    /// All it says in words.
    pub(crate) fn text(&self) -> String {
        (0..self.shared.sent_us.len()).map(word).collect()
    }

    /// How many words it says.
    pub(crate) fn deltas(&self) -> usize {
        self.shared.sent_us.len()
    }

    /// What time it is by its clock.
    pub(crate) fn now_us(&self) -> u64 {
        u64::try_from(self.shared.began.elapsed().as_micros()).unwrap()
    }

    /// When it said a word.
    pub(crate) fn sent_us(&self, number: usize) -> u64 {
        self.shared.sent_us[number].load(Ordering::Acquire)
    }
}

fn serve(stream: &TcpStream, shared: &Shared) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut reader = BufReader::new(stream);
    loop {
        let (mut length, mut line) = (0, String::new());
        loop {
            line.clear();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let head = line.trim().to_ascii_lowercase();
            if let Some(value) = head.strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
            if head.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        speak(stream, shared)?;
    }
}

fn speak(mut stream: &TcpStream, shared: &Shared) -> Option<()> {
    const HEAD: &str =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(HEAD.as_bytes()).ok()?;
    send(stream, &begins())?;
    let mut stage = shared.stage.lock().unwrap();
    stage.0 = true;
    shared.changed.notify_all();
    drop(shared.changed.wait_while(stage, |stage| !stage.1).unwrap());
    let started = Instant::now();
    for (number, sent) in shared.sent_us.iter().enumerate() {
        let due = Duration::from_millis(number as u64);
        std::thread::sleep(due.saturating_sub(started.elapsed()));
        let now = u64::try_from(shared.began.elapsed().as_micros()).unwrap();
        sent.store(now, Ordering::Release);
        send(stream, &delta(&word(number)))?;
    }
    std::thread::sleep(BREATH);
    let handoff = "\n\n```handoff\ntype: forward-pass-closed\n```";
    send(stream, &[delta(handoff), ends()].concat())?;
    stream.write_all(b"0\r\n\r\n").ok()
}

fn send(mut stream: &TcpStream, events: &str) -> Option<()> {
    let chunk = format!("{:x}\r\n{events}\r\n", events.len());
    stream.write_all(chunk.as_bytes()).ok()
}

fn event(event: &Value) -> String {
    let kind = event["type"].as_str().unwrap();
    format!("event: {kind}\ndata: {event}\n\n")
}

fn begins() -> String {
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
        "usage": { "input_tokens": 100, "output_tokens": 1 }
    });
    let block = json!({ "type": "text", "text": "" });
    [
        json!({ "type": "message_start", "message": message }),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
    ]
    .iter()
    .map(event)
    .collect()
}

fn delta(text: &str) -> String {
    let delta = json!({ "type": "text_delta", "text": text });
    event(&json!({ "type": "content_block_delta", "index": 0, "delta": delta }))
}

fn ends() -> String {
    let delta = json!({ "stop_reason": "end_turn" });
    [
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": delta, "usage": { "output_tokens": 20 } }),
        json!({ "type": "message_stop" }),
    ]
    .iter()
    .map(event)
    .collect()
}
