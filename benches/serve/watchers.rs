//! Many who watch one role while it streams.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::Client;
use crate::model::{DELTA_BYTES, Model};
use crate::run::{Bench, line};
use crate::served::Served;

const DELTAS: usize = 10_000;
const WATCHERS: usize = 100;

const FLOW: &str = "\
workflow:
  name: Streams
  nodes:
    - { id: speak, role: owner, work: [ 'Speak.' ] }
  edges: []
roles:
  owner: { instructions: You speak. }
";

/// What one who watched has in the end.
struct Watched {
    text: String,
    lags_us: Vec<u64>,
    /// How often what came did not go on from what was there.
    holes: usize,
}

/// A hundred watchers of a flow that this server drives, of a model at a word a millisecond.
pub(crate) fn hundred(bench: &Bench) {
    let deltas = bench.either(DELTAS, DELTAS / 5);
    let root = bench.folder("watchers");
    let model = Model::start(deltas);
    configure(&root, &model.url);
    let served = Served::start(&root);
    let wanted = json!({ "from": { "file": "flow.yaml" } }).to_string();
    let flow: Value = serde_json::from_str(&served.ask("POST", "/api/flows", &wanted)).unwrap();
    let flow = json!({ "project": flow["project"], "flow": flow["flow"] });
    model.until_asked();
    let (watched, cpu, memory) = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..WATCHERS)
            .map(|_| {
                let mut client = Client::new(&served);
                client.follow(&flow, "owner", None);
                while !client.hear().starts_with("{\"t\":\"caught_up\"") {}
                let model = &model;
                scope.spawn(move || watch(client, model))
            })
            .collect();
        let (mut memory, before) = (vec![served.memory_mb("VmRSS")], served.cpu());
        model.go();
        let pause = Duration::from_millis(deltas as u64 / 4);
        for _ in 0..4 {
            std::thread::sleep(pause);
            memory.push(served.memory_mb("VmRSS"));
        }
        let cpu = (served.cpu() - before).as_secs_f64() / (pause * 4).as_secs_f64();
        let watched: Vec<Watched> = threads.into_iter().map(|it| it.join().unwrap()).collect();
        (watched, cpu, memory)
    });
    let said = model.text();
    let whole = watched
        .iter()
        .filter(|it| it.text.starts_with(&said) && it.holes == 0);
    let whole = whole.count();
    let mut lags: Vec<u64> = watched
        .iter()
        .flat_map(|it| it.lags_us.iter().copied())
        .collect();
    lags.sort_unstable();
    let share = |percent: usize| lags[(lags.len() - 1) * percent / 100] as f64 / 1e3;
    line(
        &format!(
            "{WATCHERS} watchers of a flow that streams {deltas} deltas, one a millisecond: complete"
        ),
        "every one",
        &format!("{whole} of {WATCHERS}, {} deltas seen", lags.len()),
    );
    line(
        "the same: lag of a delta, half of them and 99 of 100",
        "at most 60 ms",
        &format!(
            "{:.1} ms, {:.1} ms (the last {:.1} ms)",
            share(50),
            share(99),
            share(100)
        ),
    );
    line(
        "the same: processors of the server, which drives the flow, too",
        "less than one",
        &format!("{cpu:.2}"),
    );
    let memory: Vec<String> = memory.iter().map(|mb| format!("{mb:.1}")).collect();
    line(
        "the same: memory before, and at four moments",
        "flat",
        &format!("{} MB", memory.join(", ")),
    );
}

fn configure(root: &Path, url: &str) {
    let text = format!(
        "providers:\n  p: {{ wire: anthropic, base-url: '{url}' }}\nmodels:\n  \
         m: {{ provider: p, id: m, window: 1000000000 }}\nmodel: m\n"
    );
    std::fs::write(root.join("config.yaml"), text).unwrap();
    std::fs::write(root.join("flow.yaml"), FLOW).unwrap();
}

/// Follows until the words are whole, and notes when each came.
fn watch(mut client: Client, model: &Model) -> Watched {
    let mut watched = Watched {
        text: String::new(),
        lags_us: Vec::new(),
        holes: 0,
    };
    let mut streams = String::new();
    loop {
        let message: Value = serde_json::from_str(&client.hear()).unwrap();
        let now_us = model.now_us();
        match message["t"].as_str().unwrap() {
            "delta" => {
                let fits = message["item"].as_str() == Some(&streams)
                    && message["offset"].as_u64() == Some(watched.text.len() as u64);
                watched.holes += usize::from(!fits);
                watched.text.push_str(message["text"].as_str().unwrap());
                watched.note(model, now_us);
            }
            "ev" => {
                for item in message["put"].as_array().unwrap() {
                    let mine = item["id"].as_str() == Some(&streams);
                    if item["type"] != "assistant" {
                        continue;
                    }
                    if item["pending"] == true && !mine {
                        item["id"].as_str().unwrap().clone_into(&mut streams);
                        item["text"].as_str().unwrap().clone_into(&mut watched.text);
                        watched.note(model, now_us);
                    } else if item["pending"] == false {
                        return watched;
                    }
                }
            }
            other => panic!("{other}"),
        }
    }
}

impl Watched {
    /// Notes the words that came by now.
    fn note(&mut self, model: &Model, now_us: u64) {
        let words = (self.text.len() / DELTA_BYTES).min(model.deltas());
        for number in self.lags_us.len()..words {
            self.lags_us
                .push(now_us.saturating_sub(model.sent_us(number)));
        }
    }
}
