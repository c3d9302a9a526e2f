//! Worlds and answers at the edge of what there is: folders in folders, a stream of single bytes, a
//! machine without certificates, files that only the administrator reads.

use a_society_stand_in::{Ending, Piece, Reply, Server};
use serde_json::{Value, json};

use super::models::{Model, call, with_model, with_model_at};
use super::place::{Place, RUN};
use super::steered::facts;

type Said = Vec<(Value, Vec<Value>)>;

/// Walks the flow with everything allowed.
fn walked(place: &Place) -> String {
    let said = place.run(&["run", "demo/flow.yaml", "--until-waiting"]);
    let flow = place.flow().unwrap();
    if said.code == 8 {
        assert_eq!(place.run(&["mode", &flow, "full-access"]).code, 0);
        let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
        assert_eq!(said.code, 0, "{said:?}");
    }
    flow
}

/// The results of all tools in the last request.
fn told(model: &Model) -> Vec<String> {
    let last = model.heard().pop().unwrap();
    let last: Value = serde_json::from_str(&last).unwrap();
    let messages = last["messages"].as_array().unwrap().iter();
    let blocks = messages.filter_map(|message| message["content"].as_array());
    let results = blocks.flatten().filter(|it| it["type"] == "tool_result");
    results.map(|it| it["content"].to_string()).collect()
}

const LEVELS: usize = 2_000;

fn goes_deep(results: usize) -> Said {
    let deep = "d/".repeat(LEVELS) + "leaf.txt";
    let (name, input) = match results {
        0 => ("write_file", json!({ "path": deep, "content": "deep\n" })),
        1 => ("read_file", json!({ "path": deep })),
        2 => ("glob", json!({ "pattern": "**/*.txt" })),
        3 => ("grep", json!({ "pattern": "needle" })),
        4 => ("list_directory", json!({ "path": "." })),
        _ => return Vec::new(),
    };
    vec![call(results, name, input)]
}

#[test]
fn folders_in_folders_without_end_are_refused_or_looked_through_in_words() {
    let model = Model::start_with(goes_deep);
    let place = with_model(&model);
    let mut folder = place.workspace.path().join("demo");
    std::fs::write(folder.join("top.txt"), "needle\n").unwrap();
    // As deep as one path can name it.
    for _ in 0..900 {
        folder.push("e");
    }
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("low.txt"), "needle\n").unwrap();
    let flow = walked(&place);
    let told = told(&model);
    assert_eq!(told.len(), 5);
    assert!(
        told[0].contains("would stand 2,000 folders deep"),
        "{}",
        told[0]
    );
    assert!(told[1].contains("No file d/"), "{}", told[1]);
    for searched in &told[2..4] {
        assert!(
            searched.contains("deeper than 64 folders is left out"),
            "{searched}"
        );
        assert!(searched.len() < 1_000, "{} bytes", searched.len());
    }
    assert!(told[4].contains("top.txt"), "{}", told[4]);
    assert_eq!(place.status(&flow)["status"], "completed");
    assert_eq!(place.run(&["verify", &flow]).code, 0);
}

const PIECES: usize = 100_000;

#[test]
fn a_stream_of_single_bytes_is_whole_and_takes_no_more_room_than_what_it_says() {
    let server = Server::by(|_, _| {
        let letters = (0..PIECES).map(|at| char::from(b'a' + u8::try_from(at % 26).unwrap()));
        let deltas = letters.map(|it| json!({ "type": "text_delta", "text": it.to_string() }));
        let close = "\n\n```handoff\ntype: forward-pass-closed\n```\n";
        let close = [json!({ "type": "text_delta", "text": close })];
        let block = json!({ "type": "text", "text": "" });
        let said = Piece::Block(block, deltas.chain(close).collect());
        Reply::Say(vec![said], Ending::Natural)
    });
    let place = with_model_at(&server.url(), "anthropic");
    let said = place.run(&RUN);
    assert_eq!(said.code, 0, "{said:?}");
    let flow = place.flow().unwrap();
    let answered = facts(&place, &flow, "model_answered");
    assert_eq!(answered.len(), 1);
    let transcript = place.folder(&flow).join("roles/owner/transcript.json");
    let transcript: Value = serde_json::from_slice(&std::fs::read(transcript).unwrap()).unwrap();
    let text = transcript["transcriptHistory"][1]["content"]
        .as_str()
        .unwrap();
    let letters = text.split("\n\n").next().unwrap();
    assert_eq!(letters.len(), PIECES);
    assert!(
        letters
            .bytes()
            .zip((b'a'..=b'z').cycle())
            .all(|(is, was)| is == was)
    );
    // One record for many pieces: the answer is kept once in drafts and once in its record.
    let journal = std::fs::metadata(place.folder(&flow).join("journal/00000001.jsonl"));
    let bytes = journal.unwrap().len();
    let drafts = facts(&place, &flow, "draft_added").len();
    assert!(
        bytes < 8 * PIECES as u64,
        "{bytes} bytes in {drafts} drafts"
    );
    assert!(drafts < PIECES / 100, "{drafts} drafts");
}

#[test]
fn a_model_of_this_machine_is_asked_where_no_certificate_is_to_be_had() {
    let model = Model::start_with(|_| Vec::new());
    let place = with_model(&model);
    let mut command = place.workspace.command(&RUN);
    for name in ["SSL_CERT_FILE", "SSL_CERT_DIR"] {
        command.env(name, place.workspace.path().join("nothing"));
    }
    let said = place.workspace.heard(&mut command);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(model.requests(), 1);
}

fn peeks(results: usize) -> Said {
    let (name, input) = match results {
        0 => ("read_file", json!({ "path": "/etc/shadow" })),
        1 => ("grep", json!({ "pattern": "root", "path": "/etc/shadow" })),
        2 => ("glob", json!({ "pattern": "/etc/shadow*" })),
        3 => ("list_directory", json!({ "path": "/etc" })),
        _ => return Vec::new(),
    };
    vec![call(results, name, input)]
}

#[test]
fn what_only_the_administrator_reads_is_shown_to_no_model_by_file_tools_run_as_any_user() {
    let model = Model::start_with(peeks);
    let place = with_model(&model);
    let _flow = walked(&place);
    let told = told(&model);
    assert_eq!(told.len(), 4);
    for said in &told[..2] {
        assert!(said.contains("Out of reach"), "{said}");
    }
    // Another user cannot read the file here, and so has nothing to look for.
    let shadow = std::fs::read_to_string("/etc/shadow").unwrap_or_default();
    let heard = model.heard().concat();
    for line in shadow.lines().filter(|line| line.len() > 8) {
        assert!(!heard.contains(line), "{line}");
    }
}
