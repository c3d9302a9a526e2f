//! What tools changed in files, when the bytes of the files were not kept.

use a_society_state::layout::FlowFolder;
use serde_json::{Value, json};

use super::Stage;

/// A journal in which three briefs and what they ask for are written, and its flow.
pub(super) const JOURNAL: &str = include_str!("../../../tests/journals/fan-out.jsonl");
const FLOW: &str = "20261121T145750724Z-39nge3";

/// The journal of a flow that asks something, and its flow.
const GATE_JOURNAL: &str = include_str!("../../../tests/journals/human-gate.jsonl");
const GATE: &str = "20261121T145750217Z-ol8hhb";

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
    let (handed, called) = (first("handoff_applied"), first("call_finished"));
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
fn every_version_and_every_change_says_in_which_turn_of_whom_it_was_made() {
    let stage = stage();
    let (_, told) = get(&stage, "files");
    let files = told["files"].as_array().unwrap();
    let version = |path: &str| {
        let file = files.iter().find(|file| file["path"] == path);
        file.unwrap_or_else(|| panic!("{path}: {told}"))["versions"][0].clone()
    };
    // The owner's first turn handed the briefs over, and a writer's first turn its part.
    let by = |path: &str| version(path)["by"].clone();
    assert_eq!(
        by("brief-install.md"),
        json!({ "role": "owner", "turn": 1 })
    );
    assert_eq!(version("brief-install.md").get("waits"), None);
    let (_, changes) = get(&stage, "changes");
    assert_eq!(
        changes["by"]["brief-install.md"],
        json!([{ "role": "owner", "turn": 1, "node": "outline" }])
    );
    let turns = files
        .iter()
        .flat_map(|file| file["versions"].as_array().unwrap());
    for version in turns {
        assert!(version["by"]["turn"].as_u64().is_some(), "{version}");
    }
}

#[test]
fn what_a_flow_used_is_told_by_role_model_and_node_and_comes_to_the_same() {
    let stage = stage();
    let (status, costs) = get(&stage, "costs");
    assert_eq!(status, 200, "{costs}");
    let sum = |list: &str, of: &str| -> u64 {
        let rows = costs[list].as_array().unwrap().iter();
        rows.map(|row| row[of].as_u64().unwrap()).sum()
    };
    for of in [
        "tokens",
        "output",
        "cached",
        "requests",
        "turns",
        "ms",
        "cost_micros",
    ] {
        let all = costs["all"][of].as_u64().unwrap();
        assert_eq!((sum("roles", of), sum("nodes", of)), (all, all), "{of}");
        if !["turns", "ms"].contains(&of) {
            assert_eq!(sum("models", of), all, "{of}");
        }
    }
    assert!(costs["all"]["turns"].as_u64().unwrap() > 3, "{costs}");
    assert!(costs["all"]["requests"].as_u64().unwrap() > 3, "{costs}");
    // Of then there was less.
    let (_, then) = get(&stage, "costs?at=20");
    assert!(then["all"]["turns"].as_u64() < costs["all"]["turns"].as_u64());
}

#[test]
fn the_beginning_of_a_version_is_read_where_its_beginning_is_enough() {
    let stage = stage();
    let (_, told) = get(&stage, "files");
    let hash = told["files"][0]["versions"][0]["hash"].as_str().unwrap();
    let read = |rest: &str| super::text(&stage, FLOW, &format!("blob/{hash}{rest}"));
    let whole = read("");
    assert!(whole.len() > 4, "{whole}");
    assert_eq!(read("?limit=4"), whole[..4]);
}

#[test]
fn a_person_writes_a_file_of_a_flow_that_goes_on_and_replaces_only_what_was_read() {
    let stage = Stage::new(8);
    let root = stage.folder.path().join(".a-society/state/demo").join(GATE);
    let segment = FlowFolder::at(root.clone()).segment(1);
    std::fs::create_dir_all(segment.parent().unwrap()).unwrap();
    std::fs::write(segment, GATE_JOURNAL).unwrap();
    let put = |body: Value| super::post(&stage, GATE, "record", &body);
    let (status, written) = put(json!({ "path": "record/plan.md", "text": "one" }));
    assert_eq!((status, &written["bytes"]), (200, &json!(3)), "{written}");
    let there = std::fs::read_to_string(root.join("record/plan.md")).unwrap();
    assert_eq!(there, "one");
    let (status, refused) = put(json!({ "path": "plan.md", "text": "two" }));
    assert_eq!((status, &refused["code"]), (409, &json!("not-written")));
    let (_, read) = super::get(&stage, GATE, "record?path=record/plan.md");
    assert_eq!(read["text"], "one");
    let (status, _) = put(json!({ "path": "plan.md", "text": "two", "over": read["hash"] }));
    assert_eq!(status, 200);
    let (_, listed) = super::get(&stage, GATE, "record");
    let wanted = json!([{ "path": "record/plan.md", "bytes": 3 }]);
    assert_eq!(listed["files"], wanted);
    assert_eq!(listed["bytes_max"], 16 * 1024 * 1024);
    for path in ["../../x", "record/workflow.yaml", ""] {
        let (status, _) = put(json!({ "path": path, "text": "x" }));
        assert_eq!(status, 409, "{path}");
    }
    // A flow that is over takes nothing more.
    let over = self::stage();
    let (status, _) = super::post(
        &over,
        FLOW,
        "record",
        &json!({ "path": "x.md", "text": "x" }),
    );
    assert_eq!(status, 409);
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
