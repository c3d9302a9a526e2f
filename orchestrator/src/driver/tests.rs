//! Whole flows on one thread, on a disk in memory: the walk, and the walk after a death.

mod changing;
mod drafts;
mod improving;
mod live;
mod model;
mod sim;
mod syncs;

use std::sync::Arc;
use std::time::Duration;

use a_society_facts::view::flow::FlowStatus;
use a_society_facts::{At, Verb, Whom};
use a_society_in_memory::FaultyDisk;
use a_society_roles::turn::step::StepReply;
use a_society_state::clock::CountingClock;
use a_society_state::{FlowRef, Ground, Store, process};

use super::attempt::{Heard, Start};
use super::core::Core;

use crate::mint::SeededMint;
use crate::project::flow_file::read_kept;
use crate::run::{NewFlow, create, reopen};

pub(super) const HELLO: &str = r"
workflow:
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

pub(super) const SCRIPT: &str = r"
default: forward
script:
  - node: write
    say:
      - stream: { text: 'I write the notes now, word for word.', pieces: 6 }
      - write: { path: notes.md, text: 'The notes.' }
      - Here they are.
      - handoff: { to: close, artifact: notes.md }
";

fn store(disk: &FaultyDisk) -> Store {
    let ground = Ground {
        disk: Arc::new(disk.clone()),
        clock: Arc::new(CountingClock::from(At::from_ms(1_795_246_169_123))),
        process: process::this(disk),
        ledger: None,
    };
    Store::new(ground, "/w/.a-society/state".into())
}

pub(super) fn begin(disk: &FaultyDisk, flow: &str, script: &str) -> Core {
    begin_in(&store(disk), disk, flow, script)
}

fn begin_in(store: &Store, disk: &FaultyDisk, flow: &str, script: &str) -> Core {
    // A project that leaves open how its flows end.
    disk.make_folder("/w/project/a-docs".as_ref()).unwrap();
    let new = NewFlow {
        ends: a_society_facts::fact::flow::Ends::default(),
        project: "demo".parse().unwrap(),
        project_folder: "/w/project".into(),
        title: None,
        input: Some("Say hello.".into()),
        file: read_kept(flow.to_owned()).unwrap(),
        script: Some(script.to_owned()),
        tokens: None,
        mode: None,
        rules: a_society_facts::fact::operator::ConsentRules::default(),
        chat: None,
        client: None,
    };
    create(
        store,
        new,
        At::from_ms(1_795_246_169_123),
        Box::new(SeededMint(1)),
    )
    .unwrap()
}

struct Running {
    start: Start,
    told: Option<StepReply>,
}

/// Takes steps until nothing goes on by itself, or until so many were taken.
fn walk(core: &mut Core, steps_max: usize) -> usize {
    walk_and_drain(core, steps_max, None)
}

/// The same; after so many steps nothing new is started.
fn walk_and_drain(core: &mut Core, steps_max: usize, drain_at: Option<usize>) -> usize {
    let mut running: Vec<Running> = Vec::new();
    let mut steps = 0;
    loop {
        if drain_at == Some(steps) {
            core.drain();
        }
        let starts = core.advance().unwrap();
        running.extend(starts.into_iter().map(|start| Running {
            start,
            told: Some(StepReply::Begin),
        }));
        if running.is_empty() || steps >= steps_max {
            return steps;
        }
        // Turn about, so that turns that run together are mixed.
        let mut turn = running.remove(0);
        let step = turn.start.taker.next(turn.told.take().unwrap());
        let heard = core
            .step(turn.start.turn, turn.start.attempt, step)
            .unwrap();
        steps += 1;
        if let Heard::Go(told) = heard {
            turn.told = Some(told);
            running.push(turn);
        }
    }
}

#[test]
fn a_small_artifact_stands_in_its_record_and_a_large_one_is_kept_as_a_blob() {
    for (bytes, inline) in [(200, true), (16 * 1024, true), (16 * 1024 + 1, false)] {
        let text = "w".repeat(bytes);
        let disk = FaultyDisk::new();
        let mut core = begin(&disk, HELLO, &SCRIPT.replace("The notes.", &text));
        walk(&mut core, 1000);
        let journal = disk.read_file(&core.flow().folder().segment(1)).unwrap();
        let journal = String::from_utf8(journal).unwrap();
        let mut lines = journal.lines();
        let handed = lines.find(|line| line.contains("handoff_applied") && line.contains("notes"));
        assert_eq!(handed.unwrap().contains(&text), inline, "{bytes} bytes");
        let blobs = core.flow().disk().list(&core.flow().folder().blobs());
        let blobs = blobs.map_or(0, |blobs| blobs.len());
        assert_eq!(blobs, usize::from(!inline), "{bytes} bytes");
        // Either way the receiver gets all of it.
        let told = |line: &str| line.contains("message_added") && line.contains(&text);
        assert!(journal.lines().any(told), "{bytes} bytes");
    }
}

#[test]
fn a_role_does_not_take_the_operator_out_of_the_graph_that_it_writes() {
    let gated = HELLO.replace("role: writer }", "role: writer, human-colab: true }");
    let named = |graph: &str| graph.replace("name: Hello", "name: Hello again");
    let elsewhere = named(HELLO)
        .replace("id: write,", "id: other,")
        .replace(": write }", ": other }")
        .replace("from: write,", "from: other,");
    for (graph, fits) in [
        (named(&gated), true),
        (named(HELLO), false),
        (elsewhere, false),
    ] {
        let text = serde_json::to_string(&graph).unwrap();
        let script = format!(
            "default: forward\nscript:\n  - node: ask\n    say:\n      \
             - write: {{ path: workflow.yaml, text: {text} }}\n      - forward: On.\n"
        );
        let disk = FaultyDisk::new();
        let mut core = begin(&disk, &gated, &script);
        walk(&mut core, 5);
        let revised = core.graph().name() == "Hello again";
        assert_eq!(revised, fits, "{graph}\n{}", read(&core));
        let kept = core.flow().folder().record().join("workflow.yaml");
        assert_eq!(disk.read_file(&kept).unwrap() == graph.as_bytes(), fits);
    }
}

fn at(core: &Core) -> FlowRef {
    FlowRef {
        project: "demo".parse().unwrap(),
        flow: core.flow().id().clone(),
    }
}

/// The facts of a kind, as the journal has them.
fn facts(core: &Core, word: &str) -> Vec<serde_json::Value> {
    let folder = core.flow().folder();
    let mut facts = Vec::new();
    for number in 1.. {
        let file = folder.segment(number);
        let Ok(bytes) = a_society_state::files::read_whole(core.flow().disk(), &file, u64::MAX)
        else {
            break;
        };
        let lines = bytes.split(|byte| *byte == b'\n');
        let lines = lines.filter(|line| !line.is_empty());
        facts.extend(lines.map(|line| serde_json::from_slice(line).unwrap()));
    }
    facts.retain(|fact: &serde_json::Value| fact["fact"] == word);
    facts
}

/// What the operator would read, for a test that fails.
fn read(core: &Core) -> String {
    let feeds = core.flow().views().feeds.iter();
    let lines = feeds.flat_map(|(role, feed)| {
        feed.items()
            .map(move |item| format!("{role} {:?} {} | {}\n", item.kind, item.label, item.text))
    });
    lines.collect()
}

fn finish(core: &mut Core) {
    walk(core, usize::MAX);
    let status = core.state().status.word();
    assert_eq!(status, "awaiting_improvement_choice", "{}", read(core));
    let mode = a_society_facts::fact::improvement::ImprovementMode::None;
    core.obey(Verb::Improve { mode }, None).unwrap();
    walk(core, usize::MAX);
}

#[test]
fn hello_walks_to_its_end() {
    let disk = FaultyDisk::new();
    let mut core = begin(&disk, HELLO, SCRIPT);
    finish(&mut core);
    assert_eq!(
        core.state().status.word(),
        "completed",
        "{:?}",
        core.pending()
    );
    let place = core.flow().folder().clone();
    core.close().unwrap();
    let transcript = place
        .role(&"writer".parse().unwrap())
        .join("transcript.json");
    let transcript = String::from_utf8(disk.read_file(&transcript).unwrap()).unwrap();
    assert!(
        transcript.contains("I write the notes now, word for word."),
        "{transcript}"
    );
    assert_eq!(
        disk.read_file(&place.record().join("notes.md")).unwrap(),
        b"The notes."
    );
}

#[test]
fn hello_goes_on_after_a_death_at_any_step() {
    let whole = {
        let disk = FaultyDisk::new();
        let mut core = begin(&disk, HELLO, SCRIPT);
        walk(&mut core, usize::MAX)
    };
    for steps in 0..whole {
        let disk = FaultyDisk::new();
        let mut core = begin(&disk, HELLO, SCRIPT);
        walk(&mut core, steps);
        let flow = at(&core);
        let dead = disk.kill_clone();
        drop(core);
        let (mut core, _) = reopen(
            &store(&dead),
            &flow,
            "/w/project".into(),
            Box::new(SeededMint(2)),
        )
        .unwrap();
        finish(&mut core);
        assert_eq!(
            core.state().status.word(),
            "completed",
            "after {steps} steps"
        );
        let passed: Vec<_> = core.state().completed_edges.iter().collect();
        assert_eq!(passed.len(), 2, "after {steps} steps");
    }
}

#[test]
fn a_limit_that_the_operator_does_not_wait_for_ends_durably_whichever_command_says_so() {
    let script = "default: forward\nscript:\n  - node: write\n    turn: 1\n    \
                  say: [ { fault: { class: limit, resets-in-ms: 3600000 } } ]\n";
    let to = || Whom::Node("write".parse().unwrap());
    for command in [Verb::RetryNow { to: to() }, Verb::Retry { to: to() }] {
        let disk = FaultyDisk::new();
        let mut core = begin(&disk, HELLO, script);
        walk(&mut core, usize::MAX);
        assert!(core.wakes_at().is_some());
        core.sync().unwrap();
        let taken = core.obey(command.clone(), None).unwrap();
        assert_eq!(taken.facts, 1);
        assert_eq!(core.flow().durable(), taken.seq, "{command:?}");
        finish(&mut core);
    }
}

#[test]
fn a_flow_that_drains_leaves_its_turns_at_a_recorded_point_and_goes_on_from_there() {
    let script = SCRIPT.replace("pieces: 6 }", "pieces: 6 }\n      - wait-ms: 3600000");
    let whole = walk(&mut begin(&FaultyDisk::new(), HELLO, &script), usize::MAX);
    for at_step in 0..whole {
        let disk = FaultyDisk::new();
        let mut core = begin(&disk, HELLO, &script);
        let steps = walk_and_drain(&mut core, usize::MAX, Some(at_step));
        assert_eq!(core.live_turns(), 0, "drained at step {at_step}");
        // An answer is at most asked, streamed in pieces and recorded.
        let longest = at_step + 9;
        assert!(
            steps <= longest,
            "drained at {at_step}, and ended at {steps} of {whole}"
        );
        let flow = at(&core);
        core.close().unwrap();
        let mint = Box::new(SeededMint(2));
        let reopened = reopen(&store(&disk), &flow, "/w/project".into(), mint);
        let (mut core, _) = reopened.unwrap();
        finish(&mut core);
        assert_eq!(
            core.state().completed_edges.len(),
            2,
            "drained at step {at_step}"
        );
    }
}

#[test]
fn a_command_to_a_flow_that_nobody_drives_is_no_other_try_of_its_turns() {
    let disk = FaultyDisk::new();
    let mut core = begin(&disk, HELLO, SCRIPT);
    walk(&mut core, 3);
    let flow = at(&core);
    let attempts = |core: &Core| -> Vec<u32> {
        let turns = core.state().turns.values();
        turns.map(|turn| turn.attempt).collect()
    };
    assert_eq!(attempts(&core), [1]);
    drop(core);
    let dead = disk.kill_clone();
    let open = || {
        let mint = Box::new(SeededMint(2));
        reopen(&store(&dead), &flow, "/w/project".into(), mint)
            .unwrap()
            .0
    };
    for command in [Verb::Pause {}, Verb::Unpause {}, Verb::Pause {}] {
        let mut core = open();
        core.obey(command, None).unwrap();
        core.close().unwrap();
    }
    let mut core = open();
    assert_eq!(attempts(&core), [1]);
    core.obey(Verb::Unpause {}, None).unwrap();
    core.advance().unwrap();
    assert_eq!(attempts(&core), [2]);
}

#[test]
fn a_role_that_asks_is_answered_and_goes_on() {
    let disk = FaultyDisk::new();
    let script = r"
default: forward
script:
  - node: write
    turn: 1
    say: [ 'Which colour?', { signal: prompt-human } ]
";
    let mut core = begin(&disk, HELLO, script);
    walk(&mut core, usize::MAX);
    assert_eq!(core.state().waits().count(), 1, "{:?}", core.pending());
    let reply = Verb::Reply {
        to: Whom::Only,
        text: "Blue.".to_owned(),
        asked: None,
    };
    core.obey(reply, None).unwrap();
    finish(&mut core);
    assert_eq!(core.state().status.word(), "completed");
}

#[test]
fn a_role_that_could_not_answer_is_not_told_twice_what_it_is_here_for() {
    let disk = FaultyDisk::new();
    let script = r"
default: forward
script:
  - { node: write, turn: 1, say: [ { fault: { class: overloaded } } ] }
  - { node: write, turn: 2, say: [ { fault: { class: overloaded } } ] }
";
    let mut core = begin(&disk, HELLO, script);
    for _ in 0..2 {
        walk(&mut core, usize::MAX);
        core.obey(Verb::Retry { to: Whom::Only }, None).unwrap();
    }
    finish(&mut core);
    let writer = core
        .flow()
        .views()
        .session(&"writer".parse().unwrap())
        .unwrap();
    let told = writer
        .messages
        .iter()
        .filter(|entry| entry.origin.is_some());
    assert_eq!(told.count(), 1, "{:#?}", writer.messages);
}

const WIDE: &str = r"
workflow:
  name: Wide
  nodes:
    - { id: begin, role: owner }
    - { id: a, role: writer }
    - { id: b, role: writer_2 }
    - { id: c, role: writer_3 }
    - { id: end, role: owner, await-all-inputs: true }
  edges:
    - { from: begin, to: a }
    - { from: begin, to: b }
    - { from: begin, to: c }
    - { from: a, to: end }
    - { from: b, to: end }
    - { from: c, to: end }
roles:
  owner: { executor: scripted }
  writer: { executor: scripted }
";

/// The most turns that ran at once, until nothing goes on by itself.
fn widest(core: &mut Core) -> usize {
    let mut running: Vec<Running> = Vec::new();
    let mut widest = 0;
    loop {
        let starts = core.advance().unwrap();
        running.extend(starts.into_iter().map(|start| Running {
            start,
            told: Some(StepReply::Begin),
        }));
        widest = widest.max(core.live_turns());
        if running.is_empty() {
            return widest;
        }
        let mut turn = running.remove(0);
        let step = turn.start.taker.next(turn.told.take().unwrap());
        let (id, attempt) = (turn.start.turn, turn.start.attempt);
        if let Heard::Go(told) = core.step(id, attempt, step).unwrap() {
            turn.told = Some(told);
            running.push(turn);
        }
    }
}

#[test]
fn no_more_turns_run_at_once_than_a_flow_may_have() {
    for (limit, most) in [(None, 3), (Some(2), 2), (Some(1), 1)] {
        let mut core = begin(&FaultyDisk::new(), WIDE, "default: forward");
        core.limit_turns(limit);
        assert_eq!(widest(&mut core), most);
        assert!(!core.is_crowded(), "nobody else is in the way");
    }
}

#[test]
fn a_flow_waits_for_room_that_others_of_its_process_take_and_then_goes_on() {
    let room = super::room::Room::new(1);
    let taken = room.take();
    let mut core = begin(&FaultyDisk::new(), HELLO, SCRIPT);
    core.share(room.clone());
    assert!(core.advance().unwrap().is_empty() && core.is_crowded());
    drop(taken);
    core.tick().unwrap();
    assert_eq!(widest(&mut core), 1);
    assert!(!core.is_crowded());
    assert_eq!(room.free(), 1, "every place came back");
}

#[test]
fn a_driven_flow_is_woken_by_the_place_that_it_waits_for() {
    let room = super::room::Room::new(1);
    let taken = room.take();
    let mut core = begin(&FaultyDisk::new(), HELLO, SCRIPT);
    core.share(room.clone());
    let driven = super::task::drive(core, None).unwrap();
    while room.waiting() == 0 {
        std::thread::yield_now();
    }
    drop(taken);
    let (mut after, rests) = (0, FlowStatus::AwaitingImprovementChoice);
    loop {
        let seen = driven.handle.wait(after, Duration::from_secs(10)).unwrap();
        if seen.state.status == rests && seen.live == 0 {
            break;
        }
        after = seen.seq;
    }
    driven.handle.drain();
    driven.task.join().unwrap().unwrap();
    assert_eq!(room.free(), 1, "every place came back");
}

/// A role writes the graph anew without its roles; then the process ends, and a person's turn comes.
#[test]
fn a_graph_that_is_written_without_roles_leaves_them_where_they_come_from_also_after_a_death() {
    let file = HELLO.replace(
        "writer: { executor: scripted }",
        "writer: { executor: human }",
    );
    let (graph, _) = file.split_once("roles:").unwrap();
    let graph = serde_json::Value::from(graph.replace("name: Hello", "name: Anew"));
    let script = format!(
        "default: forward\nscript:\n  - {{ node: ask, turn: 1, say: [ {{ write: {{ path: \
         workflow.yaml, text: {graph} }} }}, 'Go on?', {{ signal: prompt-human }} ] }}\n"
    );
    let disk = FaultyDisk::new();
    // A project beside it whose roles are not those of the flow.
    disk.make_folder("/w/project/a-docs".as_ref()).unwrap();
    let mut core = begin(&disk, &file, &script);
    walk(&mut core, 300);
    assert_eq!(facts(&core, "graph_revised").len(), 1, "{}", read(&core));
    let flow = at(&core);
    drop(core);
    let dead = disk.kill_clone();
    let mint = Box::new(SeededMint(2));
    let opened = reopen(&store(&dead), &flow, "/w/project".into(), mint);
    let (mut core, _) = opened.unwrap();
    let reply = Verb::Reply {
        to: Whom::Only,
        text: "Go on.".to_owned(),
        asked: None,
    };
    core.obey(reply, None).unwrap();
    walk(&mut core, 300);
    let waits: Vec<String> = (core.state().waits())
        .map(|(_, waiting)| waiting.role.to_string())
        .collect();
    assert_eq!(waits, ["writer"], "a person has that turn: {}", read(&core));
}
