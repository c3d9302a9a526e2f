//! The real program, killed with `SIGKILL` at random moments of every example: each flow goes on to
//! the same end, nothing is handed over twice, and nothing that the operator said is lost or counts
//! twice.
//!
//! `A_SOCIETY_TEST_KILLS` says how many kills each example gets; `A_SOCIETY_TEST_SEED` repeats a run.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::play::Play;

/// How often the slice kills each example.
const KILLS: u64 = 6;
/// How often the whole does: ten thousand kills over nine examples.
const KILLS_FULL: u64 = 1_120;
/// The largest number of kills of one flow, so that some recoveries are killed as well.
const KILLS_OF_A_FLOW_MAX: u64 = 4;

/// How often the slice kills the longest example, of which each death costs a second.
const KILLS_LONG: u64 = 2;

/// How often both examples whose roles look back are killed while they do, if all of it is wanted.
const KILLS_LOOKING_BACK_FULL: u64 = 250;
/// No example asks more often than this before its forward work is done.
const ROUNDS_MAX: usize = 10;

fn kills_looking_back() -> u64 {
    match kills("looking-back") {
        KILLS_FULL => KILLS_LOOKING_BACK_FULL,
        kills => kills,
    }
}

/// How many kills each example gets.
fn kills(name: &str) -> u64 {
    let variable = |name: &str| std::env::var(name).ok();
    let wanted = variable("A_SOCIETY_TEST_KILLS").and_then(|number| number.parse().ok());
    let is_full = variable("A_SOCIETY_TEST_FULL").is_some_and(|value| value == "1");
    let slice = if name == "long-haul" {
        KILLS_LONG
    } else {
        KILLS
    };
    wanted.unwrap_or(if is_full { KILLS_FULL } else { slice })
}

/// `SplitMix64`: numbers that a seed repeats.
struct Chance(u64);

impl Chance {
    fn of(name: &str) -> Self {
        let seed = std::env::var("A_SOCIETY_TEST_SEED").ok();
        let seed = seed.and_then(|seed| seed.parse().ok()).unwrap_or_else(|| {
            // Another one each time, and printed when something fails.
            std::time::UNIX_EPOCH.elapsed().unwrap().as_secs()
        });
        let letters = name
            .bytes()
            .fold(0, |sum: u64, byte| sum.wrapping_mul(31) + u64::from(byte));
        Self(seed.wrapping_add(letters << 32))
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit.max(1)
    }
}

/// What a flow came to, apart from what only tells of interruptions.
#[derive(Debug, PartialEq, Eq)]
struct End {
    /// The views and the record, by their paths.
    files: BTreeMap<String, String>,
    /// How often each edge was used and each command of the operator counted.
    counts: BTreeMap<String, usize>,
}

fn end(play: &Play, flow: &str) -> End {
    let mut files = play.normal(flow);
    let mut counts = counts(play, flow);
    let is_view = |path: &str| path == "flow.json" || path.starts_with("roles/");
    for (path, text) in &mut files {
        if is_view(path) {
            let mut value: Value = serde_json::from_str(text).unwrap();
            lasting(path, &mut value);
            *text = serde_json::to_string_pretty(&value).unwrap();
        }
    }
    // Where the kill hits decides whether these two need their operator, and what they ask.
    let asks: &[&str] = match play.name.as_str() {
        "interrupted" => &["writer"],
        "command-roles" => &["builder", "tester"],
        _ => &[],
    };
    if !asks.is_empty() {
        let of_these = |path: &String| asks.iter().any(|role| path.contains(&format!("/{role}/")));
        files.retain(|path, _| !of_these(path));
        // A program that is run again writes its output to another file.
        files.retain(|path, _| !path.contains("-output-to-"));
        for text in files.values_mut() {
            *text = without_turns(text);
        }
        let is_answer = |what: &String| {
            what.starts_with("node_retried") || what.starts_with("operator_replied")
        };
        counts.retain(|what, _| !is_answer(what));
    }
    End { files, counts }
}

/// The number of a turn says how many there were before, and so does the name of what it printed.
fn without_turns(text: &str) -> String {
    let is_turn = |line: &&str| {
        let member = line.trim_start();
        let begins = ["\"turn\": ", "\"callId\": ", "\"id\": \"call-"];
        begins.iter().any(|begin| member.starts_with(begin))
    };
    let is_output = |line: &&str| line.contains("-output-to-");
    let lines = text.lines();
    let lines = lines.filter(|line| !is_turn(line) && !is_output(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// Takes out what a flow that was interrupted may have more of: tries, tokens, and the words about
/// the interruption.
fn lasting(path: &str, value: &mut Value) {
    if path.ends_with("feed.json") {
        let items = value.as_array_mut().unwrap();
        let is_cut = |item: &Value| item["event"] == "journal.recovery_truncated";
        items.retain(|item| {
            item["type"] != "resume" && item["interrupted"] != true && !is_cut(item)
        });
        for item in items {
            if item["event"] == "usage.turn_summary" {
                item["text"] = Value::Null;
            }
            found_done(item);
        }
    } else if path.ends_with("transcript.json") {
        for name in ["transcriptHistory", "exchanges"] {
            forget(value.get_mut(name));
        }
        forget(value["currentNodeContext"].get_mut("exchanges"));
        for name in ["usage", "latestContextUsage", "turns"] {
            value[name] = Value::Null;
        }
    } else {
        // How much it took, and how often, depends on what befell the flow.
        let took = ["account", "role_accounts", "next_turn", "entered_again"];
        for name in took.into_iter().chain(["clients"]) {
            value[name] = Value::Null;
        }
        // A kill in the middle of a write leaves a part of a record, which was never acknowledged.
        let notices = value["notices"].as_array_mut().unwrap();
        notices.retain(|notice| notice["kind"] != "recovery_truncated" || notice["lossy"] == true);
        for session in value["sessions"].as_object_mut().unwrap().values_mut() {
            session["messages"] = Value::Null;
            session["context_tokens"] = Value::Null;
        }
    }
}

/// A file that was written when the process ended is found written, and its item has other words.
fn found_done(item: &mut Value) {
    if item["type"] != "tool-success" {
        return;
    }
    for name in ["label", "text"] {
        let said = item[name].as_str().unwrap_or_default();
        let first = said.lines().next().unwrap_or_default();
        item[name] = first.replace(" (found done after a crash)", "").into();
    }
}

/// Forgets what was cut off and the words with which the turn went on.
fn forget(messages: Option<&mut Value>) {
    let Some(Value::Array(messages)) = messages else {
        return;
    };
    messages
        .retain(|message| message["interrupted"] != true && message["origin"] != "continuation");
    for message in messages {
        if message["toolName"] == "write_file" {
            message["content"] = Value::Null;
        }
    }
}

/// How often what counts once was counted.
fn counts(play: &Play, flow: &str) -> BTreeMap<String, usize> {
    let said = play.run(&["log", flow, "--json"].map(str::to_owned));
    assert_eq!(said.code, 0, "{said:?}");
    let mut counts = BTreeMap::new();
    for line in said.out.lines() {
        let fact: Value = serde_json::from_str(line).unwrap();
        let word = fact["fact"].as_str().unwrap_or_default().to_owned();
        let what = match word.as_str() {
            "handoff_applied" => format!("{word} {}", edges(&fact)),
            "operator_replied" => format!("{word} {}", fact["client"]),
            "handoff_decided" | "node_retried" | "improvement_chosen" | "feedback_decided"
            | "feedback_recorded" | "graph_revised" | "flow_completed" => word,
            "findings_recorded" => {
                format!("{word} {} {}", fact["role"], what(&fact["findings"]))
            }
            // With these words a role begins to look back.
            "message_added" if fact["origin"] == "improvement" => {
                format!("{word} {}", fact["role"])
            }
            _ => continue,
        };
        *counts.entry(what).or_default() += 1;
    }
    counts
}

/// What was handed over. What a program printed may name the folder in which it ran.
fn what(artifact: &Value) -> &str {
    let path = artifact["path"].as_str().unwrap_or_default();
    if path.contains("-output-to-") {
        return "its output";
    }
    artifact["hash"].as_str().unwrap_or_default()
}

/// The edges that a handoff used, with the bytes that went along them.
fn edges(fact: &Value) -> String {
    let deliveries = fact["deliveries"].as_array().cloned().unwrap_or_default();
    let edge = |delivery: &Value| {
        format!(
            "{} {} {}: {}",
            delivery["from"],
            delivery["way"],
            delivery["to"],
            what(&delivery["artifact"])
        )
    };
    deliveries.iter().map(edge).collect::<Vec<_>>().join(", ")
}

/// Plays an example whose processes are killed again and again, and says how often they were.
fn killed(play: &Play, chance: &mut Chance, kills: u64, whole: Duration) {
    let longest = u64::try_from(whole.as_micros()).unwrap();
    for _ in 0..kills {
        let mut children = vec![play.start(&play.words())];
        // What waits is answered while the flow is driven, and both may die.
        if let Some(flow) = play.flow() {
            let answers = play.answers(&flow);
            children.extend(answers.iter().map(|answer| play.start(answer)));
        }
        std::thread::sleep(Duration::from_micros(chance.below(longest)));
        children.iter_mut().for_each(kill);
    }
}

fn kill(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Kills an example until it was killed often enough.
fn survives(name: &str) {
    let begun = Instant::now();
    let unharmed = Play::new(name);
    let flow = unharmed.to_the_end();
    let wanted = end(&unharmed, &flow);
    let whole = begun.elapsed();
    let mut chance = Chance::of(name);
    let mut left = kills(name);
    while left > 0 {
        let (seed, kills) = (chance.0, 1 + chance.below(KILLS_OF_A_FLOW_MAX.min(left)));
        let play = Play::new(name);
        killed(&play, &mut chance, kills, whole);
        left -= kills;
        let flow = play.to_the_end();
        let found = end(&play, &flow);
        same(
            &found,
            &wanted,
            &format!("{name}, {kills} kills, state of chance {seed}"),
        );
        let said = play.run(&["verify", &flow].map(str::to_owned));
        assert_eq!(said.code, 0, "{name}, state of chance {seed}: {said:?}");
    }
}

/// Kills an example while its roles look back, until it was killed often enough.
fn survives_looking_back(name: &str) {
    let unharmed = Play::new(name);
    let begin = |play: &Play| {
        let until = ["--until-waiting".to_owned()];
        for _ in 0..ROUNDS_MAX {
            let words: Vec<String> = play.begun().into_iter().chain(until.clone()).collect();
            let said = play.run(&words);
            assert_eq!(said.code, 8, "{name}: {said:?}");
            let flow = play.flow().unwrap();
            let status = play
                .run(&["status", &flow, "--json"].map(str::to_owned))
                .json();
            if status["status"] == "awaiting_improvement_choice" {
                return;
            }
            for answer in play.answers(&flow) {
                play.run(&answer);
            }
        }
        panic!("{name}: the forward work does not come to its end");
    };
    begin(&unharmed);
    let begun = Instant::now();
    let flow = unharmed.to_the_end();
    let whole = begun.elapsed();
    let wanted = end(&unharmed, &flow);
    let mut chance = Chance::of(name);
    let mut left = kills_looking_back();
    while left > 0 {
        let (seed, kills) = (chance.0, 1 + chance.below(KILLS_OF_A_FLOW_MAX.min(left)));
        let play = Play::new(name);
        begin(&play);
        killed(&play, &mut chance, kills, whole);
        left -= kills;
        let flow = play.to_the_end();
        let when = format!("{name}, {kills} kills, state of chance {seed}");
        same(&end(&play, &flow), &wanted, &when);
        let said = play.run(&["verify", &flow].map(str::to_owned));
        assert_eq!(said.code, 0, "{when}: {said:?}");
    }
}

fn same(found: &End, wanted: &End, when: &str) {
    assert_eq!(found.counts, wanted.counts, "{when}");
    let names = |end: &End| end.files.keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(names(found), names(wanted), "{when}");
    for (path, text) in &found.files {
        assert!(
            *text == wanted.files[path],
            "{when}: {path}\n--- is ---\n{text}\n--- was ---\n{}",
            wanted.files[path]
        );
    }
}

#[test]
fn hello_survives_every_kill() {
    survives("hello");
}

#[test]
fn review_loop_survives_every_kill() {
    survives("review-loop");
}

#[test]
fn fan_out_survives_every_kill() {
    survives("fan-out");
}

#[test]
fn human_gate_survives_every_kill_of_the_flow_and_of_its_operators_commands() {
    survives("human-gate");
}

#[test]
fn command_roles_survives_every_kill() {
    survives("command-roles");
}

#[test]
fn interrupted_survives_every_kill() {
    survives("interrupted");
}

#[test]
fn long_haul_survives_every_kill() {
    survives("long-haul");
}

#[test]
fn release_notes_survives_every_kill() {
    survives("release-notes");
}

#[test]
fn solo_survives_every_kill() {
    survives("solo");
}

#[test]
fn release_notes_is_killed_while_its_roles_look_back_and_each_looks_back_once() {
    survives_looking_back("release-notes");
}

#[test]
fn solo_is_killed_while_its_owner_looks_back_and_it_looks_back_once() {
    survives_looking_back("solo");
}
