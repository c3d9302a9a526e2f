//! Whatever enters a session is said to its model whole and stands whole in its transcript, in a process
//! that was there and in one that reads the journal.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::arriving::{SIZES, is_told, stage, text_of};
use super::models::Model;
use super::place::Place;

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
    let said = place.run(&["run", "demo/flow.yaml", "--until-waiting"]);
    assert_eq!(said.code, 8, "{said:?}");
    let flow = place.flow().unwrap();
    // They differ where they begin, too.
    let reply = |bytes: usize| match bytes {
        1 => "?".to_owned(),
        _ => format!("R{}", text_of(bytes - 1)),
    };
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
