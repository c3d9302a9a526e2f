//! What tools changed in files, when nobody kept the bytes of the files.

use a_society_state::layout::FlowFolder;
use serde_json::{Value, json};

use super::Stage;

/// A journal in which three briefs and what they ask for are written, and its flow.
pub(super) const JOURNAL: &str = include_str!("../../../tests/journals/fan-out.jsonl");
const FLOW: &str = "20261121T145750724Z-39nge3";

/// A server of that journal alone.
pub(super) fn stage() -> Stage {
    let stage = Stage::new(8);
    let root = stage.folder.path().join(".a-society/state/demo").join(FLOW);
    let segment = FlowFolder::at(root).segment(1);
    std::fs::create_dir_all(segment.parent().unwrap()).unwrap();
    std::fs::write(segment, JOURNAL).unwrap();
    stage
}

pub(super) fn get(stage: &Stage, rest: &str) -> (u16, Value) {
    super::get(stage, FLOW, rest)
}

#[test]
fn the_body_of_a_write_says_what_was_written() {
    let (_, body) = get(&stage(), "item/f11/body");
    let diff = &body["parts"]["diff"];
    assert_eq!(diff["path"], "brief-install.md");
    assert_eq!(diff["old"], Value::Null);
    let lines = json!([{ "op": "+", "text": "How to install it." }]);
    assert_eq!(diff["hunks"][0]["lines"], lines);
}

#[test]
fn the_changes_of_a_flow_are_told_from_its_calls_where_no_bytes_were_kept() {
    let stage = stage();
    let (status, changes) = get(&stage, "changes");
    assert_eq!(status, 200);
    let diffs = changes["diffs"].as_array().unwrap();
    let of = |path: &str| diffs.iter().find(|diff| diff["path"] == path).unwrap();
    let lines = json!([{ "op": "+", "text": "How to install it." }]);
    assert_eq!(of("brief-install.md")["hunks"][0]["lines"], lines);
    for diff in diffs {
        assert_ne!(diff["hunks"], json!([]), "{diff}");
        assert_eq!(diff["truncated"], false, "{diff}");
    }
}

#[test]
fn what_was_handed_over_and_changed_is_told_as_it_was_at_a_record() {
    let stage = stage();
    let told = |rest: &str, list: &str| {
        let (status, told) = get(&stage, rest);
        assert_eq!(status, 200);
        told[list].as_array().unwrap().len()
    };
    let lines: Vec<&str> = JOURNAL.lines().collect();
    let first = |fact: &str| {
        let is_it = |line: &&str| line.contains(&format!("\"fact\":\"{fact}\""));
        lines.iter().position(is_it).unwrap() + 1
    };
    let (handed, called) = (first("handoff_applied"), first("call_intended"));
    assert_eq!(told(&format!("files?at={}", handed - 1), "files"), 0);
    assert!(told(&format!("files?at={handed}"), "files") > 0);
    assert!(told("files", "files") > told(&format!("files?at={handed}"), "files"));
    assert_eq!(told(&format!("changes?at={}", called - 1), "diffs"), 0);
    assert_eq!(told(&format!("changes?at={called}"), "diffs"), 1);
    assert!(told("changes", "diffs") > 1);
}

#[test]
fn what_a_flow_delivered_is_told_with_its_files_once_its_forward_work_is_closed() {
    let stage = stage();
    let (_, told) = get(&stage, "files");
    let delivered = &told["delivered"];
    let hash = "5d57941c9c01ef13b1a2805b0fbefdd99ed889841c4a9cb690e82b7d16f83108";
    let wanted = json!({ "node": "accept", "path": "guide.md", "hash": hash, "bytes": 121 });
    assert_eq!(delivered, &wanted);
    let closed = JOURNAL
        .lines()
        .position(|line| line.contains("\"fact\":\"forward_pass_closed\""));
    let (_, before) = get(&stage, &format!("files?at={}", closed.unwrap()));
    assert_eq!(before.get("delivered"), None);
}

#[test]
fn a_version_whose_bytes_were_not_kept_is_refused_in_words() {
    let hash = "0".repeat(64);
    let (status, fault) = get(&stage(), &format!("diff?a={hash}&b={hash}"));
    assert_eq!((status, &fault["code"]), (404, &json!("not-found")));
    assert!(
        fault["what"].as_str().unwrap().contains("were not kept"),
        "{fault}"
    );
}
