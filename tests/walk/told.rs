//! What a model gets, as it left: the whole request of each wire, endings by call and their repairs,
//! and a flow that was moved.

use std::path::Path;

use serde_json::{Value, json};

use super::models::{Model, call, calls, with_model, with_model_on};
use super::place::Place;
use crate::tidy::expect_generated;

/// Two roles, of which the second may send back.
const TWO: &str = r"workflow:
  name: Release notes
  nodes:
    - { id: plan, role: owner, work: [ Say what the release is about. ] }
    - { id: write, role: writer, work: [ Write the notes. ] }
    - { id: close, role: owner }
  edges:
    - { from: plan, to: write }
    - { from: write, to: close }
roles:
  owner: { instructions: You answer for the release. }
  writer: { instructions: You write for people who use the program. }
";

fn handoff(results: usize, node: &str, path: &str) -> (Value, Vec<Value>) {
    let targets = json!([{ "target_node_id": node, "artifact_path": path }]);
    call(results, "handoff", json!({ "targets": targets }))
}

fn write(results: usize, path: &str) -> (Value, Vec<Value>) {
    let input = json!({ "path": path, "content": format!("What {path} says.\n") });
    call(results, "write_file", input)
}

fn log(place: &Place, flow: &str) -> String {
    place.run(&["log", flow, "--json"]).out
}

fn walked(model: &Model, flow: &str) -> (Place, String) {
    let place = with_model(model);
    place.write("demo/flow.yaml", flow);
    let said = place.run(&["run", "demo/flow.yaml", "--until-waiting"]);
    let id = place.flow().unwrap();
    if said.code == 8 {
        assert_eq!(place.run(&["mode", &id, "full-access"]).code, 0);
        let said = place.run(&["resume", &id, "--until-waiting", "--improve", "none"]);
        assert_eq!(said.code, 0, "{said:?}");
    }
    (place, id)
}

/// The model of one node ends it by a call; in each request the results of the session count.
fn ends_by_calls(results: usize) -> Vec<(Value, Vec<Value>)> {
    match results {
        0 => vec![write(0, "record/log.md")],
        1 => vec![call(1, "handoff", json!({ "type": "forward-pass-closed" }))],
        _ => Vec::new(),
    }
}

#[test]
fn a_turn_ends_by_a_call_and_every_call_has_its_result() {
    let model = Model::start_with(ends_by_calls);
    let (place, flow) = walked(&model, super::models::FLOW);
    let ends = calls(&place, &flow);
    let expected = [("write_file", "done"), ("handoff", "done")];
    let expected = expected.map(|(tool, end)| (tool.to_owned(), end.to_owned()));
    assert_eq!(ends, expected);
    assert!(log(&place, &flow).contains("Handed off."));
    // The end of the turn needed no further request.
    assert_eq!(model.requests(), 2, "{:?}", model.heard());
    assert_eq!(place.status(&flow)["status"], "completed");
}

#[test]
fn a_handoff_beside_a_failing_call_waits_until_that_was_read() {
    let model = Model::start_with(|results| match results {
        0 => vec![
            call(0, "read_file", json!({ "path": "none.md" })),
            call(1, "handoff", json!({ "type": "forward-pass-closed" })),
        ],
        2 => vec![call(2, "handoff", json!({ "type": "forward-pass-closed" }))],
        _ => Vec::new(),
    });
    let (_place, _) = walked(&model, super::models::FLOW);
    let heard = model.heard();
    assert_eq!(heard.len(), 2);
    let why = "Not handed off: call 1 failed. Read its result first.";
    assert!(heard[1].contains(why), "{}", heard[1]);
}

#[test]
fn a_closed_ending_is_one_request_that_says_what_would_be_right() {
    let model = Model::start_with(|results| match results {
        // No node of the graph, a file that is not there, and then what is right.
        0 => vec![handoff(0, "writer", "record/brief.md")],
        1 => vec![write(1, "brief.md")],
        2 => vec![handoff(2, "write", "record/brief.md")],
        3 => vec![call(3, "handoff", json!({ "type": "await-handoff" }))],
        _ => Vec::new(),
    });
    let place = with_model(&model);
    place.write("demo/flow.yaml", TWO);
    let flow = place.run_until_it_waits();
    place.run(&["mode", &flow, "full-access"]);
    place.run(&["resume", &flow, "--until-waiting"]);
    let heard = model.heard();
    let repair = &heard[1];
    for said in [
        "Not handed off.",
        "Your turn has not ended; nothing was handed off. Problem: there is no node `writer`",
        "[invalid_transition]",
        "- forward to `write` (owed)",
        r#"handoff {\\\"targets\\\":[{\\\"target_node_id\\\":\\\"write\\\",\\\"artifact_path\\\":\\\"record/brief.md\\\"}]}"#,
    ] {
        assert!(
            repair.contains(&said.replace(r"\\\", r"\")),
            "{said} in {repair}"
        );
    }
    let repair = heard
        .iter()
        .find(|body| body.contains("exists in the project"))
        .unwrap();
    assert!(
        repair.contains(r#"\"artifact_path\":\"brief.md\""#),
        "{repair}"
    );
}

#[test]
fn the_operator_is_asked_by_a_call_and_the_choice_arrives_once() {
    let model = Model::start_with(|results| match results {
        0 => vec![call(
            0,
            "ask_operator",
            json!({ "question": "Which one?", "choices": ["drop it", "keep both"] }),
        )],
        1 => vec![call(1, "handoff", json!({ "type": "forward-pass-closed" }))],
        _ => Vec::new(),
    });
    let place = with_model(&model);
    let said = place.run(&["run", "demo/flow.yaml", "--until-waiting"]);
    assert_eq!(said.code, 8, "{said:?}");
    for line in ["Which one?", "1. drop it", "2. keep both"] {
        assert!(said.err.contains(line), "{line} in {}", said.err);
    }
    let flow = place.flow().unwrap();
    let recorded = log(&place, &flow);
    assert!(
        recorded.contains(r#""choices":["drop it","keep both"]"#),
        "{recorded}"
    );
    assert_eq!(place.run(&["reply", &flow, "2"]).code, 0);
    let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
    let heard = model.heard();
    assert_eq!(heard.len(), 2);
    assert!(heard[1].contains("Asked. Your turn ends here."));
    assert_eq!(
        heard[1].matches("Choice 2: keep both.").count(),
        1,
        "{}",
        heard[1]
    );
}

#[test]
fn a_moved_flow_is_told_its_new_folder_in_the_environment_alone() {
    let model = Model::start_with(|results| match results {
        0 => vec![call(0, "ask_operator", json!({ "question": "Go on?" }))],
        1 => vec![write(1, "record/log.md")],
        2 => vec![call(2, "handoff", json!({ "type": "forward-pass-closed" }))],
        _ => Vec::new(),
    });
    let place = with_model(&model);
    assert_eq!(
        place
            .run(&["run", "demo/flow.yaml", "--until-waiting"])
            .code,
        8
    );
    let flow = place.flow().unwrap();
    let old = place.workspace.path().to_owned();
    let log_before = log(&place, &flow);
    assert!(
        !log_before.contains(&*old.to_string_lossy()),
        "{log_before}"
    );
    place.run(&["mode", &flow, "full-access"]);
    place.run(&["reply", &flow, "yes"]);

    let moved = tempfile::tempdir().unwrap();
    let new = moved.path().join("elsewhere");
    copied(&old, &new);
    let run = |words: &[&str]| {
        let mut command = place.workspace.command(words);
        command.current_dir(&new).output().unwrap()
    };
    let said = run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
    assert!(said.status.success(), "{said:?}");
    let file = new.join(format!(".a-society/state/demo/{flow}/record/log.md"));
    assert_eq!(
        std::fs::read_to_string(file).unwrap(),
        "What record/log.md says.\n"
    );
    let heard = model.heard();
    assert_eq!(heard.len(), 3, "no request was spent on a repair");
    for body in &heard[1..] {
        let body: Value = serde_json::from_str(body).unwrap();
        assert!(
            !body.to_string().contains(&*old.to_string_lossy()),
            "{body}"
        );
        let parts = body["system"].as_array().unwrap();
        assert_eq!(parts.len(), 2);
        let folder = new.join("demo").display().to_string();
        assert_eq!(body.to_string().matches(&folder).count(), 1);
        assert!(parts[1]["text"].as_str().unwrap().contains(&folder));
        assert_eq!(parts[0]["cache_control"]["type"], "ephemeral");
    }
}

/// A folder as `cp -r` copies it.
pub(super) fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            copied(&entry.path(), &target);
        } else if kind.is_file() {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// What the system prompt and the tools of a plain role may take, at four characters a token.
const PLAIN_ROLE_CHARS: usize = 8_000;

/// The first request of a flow over a wire, as it left.
fn request_over(wire: &str) -> (String, Place) {
    let model = Model::start_refusing(|_| Vec::new(), |_| Some((401, "{}".to_owned())));
    let place = with_model_on(&model, wire);
    place.write("demo/flow.yaml", TWO);
    let said = place.run(&["run", "demo/flow.yaml", "--until-waiting"]);
    assert_eq!(said.code, 10, "{said:?}");
    (model.heard().remove(0), place)
}

#[test]
fn generated_files_show_one_whole_request_of_each_wire() {
    let mut page = String::from(PAGE);
    for (wire, name) in [
        ("anthropic", "Anthropic Messages"),
        ("openai-responses", "OpenAI Responses"),
        ("openai-chat", "Chat Completions"),
    ] {
        let (body, place) = request_over(wire);
        let body = anywhere(&body, &place);
        if wire == "anthropic" {
            let parsed: Value = serde_json::from_str(&body).unwrap();
            let system = parsed["system"].as_array().unwrap();
            let system = system.iter().map(|it| it["text"].as_str().unwrap().len());
            // Tools of the web are there where they are configured.
            let tools = parsed["tools"].as_array().unwrap().iter();
            let tools = tools.filter(|it| it["name"] != "fetch_url");
            let tools: usize = tools.map(|it| it.to_string().len()).sum();
            let chars = system.sum::<usize>() + tools;
            assert!(chars <= PLAIN_ROLE_CHARS, "{chars} characters");
        }
        page += &["\n## ", name, "\n\n````text\n", &spread(&body), "\n````\n"].concat();
    }
    expect_generated("docs/prompts.md", &page);
}

const PAGE: &str = "\
# What a model reads

The first request of a flow over each wire, whole and as it left; a test compares this page with what the
program sends. Tools and the first part of the system prompt are the same in every flow of a role, so that
providers find them in their caches. What differs between flows and machines is in the
part `# Environment`, and what differs from turn to turn in the messages. Line breaks within texts are shown
as such.
";

/// A request without what only this run has: its folder, its day, its time.
fn anywhere(body: &str, place: &Place) -> String {
    let folder = place.workspace.path().join("demo").display().to_string();
    let body = body.replace(&folder, "/srv/demo");
    let body = body.replace("macOS, bash", "Linux, bash");
    let mut out = String::new();
    let mut rest = body.as_str();
    for (before, until, instead) in [
        ("Linux, bash, ", ".", "2026-05-27"),
        ("It is ", ".\\n", "2026-05-27T14:30:00.000Z"),
    ] {
        if let Some(at) = rest.find(before) {
            let (head, tail) = rest.split_at(at + before.len());
            out.push_str(head);
            out.push_str(instead);
            rest = &tail[tail.find(until).unwrap()..];
        }
    }
    out + rest
}

/// JSON over several lines, in its own order, with the line breaks of its texts.
fn spread(json: &str) -> String {
    let (mut out, mut depth, mut in_text, mut escaped) = (String::new(), 0, false, false);
    let newline = |out: &mut String, depth: usize| {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    };
    for letter in json.chars() {
        if in_text {
            match (escaped, letter) {
                (true, 'n') => {
                    out.pop();
                    out.push('\n');
                }
                (true, '"') => {
                    out.pop();
                    out.push('"');
                }
                (_, letter) => out.push(letter),
            }
            in_text = letter != '"' || escaped;
            escaped = letter == '\\' && !escaped;
            continue;
        }
        match letter {
            '"' => {
                in_text = true;
                out.push(letter);
            }
            '{' | '[' => {
                depth += 1;
                out.push(letter);
                newline(&mut out, depth);
            }
            '}' | ']' => {
                depth -= 1;
                newline(&mut out, depth);
                out.push(letter);
            }
            ',' => {
                out.push(letter);
                newline(&mut out, depth);
            }
            ':' => out.push_str(": "),
            letter => out.push(letter),
        }
    }
    out.lines()
        .map(str::trim_end)
        .collect::<Vec<_>>()
        .join("\n")
}
