//! Every text that enters a session reaches its model whole and is whole in its transcript, in a
//! process that was there and in one that reads the journal.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use a_society_stand_in::{Ending, Server as Provider};
use serde_json::{Value, json};

use super::arriving::{SIZES, is_told, stage, text_of};
use super::models::{Model, call};
use super::place::{Place, wait_until};
use crate::served::client::Server;

const TALK: &str = r"workflow:
  name: A talk
  nodes:
    - { id: talk, role: owner, work: [ Talk ] }
  edges: []
roles:
  owner: { instructions: You talk. }
";

/// How long the next answer is.
static SAYS_BYTES: AtomicUsize = AtomicUsize::new(1);

/// Says a text of that length, and asks.
fn says_and_asks(_: usize) -> Vec<(Value, Vec<Value>)> {
    let mut text = text_of(SAYS_BYTES.load(Ordering::SeqCst));
    text.push_str("\n\n```handoff\ntype: prompt-human\n```\n");
    let letters: Vec<char> = text.chars().collect();
    let deltas = letters.chunks(8 << 10).map(|piece| {
        let piece: String = piece.iter().collect();
        json!({ "type": "text_delta", "text": piece })
    });
    vec![(json!({ "type": "text", "text": "" }), deltas.collect())]
}

fn transcript(place: &Place, flow: &str, role: &str) -> Value {
    let path = place
        .folder(flow)
        .join(format!("roles/{role}/transcript.json"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Whether a message of a transcript's history begins with a text.
fn holds(transcript: &Value, text: &str) -> bool {
    let messages = transcript["transcriptHistory"].as_array().unwrap();
    messages.iter().any(|message| {
        let content = message["content"].as_str().unwrap_or_default();
        content.starts_with(text)
    })
}

#[test]
fn replies_and_answers_of_every_size_are_told_whole_by_processes_that_only_read_of_them() {
    let model = Model::start_with(says_and_asks);
    let place = stage(&model, TALK);
    let flow = place.run_until_it_waits();
    let reply = |bytes: usize| words_of('R', bytes);
    for bytes in SIZES {
        SAYS_BYTES.store(bytes, Ordering::SeqCst);
        let words = ["reply", flow.as_str(), "-"];
        let said = place.workspace.run_with(&words, reply(bytes).as_bytes());
        assert_eq!(said.code, 0, "{bytes}: {said:?}");
        // Each is a process of its own.
        let said = place.run(&["resume", &flow, "--until-waiting"]);
        assert_eq!(said.code, 8, "{bytes}: {said:?}");
        let last = model.heard().pop().unwrap();
        assert!(is_told(&last, &reply(bytes)), "{bytes} bytes of a reply");
    }
    let said = place.run(&["reply", &flow, "the end"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(place.run(&["resume", &flow, "--until-waiting"]).code, 8);
    let (last, kept) = (
        model.heard().pop().unwrap(),
        transcript(&place, &flow, "owner"),
    );
    for bytes in SIZES {
        assert!(is_told(&last, &reply(bytes)), "{bytes} bytes of a reply");
        assert!(
            is_told(&last, &text_of(bytes)),
            "{bytes} bytes of an answer"
        );
        assert!(
            holds(&kept, &reply(bytes)),
            "{bytes} bytes of a reply are kept"
        );
        assert!(
            holds(&kept, &text_of(bytes)),
            "{bytes} bytes of an answer are kept"
        );
    }
    // The file comes back with the same bytes.
    let path = place.folder(&flow).join("roles/owner/transcript.json");
    let before = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(place.run(&["rebuild", &flow]).code, 0);
    assert!(
        std::fs::read(&path).unwrap() == before,
        "it was written otherwise"
    );
    assert_eq!(place.run(&["verify", &flow]).code, 0);
}

#[test]
fn a_node_behind_two_hundred_reads_what_all_of_them_hand_over() {
    const NODES: usize = 200;
    let mut nodes = String::new();
    let mut edges = String::new();
    for n in 0..NODES {
        writeln!(nodes, "    - {{ id: n{n}, role: worker_{} }}", n + 1).unwrap();
        writeln!(edges, "    - {{ from: begin, to: n{n} }}").unwrap();
        writeln!(edges, "    - {{ from: n{n}, to: join }}").unwrap();
    }
    let command =
        "executor: command\n    command:\n      run: [sh, -c, 'echo made by $A_SOCIETY_NODE.']";
    let flow = format!(
        "workflow:\n  name: Wide\n  nodes:\n    - {{ id: begin, role: owner }}\n{nodes}    \
         - {{ id: join, role: reader, await-all-inputs: true }}\n    - {{ id: close, role: owner }}\n  \
         edges:\n{edges}    - {{ from: join, to: close }}\nroles:\n  owner:\n    {command}\n  \
         worker:\n    {command}\n  reader: {{ instructions: You read. }}\n"
    );
    let model = Model::start_with(super::arriving::hands_on);
    let place = stage(&model, &flow);
    let said = place.run(&["run", "demo/flow.yaml", "--improve", "none"]);
    let end = said.out.len().saturating_sub(600);
    assert_eq!(said.code, 0, "{}", &said.out[end..]);
    let last = model.heard().pop().unwrap();
    let missing = (0..NODES).filter(|n| !is_told(&last, &format!("made by n{n}.")));
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<usize>::new());
}

/// Runs one command that must be asked about, and closes after it.
fn asks_to_run(results: usize) -> Vec<(Value, Vec<Value>)> {
    match results % super::models::SPOKEN {
        0 => vec![call(0, "run_command", json!({ "command": "true" }))],
        _ => Vec::new(),
    }
}

#[test]
fn words_of_the_operator_to_a_role_at_work_are_told_whole_whatever_their_size() {
    let model = Model::start_with(asks_to_run);
    let place = stage(&model, TALK);
    let flow = place.run_until_it_waits();
    let words = |bytes: usize| words_of('S', bytes);
    for bytes in SIZES {
        let steer = ["steer", flow.as_str(), "owner", "-"];
        let said = place.workspace.run_with(&steer, words(bytes).as_bytes());
        assert_eq!(said.code, 0, "{bytes}: {said:?}");
    }
    assert_eq!(place.run(&["allow", &flow]).code, 0);
    let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
    let last = model.heard().pop().unwrap();
    let kept = transcript(&place, &flow, "owner");
    for bytes in SIZES {
        let whole = format!("<operator>{}</operator>", words(bytes));
        assert!(is_told(&last, &whole), "{bytes} bytes are not all told");
        assert!(holds(&kept, &whole), "{bytes} bytes are not all kept");
    }
    assert_eq!(place.run(&["verify", &flow]).code, 0);
}

/// Asks whatever it is asked.
fn asks_again(_: usize) -> Vec<(Value, Vec<Value>)> {
    vec![super::models::says(&[
        "What now?\n\n```handoff\ntype: prompt-human\n```\n",
    ])]
}

/// Waits until a flow that another process drives asks its operator, after so many requests.
fn waits_after(place: &Place, model: &Model, flow: &str, requests: usize) {
    wait_until("the role asks", || {
        model.requests() == requests && !place.status(flow)["waits"][0].is_null()
    });
}

/// Words of so many bytes that no other words begin with.
fn words_of(letter: char, bytes: usize) -> String {
    match bytes {
        1 => "?".to_owned(),
        _ => format!("{letter}{}", text_of(bytes - 1)),
    }
}

#[test]
fn a_process_that_drives_a_flow_takes_replies_of_every_size_and_what_is_too_long_says_so() {
    let model = Model::start_with(asks_again);
    let place = stage(&model, TALK);
    let flow = place.run_until_it_waits();
    let _driver = Server::start(&place.workspace, &["--resume"]);
    let reply = ["reply", flow.as_str(), "-", "--json"];
    for (heard, bytes) in SIZES.into_iter().enumerate() {
        waits_after(&place, &model, &flow, heard + 1);
        let words = words_of('R', bytes);
        let said = place.workspace.run_with(&reply, words.as_bytes());
        assert_eq!(said.json()["driven"], true, "{bytes}: {said:?}");
        waits_after(&place, &model, &flow, heard + 2);
        let last = model.heard().pop().unwrap();
        assert!(is_told(&last, &words), "{bytes} bytes of a reply");
    }
    // Quotes take two bytes each on their way.
    let said = place.workspace.run_with(&reply, &vec![b'"'; 9 << 20]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("longer than 16 MiB"), "{}", said.err);
    assert!(!said.err.contains("version"), "{}", said.err);
    assert_eq!(model.requests(), SIZES.len() + 1);
}

#[test]
fn a_process_that_drives_a_flow_takes_words_of_every_size_for_a_role_at_work() {
    let model = Model::start_with(asks_to_run);
    let place = stage(&model, TALK);
    let flow = place.run_until_it_waits();
    let _driver = Server::start(&place.workspace, &["--resume"]);
    for bytes in SIZES {
        let steer = ["steer", flow.as_str(), "owner", "-", "--json"];
        let words = words_of('S', bytes);
        let said = place.workspace.run_with(&steer, words.as_bytes());
        assert_eq!(said.json()["driven"], true, "{bytes}: {said:?}");
    }
    assert_eq!(place.run(&["allow", &flow]).code, 0);
    wait_until("it is done", || model.requests() == 2);
    let last = model.heard().pop().unwrap();
    for bytes in SIZES {
        let whole = format!("<operator>{}</operator>", words_of('S', bytes));
        assert!(is_told(&last, &whole), "{bytes} bytes are not all told");
    }
}

/// Asks to run another command each time.
fn asks_for_another(results: usize) -> Vec<(Value, Vec<Value>)> {
    let command = json!({ "command": format!("echo {results} >> log.txt") });
    vec![call(results, "run_command", command)]
}

/// Whether the last result of a tool, or the last message, of a request contains a text.
fn ends_with(request: &str, text: &str) -> bool {
    let request: Value = serde_json::from_str(request).unwrap();
    let last = request["messages"].as_array().unwrap().last().unwrap();
    let written = serde_json::to_string(text).unwrap();
    last.to_string().contains(written.trim_matches('"'))
}

/// Has a flow wait again and again, each time answered by this command with words of another size.
fn answers_are_whole(script: super::models::Script, flow: &str, command: &[&str], code: i32) {
    let model = Model::start_with(script);
    let place = stage(&model, flow);
    let flow = place.run_until_it_waits();
    let command = [&[command[0], flow.as_str()], &command[1..]].concat();
    for bytes in SIZES {
        let words = words_of('W', bytes);
        let said = place.workspace.run_with(&command, words.as_bytes());
        assert_eq!(said.code, 0, "{bytes}: {said:?}");
        let said = place.run(&["resume", &flow, "--until-waiting"]);
        assert_eq!(said.code, code, "{bytes}: {said:?}");
        let heard = model.heard();
        // What the model says next may have needed a request of its own.
        let is_whole = heard.iter().rev().take(2).any(|it| ends_with(it, &words));
        assert!(is_whole, "{bytes} bytes after {command:?}");
    }
    assert_eq!(place.run(&["verify", &flow]).code, 0);
}

#[test]
fn the_reason_of_a_denied_call_is_read_whole_whatever_its_size() {
    answers_are_whole(asks_for_another, TALK, &["deny", "--reason", "-"], 9);
}

/// Asks the operator another question each time.
fn asks_the_operator(results: usize) -> Vec<(Value, Vec<Value>)> {
    let question = format!("Which one, {results}?");
    vec![call(
        results,
        "ask_operator",
        json!({ "question": question }),
    )]
}

#[test]
fn the_answer_to_a_question_of_a_model_is_read_whole_whatever_its_size() {
    answers_are_whole(asks_the_operator, TALK, &["reply", "-"], 8);
}

const GATED: &str = r"workflow:
  name: Behind a gate
  nodes:
    - { id: write, role: owner, human-colab: true }
    - { id: close, role: owner }
  edges: [ { from: write, to: close } ]
roles:
  owner: { instructions: You write. }
";

/// Writes another version each time, and hands it off.
fn hands_off_again(results: usize) -> Vec<(Value, Vec<Value>)> {
    let path = format!("record/notes-{}.md", results / 2);
    if results.is_multiple_of(2) {
        let input = json!({ "path": path, "content": "The notes.\n" });
        return vec![call(results, "write_file", input)];
    }
    let targets = json!([{ "target_node_id": "close", "artifact_path": path }]);
    vec![call(results, "handoff", json!({ "targets": targets }))]
}

#[test]
fn the_reason_of_a_declined_handoff_is_read_whole_whatever_its_size() {
    answers_are_whole(hands_off_again, GATED, &["decline", "--reason", "-"], 8);
}

const BACK_AND_FORTH: &str = r"workflow:
  name: Back and forth
  nodes:
    - { id: plan, role: owner }
    - { id: write, role: writer }
    - { id: close, role: owner }
  edges: [ { from: plan, to: write }, { from: write, to: close } ]
roles:
  owner: { instructions: You plan. }
  writer: { instructions: You write. }
";

#[test]
fn artifacts_that_are_handed_on_and_back_are_read_whole_whatever_their_size() {
    for bytes in SIZES {
        let provider = Provider::by(|_, number| {
            let ending = match number {
                1 => "- target_node_id: write\n  artifact_path: on.md",
                2 => "- target_node_id: plan\n  artifact_path: back.md",
                _ => "type: prompt-human",
            };
            let text = format!("Here.\n\n```handoff\n{ending}\n```\n");
            super::models::streamed(vec![super::models::says(&[&text])], Ending::Natural, 100)
        });
        let place = super::models::with_model_at(&provider.url(), "anthropic");
        let config = std::fs::read_to_string(place.workspace.path().join("config.yaml")).unwrap();
        place.write("config.yaml", &config.replace("100000", "4000000"));
        place.write("demo/flow.yaml", BACK_AND_FORTH);
        for (name, letter) in [("on", 'O'), ("back", 'B')] {
            place.write(&format!("demo/{name}.md"), &words_of(letter, bytes));
        }
        let said = place.run(&["run", "demo/flow.yaml", "--until-waiting"]);
        assert_eq!(said.code, 8, "{bytes}: {said:?}");
        let seen = provider.seen();
        assert_eq!(seen.len(), 3, "{bytes}");
        for (at, opens, path, letter) in [
            (1, "received from=\"plan\"", "on.md", 'O'),
            (2, "returned from=\"write\"", "back.md", 'B'),
        ] {
            let words = words_of(letter, bytes);
            let whole = format!("<{opens} path=\"{path}\">\n{words}\n</");
            assert!(is_told(&seen[at].text, &whole), "{bytes} bytes of {path}");
        }
    }
}

/// Prints a file of each size, and closes.
fn prints(results: usize) -> Vec<(Value, Vec<Value>)> {
    match SIZES.get(results) {
        Some(bytes) => {
            let command = format!("cat size-{bytes}.txt");
            vec![call(results, "run_command", json!({ "command": command }))]
        }
        None => Vec::new(),
    }
}

/// The results of tools in a request, in order.
fn results(request: &str) -> Vec<String> {
    let request: Value = serde_json::from_str(request).unwrap();
    let messages = request["messages"].as_array().unwrap().iter();
    let blocks = messages.filter_map(|message| message["content"].as_array());
    let results = blocks.flatten().filter(|it| it["type"] == "tool_result");
    let texts = results.map(|it| {
        let parts = it["content"][0]["text"].as_str();
        parts.or(it["content"].as_str()).unwrap().to_owned()
    });
    texts.collect()
}

#[test]
fn what_a_command_prints_is_told_whole_or_kept_whole_in_a_file_that_its_result_names() {
    let model = Model::start_with(prints);
    let place = stage(&model, TALK);
    for bytes in SIZES {
        place.write(&format!("demo/size-{bytes}.txt"), &text_of(bytes));
    }
    let flow = place.run_until_it_waits();
    assert_eq!(place.run(&["mode", &flow, "full-access"]).code, 0);
    let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
    let told = results(&model.heard().pop().unwrap());
    let kept = transcript(&place, &flow, "owner").to_string();
    assert_eq!(told.len(), SIZES.len());
    for (bytes, told) in SIZES.into_iter().zip(told) {
        let text = text_of(bytes);
        // What was sent is what is kept.
        let written = serde_json::to_string(&told).unwrap();
        assert!(kept.contains(&written), "{bytes} bytes are kept otherwise");
        if told.contains(&text) {
            continue;
        }
        assert!(bytes > 1 << 14, "{bytes} bytes fit");
        let at = told
            .find("record/.outputs/")
            .unwrap_or_else(|| panic!("{told}"));
        let path = told[at..].split_whitespace().next().unwrap();
        let path = path.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
        let whole = std::fs::read_to_string(place.folder(&flow).join(path));
        assert!(
            whole.is_ok_and(|whole| whole.contains(&text)),
            "{bytes}: {path}"
        );
    }
}

/// Hands over to a node with an endless name, and closes after the fault.
fn ends_wrongly(_: usize) -> Vec<(Value, Vec<Value>)> {
    let name = "n".repeat(200 << 10);
    let text = format!("```handoff\n- target_node_id: {name}\n  artifact_path: a.md\n```\n");
    let letters = text.as_bytes().chunks(8 << 10);
    let deltas = letters
        .map(|piece| json!({ "type": "text_delta", "text": std::str::from_utf8(piece).unwrap() }));
    vec![(json!({ "type": "text", "text": "" }), deltas.collect())]
}

#[test]
fn what_a_role_has_to_mend_is_said_in_few_words_however_long_its_mistake_is() {
    let model = Model::start_with(ends_wrongly);
    let place = stage(&model, TALK);
    let said = place.run(&["run", "demo/flow.yaml", "--until-waiting"]);
    assert_eq!(said.code, 12, "{said:?}");
    let heard = model.heard();
    assert!(heard.len() > 2, "it was told and tried again");
    let last: Value = serde_json::from_str(heard.last().unwrap()).unwrap();
    let messages = last["messages"].as_array().unwrap();
    for message in messages.iter().filter(|it| it["role"] == "user").skip(1) {
        let told = message["content"].to_string();
        assert!(told.contains("nothing was handed off"), "{told:.600}");
        assert!(told.len() < 4_000, "{} bytes", told.len());
    }
    // Its own text is whole there.
    assert!(is_told(heard.last().unwrap(), &"n".repeat(200 << 10)));
}

#[test]
fn a_node_behind_two_hundred_that_hand_over_too_much_is_told_where_all_of_it_stands() {
    const NODES: usize = 200;
    // All together twice as much as a receiver is shown at once.
    const WINDOW: usize = 100_000;
    let shown = WINDOW * 40 / 100 * 4;
    let bytes = |n: usize| 100 + 2 * shown * n / (NODES * (NODES - 1) / 2);
    let (mut nodes, mut edges) = (String::new(), String::new());
    for n in 0..NODES {
        writeln!(nodes, "    - {{ id: n{n}, role: worker_{} }}", n + 1).unwrap();
        writeln!(edges, "    - {{ from: begin, to: n{n} }}").unwrap();
        writeln!(edges, "    - {{ from: n{n}, to: join }}").unwrap();
    }
    let command = "executor: command\n    command:\n      run: [sh, -c, 'cat \"$A_SOCIETY_PROJECT/$A_SOCIETY_NODE.txt\"']";
    let flow = format!(
        "workflow:\n  name: Wide\n  nodes:\n    - {{ id: begin, role: owner }}\n{nodes}    \
         - {{ id: join, role: reader, await-all-inputs: true }}\n    - {{ id: close, role: owner }}\n  \
         edges:\n{edges}    - {{ from: join, to: close }}\nroles:\n  owner:\n    {command}\n  \
         worker:\n    {command}\n  reader: {{ instructions: You read. }}\n"
    );
    let model = Model::start_with(super::arriving::hands_on);
    let place = stage(&model, &flow);
    let text = |n: usize| format!("made by n{n}. {}", text_of(bytes(n)));
    for n in 0..NODES {
        place.write(&format!("demo/n{n}.txt"), &text(n));
    }
    for name in ["begin", "close"] {
        place.write(&format!("demo/{name}.txt"), "It goes on.");
    }
    let config = std::fs::read_to_string(place.workspace.path().join("config.yaml")).unwrap();
    place.write(
        "config.yaml",
        &config.replace("4000000", &WINDOW.to_string()),
    );
    let said = place.run(&["run", "demo/flow.yaml", "--improve", "none"]);
    let end = said.out.len().saturating_sub(600);
    assert_eq!(said.code, 0, "{} {}", &said.out[end..], said.err);
    let heard = model.heard().pop().unwrap();
    let whole: Vec<bool> = (0..NODES).map(|n| is_told(&heard, &text(n))).collect();
    let first_named = whole.iter().position(|whole| !whole).unwrap();
    assert!(first_named > NODES / 2, "{first_named} are shown");
    // The shortest are whole; every other one is named by its path and size, with what to do.
    assert!(whole[first_named..].iter().all(|whole| !whole));
    let flow = place.flow().unwrap();
    for n in first_named..NODES {
        let path = format!("record/n{n}-output-to-join.md");
        let kept = std::fs::read_to_string(place.folder(&flow).join(&path)).unwrap();
        assert!(kept.contains(&text(n)), "{path} holds all of it");
        let named = format!(
            "path=\"{path}\" bytes=\"{}\">\nToo long to show; use read_file or grep.",
            kept.len()
        );
        assert!(is_told(&heard, &named), "{named}");
    }
    assert!(heard.len() < WINDOW * 4, "{} bytes", heard.len());
}
