//! Flows as the figures walk them: a chain, a fan, and the script that takes every turn.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use a_society_facts::Verb;
use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::view::flow::FlowStatus;
use a_society_orchestrator::driver::core::Core;
use a_society_orchestrator::driver::handle::{FlowHandle, Seen};
use a_society_orchestrator::driver::task::drive;
use a_society_orchestrator::mint::SystemMint;
use a_society_orchestrator::project::flow_file::{FlowFile, read_kept};
use a_society_orchestrator::run::{NewFlow, create};
use a_society_state::clock::SystemClock;
use a_society_state::disk::{RealDisk, SharedDisk};
use a_society_state::{Ground, Store, process};

use crate::counted::{CountedDisk, Counts};

/// How much each node hands on.
const ARTIFACT_BYTES: usize = 512;
/// How much each node says besides: with what it hands on about four kilobytes.
pub(crate) const SPOKEN_BYTES: usize = 3500;
/// A flow that has not ended by then never will.
const LONGEST: Duration = Duration::from_secs(300);

/// A chain over four role instances. Neighbours belong to different ones.
pub(crate) fn chain(count: usize) -> String {
    let roles = ["owner", "writer", "editor", "writer_2"];
    let mut text = String::from("workflow:\n  name: A chain\n  nodes:\n");
    for place in 0..count {
        let last = place + 1 == count;
        let role = if last { "owner" } else { roles[place % 4] };
        writeln!(text, "    - {{ id: n{place}, role: {role} }}").unwrap();
    }
    text.push_str("  edges:\n");
    for place in 1..count {
        writeln!(text, "    - {{ from: n{}, to: n{place} }}", place - 1).unwrap();
    }
    text.push_str(ROLES);
    text
}

/// One node, so many beside one another, each with a role instance of its own, and one again.
pub(crate) fn fan(count: usize) -> String {
    let mut text = String::from("workflow:\n  name: A fan\n  nodes:\n");
    text.push_str("    - { id: begin, role: owner }\n");
    for place in 2..count + 2 {
        writeln!(text, "    - {{ id: n{place}, role: writer_{place} }}").unwrap();
    }
    text.push_str("    - { id: end, role: owner, await-all-inputs: true }\n  edges:\n");
    for place in 2..count + 2 {
        writeln!(text, "    - {{ from: begin, to: n{place} }}").unwrap();
        writeln!(text, "    - {{ from: n{place}, to: end }}").unwrap();
    }
    text.push_str(ROLES);
    text
}

const ROLES: &str = "roles:
  owner: { executor: scripted }
  writer: { executor: scripted }
  editor: { executor: scripted }
";

/// Each turn asks twice and calls one tool between: it speaks, writes what it hands over to a file,
/// and hands it over.
fn script(flow: &FlowFile, spoken: usize) -> String {
    const WORDS: &str = "The harbour was quiet, and nobody had seen the ship come in. ";
    let said = WORDS.repeat(spoken / WORDS.len());
    let handed = WORDS.repeat(ARTIFACT_BYTES / WORDS.len());
    let (said, handed) = (said.trim_end(), handed.trim_end());
    let start = flow.graph.start();
    let mut text = String::from("default: forward\nscript:\n");
    if flow.graph.outgoing(start).len() > 1 {
        // One file for all of them is one call of a tool, as everywhere else.
        writeln!(
            text,
            "  - node: begin\n    say:\n      - '{said}'\n      \
             - write: {{ path: plan.md, text: '{handed}' }}\n      - handoff:"
        )
        .unwrap();
        for next in flow.graph.successors(start) {
            let to = &flow.graph.node_at(next).id;
            writeln!(text, "          - {{ to: {to}, artifact: plan.md }}").unwrap();
        }
    }
    let nodes = flow.graph.nodes().iter();
    let roles: BTreeSet<String> = nodes.map(|node| node.role.to_string()).collect();
    for role in roles {
        writeln!(
            text,
            "  - role: {role}\n    say:\n      - '{said}'\n      - forward: '{handed}'"
        )
        .unwrap();
    }
    text
}

/// A store on a disk.
pub(crate) fn store(root: &Path, disk: SharedDisk) -> Store {
    let ground = Ground {
        process: process::this(disk.as_ref()),
        clock: Arc::new(SystemClock::default()),
        disk,
        ledger: None,
    };
    Store::new(ground, root.join("state"))
}

/// A flow of this file, up to the point at which it can be driven.
pub(crate) fn begun(store: &Store, root: &Path, source: &str, spoken: usize) -> Core {
    let file = read_kept(source.to_owned()).unwrap();
    // A project that leaves open how its flows end.
    std::fs::create_dir_all(root.join("a-docs")).unwrap();
    let new = NewFlow {
        ends: a_society_facts::fact::flow::Ends::default(),
        script: Some(script(&file, spoken)),
        project: "bench".parse().unwrap(),
        project_folder: root.to_owned(),
        title: None,
        input: None,
        file,
        tokens: None,
        mode: None,
        rules: a_society_facts::fact::operator::ConsentRules::default(),
        chat: None,
        client: None,
    };
    let at = store.ground().clock.now();
    create(store, new, at, Box::new(SystemMint)).unwrap()
}

/// A walk that was watched.
pub(crate) struct Walked {
    /// From the moment it was driven until all forward work was done and shown.
    pub(crate) time: Duration,
    /// What the disk did meanwhile.
    pub(crate) counts: Counts,
    /// How many bytes were written in all, from its creation until it was closed, by the files
    /// that they were written into, and the journal's once more by the facts.
    pub(crate) written: BTreeMap<&'static str, u64>,
    pub(crate) facts: BTreeMap<String, u64>,
    /// How many bytes the roles and their tools wrote: answers, arguments of calls, and results. A
    /// file that is handed over is part of the call that wrote it, and counts once.
    pub(crate) said: u64,
}

/// Walks a flow to its end, in which each node says so much besides what it hands on.
pub(crate) fn walk(root: &Path, source: &str, spoken: usize) -> Walked {
    let disk = CountedDisk::default();
    let store = store(root, Arc::new(disk.clone()));
    let core = begun(&store, root, source, spoken);
    let journal = core.flow().folder().journal();
    let before = disk.take();
    let started = Instant::now();
    let driven = drive(core, None).unwrap();
    until(&driven.handle, |seen| {
        seen.live == 0 && seen.state.status == FlowStatus::AwaitingImprovementChoice
    });
    let time = started.elapsed();
    let counts = disk.take();
    let mode = ImprovementMode::None;
    driven.handle.obey(Verb::Improve { mode }, None).unwrap();
    driven.task.join().unwrap().unwrap();
    let mut written = BTreeMap::new();
    for (what, bytes) in [&before.bytes, &counts.bytes, &disk.take().bytes]
        .into_iter()
        .flatten()
    {
        *written.entry(*what).or_default() += bytes;
    }
    let (said, facts) = said(&journal);
    Walked {
        time,
        counts,
        written,
        facts,
        said,
    }
}

impl Walked {
    pub(crate) fn bytes(&self) -> u64 {
        self.written.values().sum()
    }
}

/// The same without anything that counts.
pub(crate) fn plain_store(root: &Path) -> Store {
    store(root, Arc::new(RealDisk))
}

/// Waits until a flow looks so.
pub(crate) fn until(handle: &FlowHandle, so: impl Fn(&Seen) -> bool) {
    let started = Instant::now();
    let mut after = 0;
    loop {
        if let Some(seen) = handle.wait(after, Duration::from_secs(1)) {
            if so(&seen) {
                return;
            }
            assert!(!seen.over, "it ended: {:?}", seen.ended);
            after = seen.seq;
        }
        assert!(started.elapsed() < LONGEST, "it does not come to its end");
    }
}

/// The bytes of text in a journal, and those of each kind of fact.
fn said(journal: &Path) -> (u64, BTreeMap<String, u64>) {
    let (mut bytes, mut facts) = (0, BTreeMap::new());
    for segment in std::fs::read_dir(journal).unwrap() {
        let path = segment.unwrap().path();
        if path
            .extension()
            .is_none_or(|extension| extension != "jsonl")
        {
            continue;
        }
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let fact: serde_json::Value = serde_json::from_str(line).unwrap();
            let word = fact["fact"].as_str().unwrap().to_owned();
            *facts.entry(word).or_default() += line.len() as u64 + 1;
            bytes += said_in(&fact);
        }
    }
    (bytes, facts)
}

/// The bytes of a role's or a tool's text in a fact. A text that was streamed, or is a blob, counts in full.
fn said_in(fact: &serde_json::Value) -> u64 {
    let length = |text: &serde_json::Value| {
        let elsewhere = text["drafted_bytes"].as_u64().or(text["bytes"].as_u64());
        elsewhere.unwrap_or_else(|| text.as_str().map_or(0, |text| text.len() as u64))
    };
    match fact["fact"].as_str() {
        Some("model_answered") => {
            let calls = fact["calls"].as_array().into_iter().flatten();
            let asked = calls.map(|call| call["input"].to_string().len() as u64);
            length(&fact["text"]) + asked.sum::<u64>()
        }
        Some("call_finished") => length(&fact["output"]),
        Some(_) | None => 0,
    }
}
