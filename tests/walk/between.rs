//! Deaths aimed at the moment that hurts: after a call was started and before its result is recorded.
//!
//! A model works through commands, new files and edits in turn. The journal is read while it is
//! written, and as soon as a call is started its process is killed, after a pause that differs from
//! kill to kill so that all of the moment is hit. Then the next process takes over and is killed at
//! its next call, until all calls are done.

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use serde_json::{Value, json};

use super::models::{Model, call, with_model};
use super::place::Place;
use crate::support::{is_full, seed};

/// How many kills must hit the moment; more in the whole test.
const HITS: usize = 8;
const HITS_FULL: usize = 2_000;

/// How many calls one flow has, so that flows are not long.
const CALLS: usize = 24;

/// The most that is waited after a start before the kill: as long as such a call takes, or so.
const PAUSE_FILE_US: u64 = 1_500;
const PAUSE_COMMAND_US: u64 = 30_000;

fn works(results: usize) -> Vec<(Value, Vec<Value>)> {
    if results >= CALLS {
        return Vec::new();
    }
    let (name, input) = match results % 3 {
        0 => {
            let command = format!("echo {results} >> log.txt; sleep 0.01");
            ("run_command", json!({ "command": command }))
        }
        1 => {
            let path = format!("file-{results}.txt");
            (
                "write_file",
                json!({ "path": path, "content": content(results) }),
            )
        }
        _ => {
            let path = format!("file-{}.txt", results - 1);
            let (old, new) = (format!("word {}", results - 1), format!("WORD {results}"));
            ("edit_file", json!({ "path": path, "old": old, "new": new }))
        }
    };
    vec![call(results, name, input)]
}

fn content(results: usize) -> String {
    format!(
        "word {results}\n{}",
        "and some more of it\n".repeat(results * 40)
    )
}

/// A journal that is read while it is written.
struct Tail {
    file: std::fs::File,
    rest: String,
    tools: BTreeMap<String, String>,
    started: Vec<String>,
    finished: BTreeMap<String, String>,
}

impl Tail {
    fn of(journal: &Path) -> Self {
        let mut tail = Self {
            file: std::fs::File::open(journal).unwrap(),
            rest: String::new(),
            tools: BTreeMap::new(),
            started: Vec::new(),
            finished: BTreeMap::new(),
        };
        tail.read();
        tail
    }

    /// Reads what was added.
    fn read(&mut self) {
        self.file.read_to_string(&mut self.rest).unwrap();
        while let Some((line, rest)) = self.rest.split_once('\n') {
            // Most lines are looked at and not read.
            if line.contains("\"fact\":\"call_") {
                let fact: Value = serde_json::from_str(line).unwrap();
                let text = |member: &str| fact[member].as_str().unwrap_or_default().to_owned();
                match fact["fact"].as_str().unwrap() {
                    "call_intended" => drop(self.tools.insert(text("call"), text("tool"))),
                    "call_started" => self.started.push(text("call")),
                    "call_finished" => drop(self.finished.insert(text("call"), text("end"))),
                    _ => {}
                }
            }
            self.rest = rest.to_owned();
        }
    }

    /// The call that was started and has no result.
    fn open(&self) -> Option<&String> {
        self.started
            .last()
            .filter(|call| !self.finished.contains_key(*call))
    }
}

/// The results of all kills.
#[derive(Debug, Default)]
struct Tally {
    kills: usize,
    /// The kills that hit the moment, by tool.
    hits: BTreeMap<String, usize>,
    /// How the calls that were hit ended.
    ends: BTreeMap<(String, String), usize>,
}

impl Tally {
    fn hit(&self) -> usize {
        self.hits.values().sum()
    }
}

/// Waits for the next call of a process and kills it a while after it was started. Says which call
/// that hit, or that the process came to its end.
fn kill_in_between(
    mut child: Child,
    tail: &mut Tail,
    dice: &mut impl FnMut(u64) -> u64,
) -> Option<Option<String>> {
    let before = tail.started.len();
    while tail.started.len() == before {
        tail.read();
        if child.try_wait().unwrap().is_some() {
            return None;
        }
        std::thread::sleep(Duration::from_micros(30));
    }
    let is_command = tail
        .tools
        .get(&tail.started[before])
        .is_some_and(|tool| tool == "run_command");
    let longest = if is_command {
        PAUSE_COMMAND_US
    } else {
        PAUSE_FILE_US
    };
    std::thread::sleep(Duration::from_micros(dice(longest)));
    child.kill().unwrap();
    child.wait().unwrap();
    tail.read();
    Some(tail.open().cloned())
}

/// Walks one flow to its end over as many deaths as it has calls.
fn one_flow(model: &Model, tally: &mut Tally, dice: &mut impl FnMut(u64) -> u64) {
    let place = with_model(model);
    let flow = place.run_until_it_waits();
    assert_eq!(place.run(&["mode", &flow, "full-access"]).code, 0);
    let journal = place.folder(&flow).join("journal/00000001.jsonl");
    let mut tail = Tail::of(&journal);
    let mut hit: Vec<String> = Vec::new();
    let words = ["resume", &flow, "--until-waiting", "--improve", "none"];
    while let Some(killed) = kill_in_between(place.start(&words), &mut tail, dice) {
        tally.kills += 1;
        hit.extend(killed);
        // Recovery may cut what was not whole, so that the journal is read anew.
        tail.file.seek(SeekFrom::Start(0)).unwrap();
        tail = Tail {
            rest: String::new(),
            started: Vec::new(),
            ..tail
        };
        tail.read();
    }
    let said = place.run(&words);
    assert!(said.code == 0 || said.err.contains("over"), "{said:?}");
    assert_eq!(place.status(&flow)["status"], "completed");
    check(&place, &tail, &hit, tally);
}

fn check(place: &Place, tail: &Tail, hit: &[String], tally: &mut Tally) {
    let project = place.workspace.path().join("demo");
    let log = std::fs::read_to_string(project.join("log.txt")).unwrap_or_default();
    let mut commands = 0;
    for (call, tool) in &tail.tools {
        let end = tail.finished.get(call).map_or("nothing", String::as_str);
        if tool == "run_command" {
            commands += 1;
        }
        let was_hit = hit.contains(call);
        if was_hit {
            *tally.hits.entry(tool.clone()).or_default() += 1;
            *tally
                .ends
                .entry((tool.clone(), end.to_owned()))
                .or_default() += 1;
        }
        match tool.as_str() {
            // None of them runs a second time, and each that was hit reports an unknown outcome.
            "run_command" if was_hit => assert_eq!(end, "unknown", "{call}"),
            "run_command" => assert_eq!(end, "done", "{call}"),
            _ => assert!(
                ["done", "recovered", "unknown"].contains(&end),
                "{call}: {end}"
            ),
        }
    }
    assert_eq!(commands, CALLS / 3);
    for at in (0..CALLS).step_by(3) {
        let times = log.lines().filter(|line| *line == at.to_string()).count();
        assert!(times <= 1, "command {at} ran {times} times");
    }
    for at in (1..CALLS).step_by(3) {
        let text = std::fs::read_to_string(project.join(format!("file-{at}.txt"))).unwrap();
        let edited = content(at).replace(&format!("word {at}"), &format!("WORD {}", at + 1));
        assert!(
            text == edited,
            "file {at}: {}",
            text.lines().next().unwrap_or_default()
        );
    }
}

#[test]
#[expect(
    clippy::print_stdout,
    reason = "the share is the figure that the whole test is for"
)]
fn a_kill_between_start_and_result_repeats_nothing_and_files_tell_what_happened() {
    let wanted = if is_full() { HITS_FULL } else { HITS };
    let model = Model::start_with(works);
    let mut tally = Tally::default();
    // A sequence that the seed repeats; the moments it leads to are the machine's.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ seed();
    let mut dice = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    while tally.hit() < wanted {
        one_flow(&model, &mut tally, &mut dice);
    }
    let count = |wanted: &dyn Fn(&str, &str) -> bool| -> usize {
        let ends = tally.ends.iter();
        ends.filter(|((tool, end), _)| wanted(tool, end))
            .map(|(_, times)| times)
            .sum()
    };
    let files = count(&|tool, _| tool != "run_command");
    let settled = count(&|tool, end| tool != "run_command" && end != "unknown");
    println!(
        "{} kills, {} between start and result: {:?}; {settled} of {files} files settled by hash; {:?}",
        tally.kills,
        tally.hit(),
        tally.hits,
        tally.ends
    );
    assert!(settled * 100 >= files * 95, "{settled} of {files}");
    assert!(
        files > 0 && files < tally.hit(),
        "both kinds were hit: {tally:?}"
    );
}
