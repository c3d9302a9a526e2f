//! Many who watch one role while it streams.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::Client;
use crate::model::{DELTA_BYTES, Model};
use crate::run::{Bench, line};
use crate::served::Served;

const DELTAS: usize = 10_000;
const WATCHERS: usize = 100;

/// How many watch a flow that another process drives: that adds to its lag, and not to what each costs.
const WATCHERS_BESIDE: usize = 10;

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

/// The results of some watchers.
struct Seen {
    watched: Vec<Watched>,
    /// How many got every word, in order.
    whole: usize,
    lags_us: Vec<u64>,
}

impl Seen {
    fn of(watched: Vec<Watched>, said: &str) -> Self {
        let whole = watched
            .iter()
            .filter(|it| it.text.starts_with(said) && it.holes == 0);
        let whole = whole.count();
        let mut lags_us: Vec<u64> = watched
            .iter()
            .flat_map(|it| it.lags_us.iter().copied())
            .collect();
        lags_us.sort_unstable();
        Self {
            watched,
            whole,
            lags_us,
        }
    }

    /// The lag within which so many of a hundred came, in milliseconds.
    fn share(&self, percent: usize) -> f64 {
        self.lags_us[(self.lags_us.len() - 1) * percent / 100] as f64 / 1e3
    }

    fn complete(&self) -> String {
        let (whole, all) = (self.whole, self.watched.len());
        format!("{whole} of {all}, {} deltas seen", self.lags_us.len())
    }

    fn lag(&self) -> String {
        let [half, most, last] = [50, 99, 100].map(|percent| self.share(percent));
        format!("{half:.1} ms, {most:.1} ms (the last {last:.1} ms)")
    }
}

/// One who follows the speaker, and has caught up.
fn follower(served: &Served, flow: &Value) -> Client {
    let mut client = Client::new(served);
    client.follow(flow, "owner", None);
    while !client.hear().starts_with("{\"t\":\"caught_up\"") {}
    client
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
                let client = follower(&served, &flow);
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
    let seen = Seen::of(watched, &model.text());
    line(
        &format!(
            "{WATCHERS} watchers of a flow that streams {deltas} deltas, one a millisecond: complete"
        ),
        "every one",
        &seen.complete(),
    );
    line(
        "the same: lag of a delta, half of them and 99 of 100",
        "at most 60 ms",
        &seen.lag(),
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

/// Watchers of a flow that another process drives, of the same model.
pub(crate) fn beside(bench: &Bench) {
    let deltas = bench.either(DELTAS, DELTAS / 5);
    let root = bench.folder("beside");
    let model = Model::start(deltas);
    configure(&root, &model.url);
    let served = Served::start(&root);
    let driver = Driver::start(&root);
    model.until_asked();
    let flow = only_flow(&root);
    let watched = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..WATCHERS_BESIDE)
            .map(|_| {
                let client = follower(&served, &flow);
                let model = &model;
                scope.spawn(move || watch(client, model))
            })
            .collect();
        model.go();
        threads.into_iter().map(|it| it.join().unwrap()).collect()
    });
    drop(driver);
    let seen = Seen::of(watched, &model.text());
    line(
        &format!("{WATCHERS_BESIDE} watchers of such a flow that another process drives: complete"),
        "every one",
        &seen.complete(),
    );
    line(
        "the same: lag of a delta, half of them and 99 of 100",
        "at most 310 ms",
        &seen.lag(),
    );
}

/// Another process that drives the flow.
struct Driver(Child);

impl Driver {
    fn start(root: &Path) -> Self {
        let child = Command::new(env!("CARGO_BIN_EXE_a-society"))
            .args(["run", "flow.yaml", "--until-waiting"])
            .current_dir(root)
            .env("A_SOCIETY_CONFIG", root.join("config.yaml"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Self(child.unwrap())
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// The address of the one flow that a workspace has.
fn only_flow(root: &Path) -> Value {
    let only = |folder: &Path| {
        let mut entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
        entries.find(|it| it.path().is_dir()).unwrap().path()
    };
    let project = only(&root.join(".a-society/state"));
    let flow = only(&project);
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    json!({ "project": name(&project), "flow": name(&flow) })
}

pub(crate) fn configure(root: &Path, url: &str) {
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
