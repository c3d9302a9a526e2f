//! The models of these figures: the stand-in for providers, which answers at once and counts its own time.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use a_society_stand_in::measured::{Measured, kept_end, kept_head, kept_part};
use a_society_stand_in::{Act, Ending, Piece, Source, Used, Wire, strict};
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
        let spent = Arc::new(Mutex::new(Spent::default()));
        let counted = Arc::clone(&spent);
        let server = Measured::start(
            move |body| answer(manner, body),
            move |exchange| {
                let mut spent = counted.lock().unwrap();
                spent.requests += 1;
                spent.answering += exchange.answering;
                spent.hearing += exchange.hearing;
                spent.bytes += exchange.bytes as u64;
                spent.longest = spent.longest.max(exchange.bytes);
            },
        );
        Self {
            url: server.url,
            spent,
        }
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

fn answer(manner: Manner, body: &[u8]) -> Vec<Act> {
    // The present packet is at the end of the body.
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
    match manner {
        Manner::Writes { deltas, bytes } | Manner::Reads { deltas, bytes } => {
            let text = words(bytes);
            let mut texts = vec![text.as_str(); deltas];
            if is_second {
                texts.push(&handoff);
                return said(&texts, None, deltas);
            }
            let (name, input) = match manner {
                Manner::Reads { .. } => ("read_file", json!({ "path": "big.txt" })),
                Manner::Writes { .. } | Manner::Streams { .. } => {
                    let text = words(1024);
                    let input = json!({ "path": written(node), "content": text });
                    ("write_file", input)
                }
            };
            said(&texts, Some((name, input)), deltas)
        }
        Manner::Streams { per_second, time } => {
            let mut acts = said(&[&handoff], None, 0);
            if is_stream {
                // After the head and the beginning of the answer.
                acts.insert(2, pace(per_second, time));
            }
            acts
        }
    }
}

/// An answer: its beginning, so many of its texts one by one, and the rest at once.
fn said(texts: &[&str], call: Option<(&str, Value)>, one_by_one: usize) -> Vec<Act> {
    let deltas = texts
        .iter()
        .map(|text| json!({ "type": "text_delta", "text": text }));
    let block = json!({ "type": "text", "text": "" });
    let mut pieces = vec![Piece::Block(block, deltas.collect())];
    pieces.extend(call.map(|(name, input)| Piece::Call {
        id: "toolu_1".to_owned(),
        name: name.to_owned(),
        arguments: input.to_string(),
    }));
    let used = Used {
        fresh: 100,
        ..Used::default()
    };
    let events = strict::say(Wire::Anthropic, "m", &pieces, Ending::Natural, used);
    let events: Vec<&str> = events.split_inclusive("\n\n").collect();
    let first = events.iter().position(|event| event.contains("text_delta"));
    let (begins, rest) = events.split_at(first.unwrap_or_default());
    let (single, rest) = rest.split_at(one_by_one);
    let part = |events: &[&str]| Act::Send(kept_part(&events.concat()));
    let mut acts = vec![kept_head(), part(begins)];
    acts.extend(single.iter().map(|event| part(&[event])));
    acts.extend([part(rest), kept_end()]);
    acts
}

/// The file that a node writes; it is new, so that no role has to read it first.
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
fn pace(per_second: u64, time: Duration) -> Act {
    let delta = json!({ "type": "content_block_delta", "index": 0,
        "delta": { "type": "text_delta", "text": " word" } });
    let word = strict::anthropic::event(&delta);
    let (started, said) = (Instant::now(), AtomicU64::new(0));
    let pause = 1_000_000 / per_second.max(1);
    let source = Source::new(move || {
        let passed = started.elapsed();
        let due = u64::try_from(passed.as_micros()).unwrap_or(0) * per_second / 1_000_000;
        let new = due - said.swap(due, Ordering::Relaxed).min(due);
        let words = word.repeat(usize::try_from(new).unwrap());
        let part = if words.is_empty() {
            Vec::new()
        } else {
            kept_part(&words)
        };
        (passed < time).then_some(part)
    });
    Act::Pour(Duration::from_micros(pause.max(2_000)), source)
}

/// So many bytes of text.
pub(crate) fn words(bytes: usize) -> String {
    const WORDS: &str = "The harbour was quiet, and nobody had seen the ship come in. ";
    let mut text = WORDS.repeat(bytes / WORDS.len() + 1);
    text.truncate(bytes);
    text
}
