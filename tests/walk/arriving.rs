//! What a flow is asked to do arrives: in the request that leaves for a model, in what a program reads,
//! and as a file of the record folder, whichever door it came in by and however long it is.

use std::fmt::Write;

use serde_json::{Value, json};

use super::models::Model;
use super::place::Place;
use crate::served::client::Server;

/// One node, taken by a model that closes the flow at once.
const ALONE: &str = r"workflow:
  name: By a model
  nodes:
    - { id: do, role: owner, work: [ Do what is asked ] }
  edges: []
roles:
  owner: { instructions: You do it. }
";

/// A program keeps its input, a model hands on, and the program closes.
const AFTER: &str = r#"workflow:
  name: After a program
  nodes:
    - { id: keep, role: keeper }
    - { id: say, role: owner }
    - { id: close, role: keeper }
  edges:
    - { from: keep, to: say }
    - { from: say, to: close }
roles:
  keeper:
    executor: command
    command:
      run:
        - sh
        - -c
        - cd "$A_SOCIETY_RECORD" && cat > "told-$A_SOCIETY_NODE.json" && rm input.md && echo kept
  owner: { instructions: You hand it on. }
"#;

/// Around the size at which a text is kept in a file of its own, and far beyond it.
pub(super) const SIZES: [usize; 6] = [
    1,
    (64 << 10) - 1,
    64 << 10,
    (64 << 10) + 1,
    200 << 10,
    1 << 20,
];

/// A text of so many bytes that differs everywhere.
pub(super) fn text_of(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 16);
    let mut number = 0_u32;
    while text.len() < bytes {
        number += 1;
        write!(text, "word {number:x}, ").unwrap();
    }
    text.truncate(bytes - 1);
    text.push('.');
    text
}

/// A workspace whose models are this one, with room for everything.
pub(super) fn stage(model: &Model, flow: &str) -> Place {
    let place = Place::new(flow, "");
    std::fs::remove_file(place.workspace.path().join("demo/script.yaml")).unwrap();
    let config = format!(
        "providers:\n  p: {{ wire: anthropic, base-url: '{}' }}\n\
         models:\n  m: {{ provider: p, id: m, window: 4000000 }}\n\
         model: m\n",
        model.address()
    );
    place.write("config.yaml", &config);
    place
}

pub(super) fn closes(_: usize) -> Vec<(Value, Vec<Value>)> {
    Vec::new()
}

/// Hands a file on that every flow has.
pub(super) fn hands_on(_: usize) -> Vec<(Value, Vec<Value>)> {
    let text = "```handoff\n- target_node_id: close\n  artifact_path: record.yaml\n```\n";
    let delta = json!({ "type": "text_delta", "text": text });
    vec![(json!({ "type": "text", "text": "" }), vec![delta])]
}

/// Whether a message to the model of a request contains a text.
pub(super) fn is_told(request: &str, text: &str) -> bool {
    let request: Value = serde_json::from_str(request).unwrap();
    let messages = request["messages"].as_array().into_iter().flatten();
    let blocks = messages.flat_map(|message| {
        let content = &message["content"];
        let plain = || vec![json!({ "text": content })];
        content.as_array().cloned().unwrap_or_else(plain)
    });
    blocks
        .filter_map(|block| block["text"].as_str().map(str::to_owned))
        .any(|told| told.contains(text))
}

fn kept_input(place: &Place, project: &str) -> String {
    let flows = place.workspace.state().join(project);
    let flow = std::fs::read_dir(flows).unwrap().next().unwrap().unwrap();
    std::fs::read_to_string(flow.path().join("record/input.md")).unwrap()
}

#[test]
fn the_input_of_a_file_stands_in_the_request_and_in_the_record_however_long_it_is() {
    for bytes in SIZES {
        let model = Model::start_with(closes);
        let place = stage(&model, ALONE);
        let input = text_of(bytes);
        let words = ["run", "demo/flow.yaml", "--input", "-", "--improve", "none"];
        let said = place.workspace.run_with(&words, input.as_bytes());
        assert_eq!(said.code, 0, "{bytes}: {said:?}");
        let heard = model.heard();
        let whole = format!("<input>\n{input}\n</input>");
        assert!(is_told(&heard[0], &whole), "{bytes} bytes are not all told");
        assert_eq!(kept_input(&place, "demo"), input, "{bytes}");
    }
}

#[test]
fn the_input_of_a_flow_may_be_a_file_and_a_text_that_begins_with_the_sign_for_one_is_typed_with_two()
 {
    let model = Model::start_with(closes);
    let place = stage(&model, ALONE);
    let brief = text_of(200 << 10);
    place.write("brief.md", &brief);
    let path = place.workspace.path().join("brief.md");
    let file = format!("@{}", path.display());
    for (typed, input) in [
        (file.as_str(), brief.as_str()),
        ("@@home is open", "@home is open"),
    ] {
        let before = model.requests();
        let said = place.run(&[
            "run",
            "demo/flow.yaml",
            "--input",
            typed,
            "--improve",
            "none",
        ]);
        assert_eq!(said.code, 0, "{said:?}");
        let whole = format!("<input>\n{input}\n</input>");
        assert!(is_told(&model.heard()[before], &whole), "{typed}");
    }
    let words = [
        "run",
        "demo/flow.yaml",
        "--input",
        "@-",
        "--improve",
        "none",
    ];
    let said = place.workspace.run_with(&words, b"From elsewhere.");
    assert_eq!(said.code, 0, "{said:?}");
    assert!(is_told(
        &model.heard()[2],
        "<input>\nFrom elsewhere.\n</input>"
    ));
    place.write("empty.md", " \n");
    let empty = format!("@{}", place.workspace.path().join("empty.md").display());
    for (typed, code) in [("@nowhere.md", 3), (&empty, 2)] {
        let said = place.run(&["run", "demo/flow.yaml", "--input", typed]);
        assert_eq!(said.code, code, "{said:?}");
    }
    assert_eq!(model.requests(), 3);
}

#[test]
fn the_input_of_a_project_and_of_a_draft_stands_in_the_first_request() {
    let model = Model::start_with(closes);
    let place = stage(&model, ALONE);
    assert_eq!(place.run(&["init", "notes"]).code, 0);
    std::fs::remove_file(
        place
            .workspace
            .path()
            .join("notes/a-docs/workflow/script.yaml"),
    )
    .unwrap_or_default();
    let input = text_of(70_000);
    for words in [
        vec!["run", "notes", "--input", &input, "--until-waiting"],
        vec!["run", "--draft", "--input", &input, "--until-waiting"],
    ] {
        let before = model.requests();
        let said = place.run(&words);
        assert!(matches!(said.code, 0 | 8..=12), "{said:?}");
        let heard = model.heard();
        let whole = format!("<input>\n{input}\n</input>");
        assert!(is_told(&heard[before], &whole), "{}", words[1]);
    }
}

#[test]
fn the_input_of_a_flow_that_a_client_starts_stands_in_the_first_request() {
    for bytes in [9, 200 << 10, 3 << 20] {
        let model = Model::start_with(closes);
        let place = stage(&model, ALONE);
        let server = Server::start(&place.workspace, &[]);
        let input = text_of(bytes);
        let order = json!({ "from": { "file": "demo/flow.yaml" }, "input": input }).to_string();
        server.place.ask("POST", "/api/flows", &order).unwrap();
        super::place::wait_until("the model is asked", || model.requests() > 0);
        assert!(is_told(&model.heard()[0], &input), "{bytes}");
        assert_eq!(kept_input(&place, "demo"), input);
    }
}

#[test]
fn a_program_reads_the_input_and_a_later_node_where_it_stands_also_when_it_was_removed() {
    let model = Model::start_with(hands_on);
    let place = stage(&model, AFTER);
    let input = text_of(100_000);
    let said = place.run(&[
        "run",
        "demo/flow.yaml",
        "--input",
        &input,
        "--improve",
        "none",
    ]);
    assert_eq!(said.code, 0, "{said:?}");
    let folder = place.folder(&place.flow().unwrap());
    let told = std::fs::read_to_string(folder.join("record/told-keep.json")).unwrap();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert!(told["packet"].as_str().unwrap().contains(&input));
    let heard = model.heard();
    let line = "The flow's input is record/input.md; read it when you need it.";
    assert!(is_told(&heard[0], line), "{:.3000}", heard[0]);
    assert!(!heard[0].contains(&input));
    // Each program removed it: it was put back for the node after the first one.
    assert!(folder.join("record/told-close.json").exists());
}

#[test]
fn a_fork_and_an_imported_flow_have_the_input_too() {
    let model = Model::start_with(closes);
    let place = stage(&model, ALONE);
    let input = text_of(80_000);
    let words = ["run", "demo/flow.yaml", "--input", "-", "--improve", "none"];
    assert_eq!(place.workspace.run_with(&words, input.as_bytes()).code, 0);
    let flow = place.flow().unwrap();
    let forked = place.run(&["fork", &flow, "--at", "4", "--json"]);
    assert_eq!(forked.code, 0, "{forked:?}");
    let fork = forked.json()["flow"].as_str().unwrap().to_owned();
    let said = place.run(&["resume", &fork, "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(is_told(&model.heard()[1], &input));
    let kept = std::fs::read_to_string(place.folder(&fork).join("record/input.md"));
    assert_eq!(kept.unwrap(), input);
    assert_eq!(place.run(&["export", &flow, "flow.tar.zst"]).code, 0);
    let other = stage(&model, ALONE);
    std::fs::copy(
        place.workspace.path().join("flow.tar.zst"),
        other.workspace.path().join("flow.tar.zst"),
    )
    .unwrap();
    let said = other.run(&["import", "flow.tar.zst"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(kept_input(&other, "demo"), input);
}
