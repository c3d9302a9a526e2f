//! The model: the stand-in for providers, streaming at an even pace, and remembering when it sent what.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::{Duration, Instant};

use a_society_stand_in::{
    Act, Deed, Ending, Piece, Reply, Server, Used, Wire, stream_head, strict,
};
use serde_json::json;

/// How many bytes a delta has.
pub(crate) const DELTA_BYTES: usize = 8;

/// How long the model thinks between its last word and what it hands over, so that the words come by
/// the stream and not with the end of it.
const BREATH: Duration = Duration::from_millis(500);

/// What it says when it is done.
const HANDOFF: &str = "\n\n```handoff\ntype: forward-pass-closed\n```";

/// A model that says a number of words when it is let.
pub(crate) struct Model {
    pub(crate) url: String,
    _server: Server,
    shared: Arc<Shared>,
}

struct Shared {
    began: Instant,
    /// When it began to speak.
    spoke: OnceLock<Instant>,
    /// When each delta was sent, in microseconds since the beginning.
    sent_us: Vec<AtomicU64>,
    /// The time from one delta to the next.
    pace: Duration,
    /// The text of a delta.
    word: fn(usize) -> String,
    /// Whether it was asked, and whether it may begin.
    stage: Mutex<(bool, bool)>,
    changed: Condvar,
}

/// The word with a number.
fn word(number: usize) -> String {
    format!("w{number:06} ")
}

impl Model {
    /// A model that says a word each millisecond.
    pub(crate) fn start(deltas: usize) -> Self {
        Self::paced(deltas, Duration::from_millis(1), word)
    }

    pub(crate) fn paced(deltas: usize, pace: Duration, word: fn(usize) -> String) -> Self {
        let shared = Arc::new(Shared {
            began: Instant::now(),
            spoke: OnceLock::new(),
            sent_us: (0..deltas).map(|_| AtomicU64::new(0)).collect(),
            pace,
            word,
            stage: Mutex::default(),
            changed: Condvar::new(),
        });
        let speaker = Arc::clone(&shared);
        let server = Server::by(move |_, _| Reply::Do(speech(&speaker)));
        Self {
            url: server.url(),
            _server: server,
            shared,
        }
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
        (0..self.shared.sent_us.len())
            .map(self.shared.word)
            .collect()
    }

    /// How many words it says.
    pub(crate) fn deltas(&self) -> usize {
        self.shared.sent_us.len()
    }

    /// What time it is by its clock.
    pub(crate) fn now_us(&self) -> u64 {
        self.shared.now_us()
    }

    /// When it sent a word.
    pub(crate) fn sent_us(&self, number: usize) -> u64 {
        self.shared.sent_us[number].load(Ordering::Acquire)
    }
}

impl Shared {
    fn now_us(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap()
    }

    /// It was asked, and waits until it may speak.
    fn wait(&self) {
        let mut stage = self.stage.lock().unwrap();
        stage.0 = true;
        self.changed.notify_all();
        drop(self.changed.wait_while(stage, |stage| !stage.1).unwrap());
        self.spoke.get_or_init(Instant::now);
    }

    /// Waits until a word is due, and remembers when that was.
    fn stamp(&self, number: usize) {
        let due = self.pace * u32::try_from(number).unwrap();
        let spoke = self.spoke.get_or_init(Instant::now);
        std::thread::sleep(due.saturating_sub(spoke.elapsed()));
        self.sent_us[number].store(self.now_us(), Ordering::Release);
    }
}

/// What the server does about a request: word for word, each when it is due.
fn speech(shared: &Arc<Shared>) -> Vec<Act> {
    let words = shared.sent_us.len();
    let texts = (0..words).map(shared.word).chain([HANDOFF.to_owned()]);
    let deltas = texts.map(|text| json!({ "type": "text_delta", "text": text }));
    let block = json!({ "type": "text", "text": "" });
    let said = [Piece::Block(block, deltas.collect())];
    let used = Used {
        fresh: 100,
        ..Used::default()
    };
    let events = strict::say(Wire::Anthropic, "m", &said, Ending::Natural, used);
    let mut acts = vec![stream_head()];
    let mut number = 0;
    for event in events.split_inclusive("\n\n") {
        if event.contains("text_delta") {
            let shared = Arc::clone(shared);
            if number == 0 {
                let shared = Arc::clone(&shared);
                acts.push(Act::Let(Deed::new(move || shared.wait())));
            }
            if number < words {
                acts.push(Act::Let(Deed::new(move || shared.stamp(number))));
            } else {
                acts.push(Act::Wait(BREATH));
            }
            number += 1;
        }
        acts.push(Act::Send(event.into()));
    }
    acts
}
