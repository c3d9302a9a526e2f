//! A workspace with a flow file and its script, and the program run on it.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use a_society_facts::Fact;
use a_society_facts::line::{self, Body};
use serde_json::Value;

use crate::support::{Said, Workspace};

/// Runs the flow until it is over or waits, and no role looks back.
pub(super) const RUN: [&str; 5] = [
    "run",
    "demo/flow.yaml",
    "--until-waiting",
    "--improve",
    "none",
];

/// How long anything may take before the test says what it waited for.
pub(super) const LONGEST: Duration = Duration::from_secs(60);

pub(super) const FLOW: &str = r"workflow:
  name: Hello
  nodes:
    - { id: ask, role: owner }
    - { id: write, role: writer }
    - { id: close, role: owner }
  edges:
    - { from: ask, to: write }
    - { from: write, to: close }
roles:
  owner: { executor: scripted }
  writer: { executor: scripted }
";

/// Streams, calls and writes, slowly enough to be interrupted anywhere.
pub(super) const SLOW: &str = r"default: forward
script:
  - node: write
    say:
      - stream: { text: 'I write the notes now, word for word, and then some more.', pieces: 12, every-ms: 8 }
      - call: { tool: read_file, input: { path: a.md }, output: nothing, takes-ms: 20 }
      - write: { path: notes.md, text: 'The notes.' }
      - Here they are.
      - handoff: { to: close, artifact: notes.md }
";

/// Asks the operator once.
pub(super) const ASKING: &str = r"default: forward
script:
  - node: write
    turn: 1
    say: [ 'Which colour?', { signal: prompt-human } ]
  - node: write
    turn: 2
    say:
      - write: { path: notes.md, text: 'Blue notes.' }
      - handoff: { to: close, artifact: notes.md }
";

pub(super) struct Place {
    pub(super) workspace: Workspace,
}

impl Place {
    pub(super) fn new(flow: &str, script: &str) -> Self {
        let workspace = Workspace::new();
        workspace.make_project("demo");
        let place = Self { workspace };
        place.write("demo/flow.yaml", flow);
        place.write("demo/script.yaml", script);
        place
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.workspace.path().join(name), text).unwrap();
    }

    pub(super) fn run(&self, words: &[&str]) -> Said {
        self.workspace.run(words)
    }

    /// Starts the program and does not wait for it.
    pub(super) fn start(&self, words: &[&str]) -> Child {
        let mut command = self.workspace.command(words);
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Runs the flow until it waits for the operator, and gives its id.
    pub(super) fn run_until_it_waits(&self) -> String {
        let said = self.run(&["run", "demo/flow.yaml", "--until-waiting"]);
        assert!((8..=12).contains(&said.code), "{said:?}");
        self.flow().unwrap()
    }

    /// Starts a program that runs the flow to its end, and gives the flow's id once it has begun.
    pub(super) fn begin(&self) -> (Child, String) {
        self.begin_looking_back("none")
    }

    /// The same, with a choice of how roles look back.
    pub(super) fn begin_looking_back(&self, how: &str) -> (Child, String) {
        let run = [
            "run",
            "demo/flow.yaml",
            "--feedback",
            "no",
            "--improve",
            how,
        ];
        let child = self.start(&run);
        wait_until("the flow begins", || self.flow().is_some());
        (child, self.flow().unwrap())
    }

    /// The only flow, once its first fact is there.
    pub(super) fn flow(&self) -> Option<String> {
        let found = std::fs::read_dir(self.workspace.state().join("demo")).ok()?;
        let names = found.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        // A folder without a first fact is what is left of a flow that never was.
        let mut names = names.filter(|name| {
            let said = self.run(&["status", name, "--json"]);
            said.code == 0 && said.json()["seq"].as_u64() > Some(2)
        });
        names.next()
    }

    pub(super) fn folder(&self, flow: &str) -> PathBuf {
        self.workspace.flow_folder(flow)
    }

    /// The journal of a flow, as it is on disk.
    pub(super) fn journal(&self, flow: &str) -> String {
        std::fs::read_to_string(self.segment(flow)).unwrap()
    }

    fn segment(&self, flow: &str) -> PathBuf {
        self.folder(flow).join("journal/00000001.jsonl")
    }

    /// Makes a journal one that another version wrote: its facts changed, every line with its place.
    /// What was folded from it goes.
    pub(super) fn rewrite_journal(&self, flow: &str, change: impl Fn(&mut Fact)) {
        let (mut out, mut before) = (Vec::new(), 0);
        for text in self.journal(flow).lines() {
            let (frame, body) = line::read(&mut text.as_bytes().to_vec()).unwrap();
            let Body::Known(mut fact) = body else {
                panic!("every fact is known: {text}")
            };
            change(&mut fact);
            let line::Frame {
                seq, at, durable, ..
            } = frame;
            before = line::write(&mut out, seq, at, durable, before, &fact).unwrap();
        }
        std::fs::write(self.segment(flow), out).unwrap();
        // A process that was killed may not have written it yet.
        drop(std::fs::remove_file(self.folder(flow).join("flow.json")));
    }

    /// What `status` says of the flow.
    pub(super) fn status(&self, flow: &str) -> Value {
        self.run(&["status", flow, "--json"]).json()
    }

    /// What must be the same however the flow came to its end.
    pub(super) fn outcome(&self, flow: &str) -> Value {
        let bytes = std::fs::read(self.folder(flow).join("flow.json")).unwrap();
        let state: Value = serde_json::from_slice(&bytes).unwrap();
        let log = self.run(&["log", flow, "--json"]).out;
        let applied = log.matches("\"fact\":\"handoff_applied\"").count();
        let notes = std::fs::read_to_string(self.folder(flow).join("record/notes.md"));
        serde_json::json!({
            "status": state["status"],
            "edges": state["completed_edges"],
            "history": state["history"],
            "received": state["received"],
            "handoffs": applied,
            "notes": notes.ok(),
        })
    }
}

/// Waits until something is so.
pub(super) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < LONGEST, "it took too long until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a signal to a process.
pub(super) fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .args(["-s", name, &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
}
