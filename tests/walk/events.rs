//! The lines of `run --json` and `resume --json`, held against their schema: each line of many real runs fits, nothing
//! is in a line that the schema does not name, and nothing is in the schema that no run prints.

use std::collections::BTreeSet;
use std::path::Path;

use a_society_stand_in::{Ending, Piece, Reply, Server, Used};
use serde_json::{Value, json};

use super::beforehand::command;
use super::models::{call, refusal, says, with_model_at};
use super::place::{FLOW, Place, SLOW, signal, wait_until};
use super::{compacting, hurried};
use crate::support::{Said, copy};

/// A schema, and what of it was met.
struct Held {
    schema: Value,
    met: BTreeSet<String>,
}

impl Held {
    fn new() -> Self {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/run-events.schema.json");
        let text = std::fs::read_to_string(file).unwrap();
        Self {
            schema: serde_json::from_str(&text).unwrap(),
            met: BTreeSet::new(),
        }
    }

    /// Checks each line of a run, and gives them.
    fn hold(&mut self, said: &Said) -> Vec<Value> {
        let lines = said.out.lines();
        let lines: Vec<Value> = lines
            .map(|line| serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}")))
            .collect();
        assert!(!lines.is_empty(), "{said:?}");
        for line in &lines {
            let name = format!("{}_event", line["event"].as_str().unwrap());
            let schema = self.schema["$defs"][&name].clone();
            assert!(schema.is_object(), "no event of this name: {line}");
            if let Err(why) = self.check(&schema, line, &name) {
                panic!("{why}: {line}");
            }
        }
        assert_eq!(lines.first().unwrap()["event"], "flow", "{said:?}");
        assert_eq!(lines.last().unwrap()["event"], "end", "{said:?}");
        let code = &lines.last().unwrap()["exit_code"];
        assert_eq!(*code, json!(said.code), "{said:?}");
        lines
    }

    /// Whether a value fits, with every object closed.
    fn check(&mut self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        if let Some(name) = schema["$ref"].as_str() {
            let name = name.strip_prefix("#/$defs/").unwrap();
            let schema = self.schema["$defs"][name].clone();
            return self.check(&schema, value, name);
        }
        if let Some(either) = schema["anyOf"].as_array() {
            let fits = |one: &Value| self.check(one, value, at);
            let tried: Vec<Result<(), String>> = either.iter().map(fits).collect();
            let fits = tried.iter().any(Result::is_ok);
            return fits.then_some(()).ok_or(format!("{at}: {tried:?}"));
        }
        if let Some(only) = schema.get("const") {
            return (only == value).then_some(()).ok_or(format!("{at}: {only}"));
        }
        if let Some(known) = schema["enum"].as_array() {
            let is_known = known.contains(value);
            return is_known.then_some(()).ok_or(format!("{at}: {value}"));
        }
        let fits = match schema["type"].as_str().unwrap_or_default() {
            "string" => value.is_string(),
            "integer" => match schema["minimum"].as_i64() {
                Some(_) => value.is_u64(),
                None => value.is_i64(),
            },
            "boolean" => value.is_boolean(),
            "null" => value.is_null(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            other => return Err(format!("{at}: no type {other}")),
        };
        if !fits {
            return Err(format!("{at}: {value} is no {}", schema["type"]));
        }
        for (number, item) in value.as_array().into_iter().flatten().enumerate() {
            self.check(&schema["items"], item, &format!("{at}[{number}]"))?;
        }
        match value.as_object() {
            Some(members) => self.check_members(schema, members, at),
            None => Ok(()),
        }
    }

    fn check_members(
        &mut self,
        schema: &Value,
        members: &serde_json::Map<String, Value>,
        at: &str,
    ) -> Result<(), String> {
        // The members of a fact are listed elsewhere.
        let Some(known) = schema["properties"].as_object() else {
            let rest = &schema["additionalProperties"];
            return match rest.is_object() {
                true => (members.iter())
                    .try_for_each(|(name, value)| self.check(rest, value, &format!("{at}.{name}"))),
                false => Ok(()),
            };
        };
        for name in schema["required"].as_array().into_iter().flatten() {
            let name = name.as_str().unwrap();
            if !members.contains_key(name) {
                return Err(format!("{at}: {name} is missing"));
            }
        }
        for (name, value) in members {
            let place = format!("{}.{name}", at.split('[').next().unwrap_or(at));
            let Some(schema) = known.get(name) else {
                return Err(format!("{place} is not in the schema"));
            };
            if !value.is_null() {
                self.met.insert(place.clone());
            }
            self.check(schema, value, &place)?;
        }
        Ok(())
    }

    /// Every member of the schema that no run printed.
    fn never_met(&self) -> Vec<String> {
        let mut all = BTreeSet::new();
        for (name, schema) in self.schema["$defs"].as_object().unwrap() {
            members_of(schema, name, &mut all);
        }
        all.difference(&self.met).cloned().collect()
    }
}

/// The members of a schema and of the objects that are written in it.
fn members_of(schema: &Value, at: &str, all: &mut BTreeSet<String>) {
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        let place = format!("{at}.{name}");
        members_of(member, &place, all);
        all.insert(place);
    }
    let either = schema["anyOf"].as_array().into_iter().flatten();
    let inner = either.chain(schema.get("items"));
    for inner in inner {
        members_of(inner, at, all);
    }
}

/// One run with this end, whose lines fit.
fn runs(held: &mut Held, place: &Place, words: &[&str], code: i32) -> Vec<Value> {
    let said = place.run(&[words, &["--json"]].concat());
    assert_eq!(said.code, code, "{words:?}: {said:?}");
    held.hold(&said)
}

fn of<'a>(lines: &'a [Value], event: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["event"] == event).collect()
}

/// What each node did, in order.
fn states(lines: &[Value]) -> Vec<&str> {
    let nodes = of(lines, "node").into_iter();
    nodes.map(|line| line["state"].as_str().unwrap()).collect()
}

/// A model that is asked too often, thinks, runs commands and reads, asks, and closes.
fn talks() -> Server {
    Server::by(|seen, number| {
        if number == 1 {
            let why = json!({ "type": "rate_limit_error", "message": "Slow down." });
            let body = json!({ "type": "error", "error": why });
            return refusal(429, 1, &body.to_string());
        }
        let results = seen.text.matches("\"tool_result\"").count();
        let said = match results {
            0 => {
                let thought = json!({ "type": "thinking", "thinking": "", "signature": "" });
                let thinks = json!({ "type": "thinking_delta", "thinking": "First a look." });
                let signs = json!({ "type": "signature_delta", "signature": "c2ln" });
                let mut said = vec![
                    (thought, vec![thinks, signs]),
                    says(&["I look at ", "the folder first."]),
                ];
                said.extend(command(0, "touch seen; ls"));
                said
            }
            1 => vec![call(1, "read_file", json!({ "path": "flow.yaml" }))],
            2 => {
                let input = json!({ "command": "seq 1 200000; exit 3", "folder": "." });
                vec![call(2, "run_command", input)]
            }
            3 => command(
                3,
                "echo '[... 9 bytes in 2 lines left out; it could not be kept ...]'",
            ),
            4 => vec![call(
                4,
                "ask_operator",
                json!({ "question": "Which one?", "choices": ["this", "that"] }),
            )],
            _ => vec![says(&[
                "Done.\n\n```handoff\ntype: forward-pass-closed\n```\n",
            ])],
        };
        let pieces = said.into_iter();
        let pieces = pieces.map(|(block, deltas)| Piece::Block(block, deltas));
        let used = Used {
            fresh: 18_000,
            cache_read: 1_000,
            cache_write: 1_000,
        };
        let pause = std::time::Duration::from_millis(30);
        Reply::Paced(pieces.collect(), Ending::Natural, used, pause)
    })
}

/// A flow with a page beside it, which stays while it waits: each question is answered by another process.
fn answered(place: &Place, more: &[&str], answer: impl Fn(&Value) -> Vec<String>) -> Said {
    let run = [&["run", "--ui", "--json"], more].concat();
    let mut child = place.start(&run);
    wait_until("it begins", || place.flow().is_some());
    let flow = place.flow().unwrap();
    let mut done: Vec<Value> = Vec::new();
    while child.try_wait().unwrap().is_none() {
        let status = place.status(&flow);
        let waits = status["waits"].as_array().into_iter().flatten();
        for wait in waits {
            let what = json!([wait["kind"], wait["ask"], wait["says"]]);
            if !done.contains(&what) {
                let words = answer(wait);
                let words = words.iter().map(|word| match word.as_str() {
                    "FLOW" => flow.as_str(),
                    word => word,
                });
                let words: Vec<&str> = words.collect();
                let said = place.run(&words);
                assert_eq!(said.code, 0, "{words:?}: {said:?}");
                done.push(what);
            }
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    ended(child)
}

/// A role that waits because another one met the limit of their provider.
fn held_back(held: &mut Held) {
    let (_server, place) = hurried::two_at_one_provider(4);
    let run = ["run", "demo/flow.yaml", "--json", "--until-waiting"];
    let said = place.run(&[&run[..], &["--improve", "none"]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    let lines = held.hold(&said);
    let second = of(&lines, "node").into_iter();
    let second = second.filter(|line| line["node"] == "second");
    let second: Vec<(&Value, &Value)> = second
        .map(|line| (&line["state"], &line["provider"]))
        .collect();
    let (works, held) = (json!("working"), json!("retrying"));
    assert_eq!(second[0], (&works, &Value::Null), "{lines:#?}");
    assert_eq!(second[1], (&held, &json!("p")), "{lines:#?}");
    assert_eq!(second[2], (&works, &Value::Null), "{lines:#?}");
}

/// Consent, its refusal with a reason, a budget, a question and its answer.
fn by_a_model(held: &mut Held) {
    let model = talks();
    let place = with_model_at(&model.url(), "anthropic");
    let run = ["demo/flow.yaml", "--budget", "45000"];
    let said = answered(&place, &run, |wait| {
        let ask = wait["ask"].as_str().unwrap();
        let words = match wait["kind"].as_str().unwrap() {
            "consent" if wait["says"].as_str().unwrap().contains("touch") => {
                vec!["deny", "FLOW", ask, "--reason", "Read the flow instead."]
            }
            "consent" => vec!["allow", "FLOW", ask],
            "budget" => vec!["budget", "FLOW", "tokens", "none"],
            _ => vec!["reply", "FLOW", "The second one."],
        };
        words.into_iter().map(str::to_owned).collect()
    });
    assert_eq!(said.code, 0, "{said:?}");
    let lines = held.hold(&said);
    assert_eq!(lines[0]["nodes"][0]["model"], "m");
    assert_eq!(states(&lines)[..3], ["working", "retrying", "working"]);
    let retry = of(&lines, "retry")[0];
    let tried = (&retry["provider"], &retry["attempt"], &retry["of"]);
    assert_eq!(tried, (&json!("p"), &json!(1), &json!(5)));
    let asks: Vec<&Value> = of(&lines, "ask").iter().map(|ask| &ask["kind"]).collect();
    let expected = ["consent", "budget", "consent", "consent", "text"];
    assert_eq!(asks, expected, "{lines:#?}");
    let keys = of(&lines, "ask")[0]["keys"].as_array().unwrap();
    let keys: Vec<&Value> = keys.iter().map(|answer| &answer["key"]).collect();
    assert_eq!(keys, ["y", "f", "n", "r"]);
    let answers = of(&lines, "answer").into_iter();
    let answers: Vec<(&Value, &Value)> = answers
        .map(|answer| (&answer["decision"], &answer["reason"]))
        .collect();
    let expected = [
        (&json!("deny"), &json!("Read the flow instead.")),
        (&json!("allow_once"), &Value::Null),
        (&json!("allow_once"), &Value::Null),
        (&json!("reply"), &json!("The second one.")),
    ];
    assert_eq!(answers, expected);
    // What a command prints does not make it so.
    let cut = of(&lines, "tool_end").into_iter();
    let cut = cut.filter(|end| end["tool"] == "run_command" && end["end"] != "denied");
    let cut: Vec<&Value> = cut.map(|end| &end["cut"]).collect();
    assert_eq!(cut, [true, false], "{lines:#?}");
    let kinds: BTreeSet<&str> = (of(&lines, "text").iter())
        .map(|text| text["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, BTreeSet::from(["say", "think"]));
    // The pieces of each answer, put together, are the answer.
    for said in of(&lines, "said") {
        let mut whole = String::new();
        let pieces = of(&lines, "text").into_iter();
        let pieces = pieces.filter(|text| text["message"] == said["message"]);
        for piece in pieces.filter(|text| text["kind"] == "say") {
            assert_eq!(piece["offset"], whole.len());
            whole.push_str(piece["delta"].as_str().unwrap());
        }
        assert_eq!(said["text"], whole);
    }
}

/// A provider that refuses its key.
fn refused(held: &mut Held) {
    let model = Server::by(|_, _| refusal(401, 0, "{}"));
    let place = with_model_at(&model.url(), "anthropic");
    let lines = runs(
        held,
        &place,
        &["run", "demo/flow.yaml", "--until-waiting"],
        10,
    );
    assert_eq!(of(&lines, "retry")[0].get("in_ms"), None);
    let keys = of(&lines, "ask")[0]["keys"].as_array().unwrap().clone();
    assert!(
        keys.iter().any(|answer| answer["decision"] == "retry"),
        "{keys:?}"
    );
}

/// A flow whose process is interrupted, one that is stopped, and one whose answer is cut off.
fn stopped(held: &mut Held) {
    let slow = SLOW.replace("every-ms: 8", "every-ms: 400");
    let place = Place::new(FLOW, &slow);
    let run = ["run", "demo/flow.yaml", "--improve", "none", "--json"];
    let child = place.start(&run);
    let streams = || {
        let flow = place.flow();
        flow.is_some_and(|flow| place.journal(&flow).contains("draft_added"))
    };
    wait_until("it streams", streams);
    signal(&child, "INT");
    let lines = held.hold(&ended(child));
    assert_eq!(states(&lines).last(), Some(&"stopped"));
    assert!(
        of(&lines, "note")
            .iter()
            .any(|note| note["code"] == "nobody_drives")
    );
    let flow = place.flow().unwrap();
    let child = place.start(&["resume", &flow, "--until-waiting", "--json"]);
    // Without a driver the command would write to the flow itself.
    let streams_again = || {
        let status = place.status(&flow);
        status["driven_by"].is_string() && status["running"][0]["standing"] == "working"
    };
    wait_until("it is driven again", streams_again);
    wait_until("it can be stopped", || {
        place.run(&["stop", &flow, "--all"]).code == 0
    });
    let lines = held.hold(&ended(child));
    assert!(states(&lines).contains(&"stopped"), "{lines:?}");
}

fn ended(child: std::process::Child) -> Said {
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Said {
        code: output.status.code().unwrap_or(-1),
        out: text(&output.stdout),
        err: text(&output.stderr),
    }
}

/// The examples, as far as each goes without an operator.
fn examples(held: &mut Held) {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let place = |name: &str| {
        let place = Place::new(FLOW, "");
        copy(&examples.join(name), &place.workspace.path().join("demo"));
        place
    };
    for name in [
        "command-roles",
        "fan-out",
        "hello",
        "interrupted",
        "review-loop",
    ] {
        let run = ["run", "demo/flow.yaml", "--until-waiting", "--json"];
        held.hold(&place(name).run(&run));
    }
    let run = ["run", "demo", "--until-waiting", "--json"];
    held.hold(&place("release-notes").run(&run));
}

/// A question, an approval, and a turn of the operator's own.
fn by_a_person(held: &mut Held) {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let place = Place::new(FLOW, "");
    copy(
        &examples.join("human-gate"),
        &place.workspace.path().join("demo"),
    );
    place.write("demo/approval.md", "Yes.\n");
    let said = answered(&place, &["demo/flow.yaml"], |wait| {
        let words = match (wait["kind"].as_str().unwrap(), wait["node"].as_str()) {
            ("approval", _) => vec!["approve", "FLOW"],
            (_, Some("sign")) => vec!["reply", "FLOW", "forward: approval.md"],
            _ => vec!["reply", "FLOW", "Twelve, inside."],
        };
        words.into_iter().map(str::to_owned).collect()
    });
    assert_eq!(said.code, 0, "{said:?}");
    let lines = held.hold(&said);
    let asks: Vec<&Value> = of(&lines, "ask").iter().map(|ask| &ask["kind"]).collect();
    assert_eq!(asks, ["text", "approval", "text"], "{lines:#?}");
    let decided = of(&lines, "answer").into_iter();
    let decided: Vec<&Value> = decided.map(|answer| &answer["decision"]).collect();
    assert_eq!(decided, ["reply", "approve", "reply"], "{lines:#?}");
    assert_eq!(lines.last().unwrap()["result"]["path"], "approval.md");
}

/// A role's program that a signal ends.
fn killed_by_a_signal(held: &mut Held) {
    let place = Place::new(super::shown_live::EXITS, "default: forward\n");
    let said = place.run(&["run", "demo/flow.yaml", "--improve", "none", "--json"]);
    assert_eq!(said.code, 8, "{said:?}");
    let lines = held.hold(&said);
    let ends = of(&lines, "tool_end");
    assert!(ends.iter().any(|end| end["signal"] == 9), "{ends:?}");
}

/// A chat of one message.
fn talked(held: &mut Held) {
    let model = super::chatted::Echo::start();
    let place = model.place();
    let said = place.run(&["chat", "--project", "demo", "--once", "Hello.", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let lines = held.hold(&said);
    assert_eq!(of(&lines, "flow")[0]["chat"], true);
}

#[test]
fn every_line_fits_the_schema_and_every_member_of_the_schema_is_printed() {
    let mut held = Held::new();
    by_a_model(&mut held);
    refused(&mut held);
    stopped(&mut held);
    let lines = held.hold(&compacting::compacted("--json"));
    assert!(states(&lines).contains(&"compacting"), "{lines:?}");
    let compact = of(&lines, "compact")[0];
    assert!(compact["to_tokens"].as_u64().unwrap() < compact["from_tokens"].as_u64().unwrap());
    held_back(&mut held);
    examples(&mut held);
    by_a_person(&mut held);
    killed_by_a_signal(&mut held);
    talked(&mut held);
    assert_eq!(held.never_met(), [""; 0]);
}

#[test]
fn the_schema_is_printed_and_is_the_documented_one() {
    let place = Place::new(FLOW, "");
    let said = place.run(&["schema", "--events"]);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/run-events.schema.json");
    assert_eq!(said.out, std::fs::read_to_string(file).unwrap());
}
