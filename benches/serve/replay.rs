//! Feeds that are played back to clients that come, or come back.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::client::Client;
use crate::feed;
use crate::run::{Bench, line, median, ms};
use crate::served::Served;

const ITEMS: u32 = 50_000;
const AT_ONCE: usize = 20;
const ROUNDS: usize = 5;
const ROLE: &str = "writer";

/// A server of a flow with a long feed.
struct Stage {
    served: Served,
    flow: Value,
    epoch: String,
    head: u64,
    /// How many items the feed has.
    total: u64,
}

impl Stage {
    fn new(root: &Path, items: u32) -> Self {
        let flow = feed::long(root, items);
        let served = Served::start(root);
        let mut stage = Self {
            served,
            flow,
            epoch: String::new(),
            head: 0,
            total: 0,
        };
        let mut client = Client::new(&stage.served);
        client.follow(&stage.flow, ROLE, None);
        let snap: Value = serde_json::from_str(&client.hear()).unwrap();
        stage.epoch = snap["epoch"].as_str().unwrap().to_owned();
        stage.head = snap["seq"].as_u64().unwrap();
        stage.total = snap["state"]["total"].as_u64().unwrap();
        stage
    }

    /// The frames of everything after a record, and how long they took to come.
    fn replay(&self, mut client: Client, since: u64) -> (Duration, Vec<String>) {
        let started = Instant::now();
        client.follow(&self.flow, ROLE, Some((since, &self.epoch)));
        let mut frames = Vec::new();
        loop {
            let frame = client.hear();
            if frame.starts_with("{\"t\":\"caught_up\"") {
                return (started.elapsed(), frames);
            }
            frames.push(frame);
        }
    }

    /// So many clients at once: how long until the last one has everything, and the bytes of one.
    fn at_once(&self, clients: usize) -> (f64, usize) {
        let begins = Barrier::new(clients);
        let mut bytes = 0;
        let took = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..clients)
                .map(|_| {
                    let client = Client::new(&self.served);
                    let begins = &begins;
                    scope.spawn(move || {
                        begins.wait();
                        self.replay(client, 0)
                    })
                })
                .collect();
            let mut longest = Duration::ZERO;
            for thread in threads {
                let (time, frames) = thread.join().unwrap();
                assert_eq!(whole(&frames), self.total);
                bytes = frames.iter().map(String::len).sum();
                longest = longest.max(time);
            }
            longest
        });
        (ms(took), bytes)
    }
}

/// How many items there are in frames, each once, and without a hole between the frames.
fn whole(frames: &[String]) -> u64 {
    let mut ids = BTreeSet::new();
    let mut seq = None;
    for frame in frames {
        let ev: Value = serde_json::from_str(frame).unwrap();
        assert_eq!(ev["t"], "ev");
        assert!(seq.is_none_or(|seq| ev["from"] == seq), "a hole");
        seq = Some(ev["to"].clone());
        for item in ev["put"].as_array().unwrap() {
            let id = item["id"].as_str().unwrap().to_owned();
            assert!(ids.insert(id), "an item came twice");
        }
    }
    ids.len() as u64
}

/// A whole feed to one client and to twenty at once, and to the first one after a start.
pub(crate) fn whole_feed(bench: &Bench) {
    let items = bench.either(ITEMS, ITEMS / 20);
    let root = bench.folder("replay");
    let stage = Stage::new(&root, items);
    let rest = stage.served.memory_mb("VmRSS");
    let (mut one, mut many) = (Vec::new(), Vec::new());
    stage.served.forget_peak();
    let mut bytes = 0;
    for _ in 0..ROUNDS {
        let (time, of_one) = stage.at_once(1);
        one.push(time);
        bytes = of_one;
    }
    let peak_one = stage.served.memory_mb("VmHWM");
    for _ in 0..ROUNDS {
        many.push(stage.at_once(AT_ONCE).0);
    }
    let peak_many = stage.served.memory_mb("VmHWM");
    line(
        &format!(
            "Replay of {items} items ({:.1} MB) to one client",
            bytes as f64 / 1e6
        ),
        "at most 100 ms",
        &format!("{:.0} ms", median(one)),
    );
    line(
        &format!("The same to {AT_ONCE} at once, until the last one has all"),
        "at most 400 ms",
        &format!("{:.0} ms", median(many)),
    );
    line(
        "Memory of the server: with the flow open, at most with one, at most with 20",
        "bounded, not a copy per client",
        &format!("{rest:.0}, {peak_one:.0} and {peak_many:.0} MB"),
    );
    let Stage {
        served,
        flow,
        epoch,
        head,
        total,
    } = stage;
    drop(served);
    let (mut cold, mut peaks) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let stage = Stage {
            served: Served::start(&root),
            flow: flow.clone(),
            epoch: epoch.clone(),
            head,
            total,
        };
        cold.push(stage.at_once(1).0);
        peaks.push(stage.served.memory_mb("VmHWM"));
    }
    line(
        "The same to the first client after a start, for whom the journal is read; memory at most",
        "",
        &format!("{:.0} ms; {:.0} MB", median(cold), median(peaks)),
    );
}

/// What came while a client was away.
pub(crate) fn since(bench: &Bench) {
    let root = bench.folder("reconnect");
    let stage = Stage::new(&root, bench.either(30_000, 3_000));
    for (events, wanted) in [(5_000, "at most 150 ms"), (50_000, "at most 800 ms")] {
        let since = stage.head.saturating_sub(events);
        let took = (0..ROUNDS).map(|_| {
            let (time, frames) = stage.replay(Client::new(&stage.served), since);
            assert!(!frames.is_empty());
            ms(time)
        });
        line(
            &format!("Reconnect after {events} records, until all is there"),
            &format!("{wanted}, painting included"),
            &format!("{:.0} ms", median(took.collect())),
        );
    }
}
