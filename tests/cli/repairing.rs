//! `repair`: the plan is shown, exactly it is done, and nothing is thrown away.

use super::{ONE, TWO};
use crate::support::Workspace;

/// A flow with one flipped bit in its third record.
fn damaged() -> (Workspace, Vec<u8>) {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Release");
    let segment = workspace.segment(ONE);
    let whole = std::fs::read(&segment).unwrap();
    let mut bytes = whole.clone();
    let second = bytes
        .iter()
        .enumerate()
        .filter(|(_, b)| **b == b'\n')
        .nth(2)
        .unwrap()
        .0;
    bytes[second + 60] ^= 1;
    std::fs::write(segment, bytes).unwrap();
    (workspace, whole)
}

#[test]
fn a_dry_run_prints_the_plan_and_changes_nothing() {
    let (workspace, _) = damaged();
    let before = workspace.contents();
    let said = workspace.run(&["repair", ONE, "--dry-run"]);
    assert_eq!(said.code, 0);
    insta::assert_snapshot!(said.whole());
    let plan = workspace
        .run(&["repair", ONE, "--dry-run", "--json"])
        .json();
    assert_eq!(plan["applied"], false);
    assert_eq!(plan["plan"]["kept_records"], 3);
    assert!(workspace.contents() == before);
}

#[test]
fn applying_keeps_what_is_taken_out_and_the_flow_is_whole_again() {
    let (workspace, _) = damaged();
    let broken = std::fs::read(workspace.segment(ONE)).unwrap();
    let said = workspace.run(&["repair", ONE, "--apply"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out.contains("done:") && said.out.contains("quarantine/"),
        "{}",
        said.out
    );
    assert_eq!(workspace.run(&["verify", ONE]).code, 0);
    let quarantine = workspace.flow_folder(ONE).join("quarantine");
    let kept = std::fs::read_dir(&quarantine)
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let kept_bytes = std::fs::read(kept.path()).unwrap();
    let from = broken.len() - kept_bytes.len();
    assert!(broken[from..] == kept_bytes, "every byte is kept");

    // The flipped bit is found and flipped back, so nothing is lost in the end.
    let name = kept.file_name().into_string().unwrap();
    let said = workspace.run(&["repair", ONE, "--restore", &name]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out.contains("were put back at the end"),
        "{}",
        said.out
    );
    assert!(!said.out.contains("not put back"), "{}", said.out);
    assert_eq!(workspace.run(&["verify", ONE]).code, 0);
    let shown = workspace.run(&["show", ONE]);
    assert!(
        shown.out.contains("Who reads these notes?"),
        "{}",
        shown.out
    );
}

#[test]
fn what_is_not_kept_cannot_be_put_back() {
    let (workspace, _) = damaged();
    for name in ["nothing", "../journal", "", "."] {
        let said = workspace.run(&["repair", ONE, "--restore", name]);
        assert_eq!(said.code, 3, "{name:?}: {said:?}");
        assert!(said.err.contains("error[piece-not-found]"), "{}", said.err);
    }
}

#[test]
fn a_sound_flow_and_a_torn_one_need_no_repair() {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Sound");
    workspace.waiting("demo", TWO, "Torn");
    let segment = workspace.segment(TWO);
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes.extend_from_slice(b"{\"v\":1,\"se");
    std::fs::write(&segment, bytes).unwrap();
    let before = workspace.contents();
    for (flow, why) in [
        (ONE, "its journal is sound"),
        (TWO, "only its end is torn off"),
    ] {
        for how in ["--dry-run", "--apply"] {
            let said = workspace.run(&["repair", flow, how]);
            assert!(said.code == 0 && said.out.contains(why), "{said:?}");
        }
    }
    assert!(workspace.contents() == before);
}

#[test]
fn a_journal_of_a_newer_version_is_refused_whole() {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Release");
    crate::cli::bad_input::newer(&workspace, ONE);
    let before = workspace.contents();
    for how in ["--dry-run", "--apply"] {
        let said = workspace.run(&["repair", ONE, how]);
        assert_eq!(said.code, 4, "{said:?}");
        assert!(said.err.contains("error[newer-version]"), "{}", said.err);
    }
    assert!(workspace.contents() == before);
}
