//! What a flow made is handed to who asked for it: on standard output, in a file, in JSON.

use serde_json::{Value, json};

use super::arriving::stage;
use super::models::{Model, call};
use super::place::{ASKING, FLOW, Place};

/// The writer hands over its notes, and the owner closes.
const WRITING: &str = r"default: forward
script:
  - node: write
    say:
      - write: { path: notes.md, text: 'The notes.' }
      - handoff: { to: close, artifact: notes.md }
";

#[test]
fn what_the_closing_node_was_handed_last_is_all_that_stands_on_stdout() {
    let place = Place::new(FLOW, WRITING);
    let run = ["run", "demo/flow.yaml", "--improve", "none"];
    let said = place.run(&[&run[..], &["--output", "-"]].concat());
    assert_eq!(
        (said.code, said.out.as_str()),
        (0, "The notes."),
        "{said:?}"
    );
    assert!(said.err.contains("delivered: record/notes.md"), "{said:?}");
    // A pipe gets the same without an option, and the progress goes to standard error.
    let said = place.run(&run);
    assert_eq!(
        (said.code, said.out.as_str()),
        (0, "The notes."),
        "{said:?}"
    );
    assert!(
        said.err.contains("delivered: record/notes.md (10 B)")
            && said.err.contains("write (writer)  begins"),
        "{said:?}"
    );
    let said = place.run(&[&run[..], &["--quiet"]].concat());
    assert_eq!(
        (said.code, said.out.as_str(), said.err.as_str()),
        (0, "The notes.", "")
    );
    let refused = place.run(&[&run[..], &["--quiet", "--json"]].concat());
    assert_eq!(refused.code, 2, "{refused:?}");
    // A later look finds it, too.
    let flow = place.flow().unwrap();
    let status = place.run(&["status", &flow]).out;
    assert!(
        status.contains("delivered: record/notes.md (10 B)"),
        "{status}"
    );
    let shown = place.run(&["show", &flow]).out;
    let row = shown.lines().find(|line| line.contains("delivered"));
    assert!(
        row.is_some_and(|row| row.ends_with("record/notes.md (10 B)")),
        "{shown}"
    );
    for verb in ["status", "show"] {
        let made = place.run(&[verb, &flow, "--json"]).json()["delivered"].clone();
        assert_eq!(
            (&made["path"], &made["bytes"]),
            (&json!("record/notes.md"), &json!(10))
        );
        let file = made["file"].as_str().unwrap();
        assert!(file.ends_with(&format!("{flow}/record/notes.md")), "{file}");
    }
    let said = place.run(&[&run[..], &["--json"]].concat());
    let lines: Vec<Value> = said
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (first, last) = (&lines[0], &lines[lines.len() - 1]);
    assert_eq!(first["event"], "flow");
    assert_eq!(
        (&first["flow"], &first["project"]),
        (&last["flow"], &last["project"])
    );
    assert_eq!(last["result"]["path"], "record/notes.md");
    assert_eq!(last["result"]["text"], "The notes.");
    assert_eq!(last["result"]["node"], "close");
}

#[test]
fn a_file_that_is_there_is_refused_before_the_flow_begins_unless_it_may_be_replaced() {
    let place = Place::new(FLOW, WRITING);
    place.write("out.md", "mine");
    let run = [
        "run",
        "demo/flow.yaml",
        "--improve",
        "none",
        "--output",
        "out.md",
    ];
    let said = place.run(&run);
    assert_eq!(said.code, 6, "{said:?}");
    assert!(place.flow().is_none(), "it began");
    let out = place.workspace.path().join("out.md");
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "mine");
    let said = place.run(&[&run[..], &["--force"]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "The notes.");
}

#[test]
fn a_file_in_a_folder_that_is_not_there_is_refused_before_the_flow_begins() {
    let place = Place::new(FLOW, WRITING);
    let said = place.run(&["run", "demo/flow.yaml", "--output", "missing/out.md"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.err.contains("missing/out.md"), "{said:?}");
    assert!(place.flow().is_none(), "it began");
}

#[test]
fn looking_whether_a_file_can_be_written_leaves_nothing_beside_it() {
    let place = Place::new(FLOW, ASKING);
    std::fs::create_dir(place.workspace.path().join("out")).unwrap();
    place.write("out/mine.md", "mine");
    let said = place.run(&["run", "demo/flow.yaml", "--output", "out/notes.md"]);
    assert_eq!(said.code, 8, "{said:?}");
    let there = std::fs::read_dir(place.workspace.path().join("out")).unwrap();
    let there: Vec<_> = there.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(
        there,
        ["mine.md"],
        "the flow waits and has delivered nothing"
    );
}

#[test]
fn a_flow_that_waits_delivers_when_it_is_resumed() {
    let place = Place::new(FLOW, ASKING);
    let said = place.run(&["run", "demo/flow.yaml", "--output", "-"]);
    assert_eq!((said.code, said.out.as_str()), (8, ""), "{said:?}");
    assert!(said.err.contains("nothing is delivered yet"), "{said:?}");
    let flow = place.flow().unwrap();
    for verb in ["status", "show"] {
        let said = place.run(&[verb, &flow, "--json"]).json();
        assert_eq!(said["delivered"], Value::Null, "{verb}");
        assert!(
            !place.run(&[verb, &flow]).out.contains("delivered"),
            "{verb}"
        );
    }
    assert_eq!(place.run(&["reply", &flow, "Blue."]).code, 0);
    let said = place.run(&["resume", &flow, "--improve", "none", "--output", "-"]);
    assert_eq!(
        (said.code, said.out.as_str()),
        (0, "Blue notes."),
        "{said:?}"
    );
}

const ALONE: &str = r"workflow:
  name: Alone
  nodes:
    - { id: do, role: owner, work: [ Write it ] }
  edges: []
roles:
  owner: { instructions: You write. }
";

fn writes(results: usize) -> Vec<(Value, Vec<Value>)> {
    let write = |path: &str, text: &str| {
        vec![call(
            results,
            "write_file",
            json!({ "path": path, "content": text }),
        )]
    };
    match results {
        0 => write("draft.md", "A draft.\n"),
        1 => write("final.md", "The last word.\n"),
        _ => Vec::new(),
    }
}

#[test]
fn what_the_closing_node_wrote_last_in_its_last_turn_is_delivered() {
    let model = Model::start_with(writes);
    let place = stage(&model, ALONE);
    assert_eq!(
        place
            .run(&["run", "demo/flow.yaml", "--until-waiting"])
            .code,
        9
    );
    let flow = place.flow().unwrap();
    assert_eq!(place.run(&["mode", &flow, "full-access"]).code, 0);
    let said = place.run(&["resume", &flow, "--improve", "none", "--output", "-"]);
    assert_eq!(
        (said.code, said.out.as_str()),
        (0, "The last word.\n"),
        "{said:?}"
    );
    assert!(said.err.contains("delivered: final.md"), "{said:?}");
}

#[test]
fn a_flow_that_is_over_without_a_file_says_so_where_one_was_wanted() {
    let model = Model::start_with(super::arriving::closes);
    let place = stage(&model, ALONE);
    let said = place.run(&[
        "run",
        "demo/flow.yaml",
        "--improve",
        "none",
        "--output",
        "-",
    ]);
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{said:?}");
    assert!(said.err.contains("delivered no file"), "{said:?}");
}
