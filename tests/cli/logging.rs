//! `log`: the journal, for people and byte for byte, from its beginning and as it grows.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use a_society_facts::Fact;
use a_society_facts::fact::flow::FlowTitled;

use super::ONE;
use crate::support::Workspace;

fn titled(title: &str) -> Fact {
    Fact::FlowTitled(FlowTitled {
        title: title.to_owned(),
    })
}

#[test]
fn people_read_a_fact_on_a_line() {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Release notes for 1.4");
    let said = workspace.run(&["log", ONE]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    insta::assert_snapshot!(said.whole());
}

#[test]
fn json_is_the_journal_byte_for_byte_over_all_segments() {
    let workspace = Workspace::new();
    let mut flow = workspace.begin("demo", ONE, "Release", 0);
    flow.set_segment_bytes(1000);
    for number in 0..30 {
        flow.append(titled(&format!("title {number}"))).unwrap();
    }
    workspace.close(flow);
    let journal = workspace.flow_folder(ONE).join("journal");
    let mut segments: Vec<_> = std::fs::read_dir(journal)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .collect();
    segments.sort();
    assert!(segments.len() > 3);
    let bytes: Vec<u8> = segments
        .iter()
        .flat_map(|path| std::fs::read(path).unwrap())
        .collect();
    let output = workspace.command(&["log", ONE, "--json"]).output().unwrap();
    assert!(
        output.stdout == bytes,
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

#[test]
fn since_begins_with_that_record_with_and_without_a_checkpoint() {
    for checkpoint_bytes in [u64::MAX, 500] {
        let workspace = Workspace::new();
        let mut flow = workspace.begin("demo", ONE, "Release", 0);
        flow.set_checkpoint_bytes(checkpoint_bytes);
        for number in 0..20 {
            flow.append(titled(&format!("title {number}"))).unwrap();
            flow.sync().unwrap();
        }
        workspace.close(flow);
        let kept = workspace
            .flow_folder(ONE)
            .join("journal/checkpoint.json")
            .exists();
        assert_eq!(kept, checkpoint_bytes == 500);
        for since in [1, 2, 17, 22, 23] {
            let said = workspace.run(&["log", ONE, "--json", "--since", &since.to_string()]);
            let seqs: Vec<u64> = said
                .out
                .lines()
                .map(|line| {
                    serde_json::from_str::<serde_json::Value>(line).unwrap()["seq"]
                        .as_u64()
                        .unwrap()
                })
                .collect();
            let wanted: Vec<u64> = (since..=23).collect();
            assert_eq!(seqs, wanted, "since {since}");
        }
        assert_eq!(workspace.run(&["log", ONE, "--since", "24"]).out, "");
    }
}

#[test]
fn a_torn_end_is_told_and_is_no_error() {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Release");
    let whole = workspace.run(&["log", ONE]).out;
    let segment = workspace.segment(ONE);
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes.extend_from_slice(b"{\"v\":1,\"seq\":99");
    std::fs::write(&segment, bytes).unwrap();
    let said = workspace.run(&["log", ONE]);
    assert_eq!((said.code, said.out), (0, whole));
    assert!(said.err.contains("its end was torn off"), "{}", said.err);
}

#[test]
fn a_damaged_journal_is_printed_as_far_as_it_is_good() {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Release");
    let segment = workspace.segment(ONE);
    let mut bytes = std::fs::read(&segment).unwrap();
    let third = bytes
        .iter()
        .enumerate()
        .filter(|(_, b)| **b == b'\n')
        .nth(2)
        .unwrap()
        .0;
    bytes[third + 40] ^= 1;
    std::fs::write(segment, bytes).unwrap();
    let said = workspace.run(&["log", ONE]);
    assert_eq!(said.code, 4);
    assert_eq!(said.out.lines().count(), 3, "{}", said.out);
    assert!(said.err.contains("error[journal-damaged]"), "{}", said.err);
    assert!(
        said.err
            .contains(&format!("a-society repair demo/{ONE} --dry-run")),
        "{}",
        said.err
    );
}

/// Sends the interrupt that Ctrl-C sends.
fn interrupt(pid: u32) {
    let sent = Command::new("kill")
        .args(["-INT", &pid.to_string()])
        .status();
    assert!(
        sent.is_ok_and(|status| status.success()),
        "kill is everywhere"
    );
}

#[test]
fn follow_prints_what_another_process_appends_until_it_is_interrupted() {
    let workspace = Workspace::new();
    workspace.close(workspace.begin("demo", ONE, "Release", 0));
    let mut child = workspace
        .command(&["log", ONE, "--follow", "--since", "4"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut flow = workspace.open(ONE);
    for number in 0..3 {
        flow.append_durably(titled(&format!("live-{number}")))
            .unwrap();
        let shown = loop {
            let line = lines.next().unwrap().unwrap();
            if line.contains("flow_titled") {
                break line;
            }
        };
        assert!(shown.ends_with(&format!("title=live-{number}")), "{shown}");
    }
    interrupt(child.id());
    let ended = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(ended.elapsed() < Duration::from_secs(5));
    assert_eq!(output.stderr, b"", "it ends quietly");
    assert_ne!(output.status.code(), Some(1));
    workspace.close(flow);
}

#[test]
fn follow_ends_when_the_flow_is_removed() {
    let workspace = Workspace::new();
    workspace.close(workspace.begin("demo", ONE, "Release", 0));
    let mut child = workspace
        .command(&["log", ONE, "--follow"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    std::fs::remove_dir_all(workspace.flow_folder(ONE)).unwrap();
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() || output.status.code() == Some(4),
        "{told}"
    );
}
