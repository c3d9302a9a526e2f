//! `prune`: only what is over, old and whole goes, and only as planned.

use super::{ONE, THREE, TWO};
use crate::support::Workspace;

/// One flow at work and two that are over, of which one is damaged. All are years old.
fn mixed() -> Workspace {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "At work");
    workspace.cancelled("demo", TWO, "Over");
    workspace.cancelled("demo", THREE, "Over and damaged");
    let segment = workspace.segment(THREE);
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes[300] ^= 1;
    std::fs::write(segment, bytes).unwrap();
    workspace
}

#[test]
fn a_dry_run_says_what_would_go_and_changes_nothing() {
    let workspace = mixed();
    let before = workspace.contents();
    let said = workspace.run(&["prune", "--older-than", "1d", "--dry-run"]);
    assert_eq!(said.code, 0);
    insta::assert_snapshot!(said.whole());
    assert!(workspace.contents() == before);
}

#[test]
fn without_a_terminal_and_a_yes_nothing_goes() {
    let workspace = mixed();
    let before = workspace.contents();
    for words in [
        &["prune", "--older-than", "1d"][..],
        &["prune", "--older-than", "1d", "--json"],
    ] {
        let said = workspace.run(words);
        assert_eq!(said.code, 6, "{said:?}");
        assert!(said.err.contains("not-confirmed"), "{}", said.err);
    }
    assert!(workspace.contents() == before);
}

#[test]
fn exactly_what_is_planned_goes() {
    let workspace = mixed();
    let said = workspace.run(&["prune", "--older-than", "1d", "--yes", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(
        said.json()["removed"],
        serde_json::json!([format!("demo/{TWO}")])
    );
    assert!(!workspace.flow_folder(TWO).exists());
    assert!(workspace.flow_folder(ONE).exists() && workspace.flow_folder(THREE).exists());
    let said = workspace.run(&["prune", "--older-than", "1d"]);
    assert_eq!(said.code, 0, "nothing to remove needs no yes: {said:?}");
}

#[test]
fn what_is_not_old_enough_or_held_stays() {
    let workspace = mixed();
    let said = workspace.run(&["prune", "--older-than", "5000w", "--yes"]);
    assert!(
        said.code == 0 && said.out.contains("0 flows to remove"),
        "{said:?}"
    );
    let held = workspace.open(TWO);
    let said = workspace.run(&["prune", "--older-than", "1d", "--yes"]);
    assert!(
        said.code == 0 && said.out.contains("0 flows to remove"),
        "{said:?}"
    );
    assert!(workspace.flow_folder(TWO).exists());
    workspace.close(held);
}

#[test]
fn a_removal_that_was_cut_off_is_finished() {
    let workspace = mixed();
    let leftover = workspace
        .state()
        .join("demo")
        .join(format!(".going-{TWO}x"));
    std::fs::create_dir_all(leftover.join("journal")).unwrap();
    let said = workspace.run(&["prune", "--older-than", "5000w", "--dry-run"]);
    assert!(said.out.contains("finish  "), "{}", said.out);
    let said = workspace.run(&["prune", "--older-than", "5000w", "--yes"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(!leftover.exists());
}

#[test]
fn one_flow_goes_after_its_plan_was_shown_and_every_other_stays() {
    let workspace = mixed();
    let before = workspace.contents();
    let said = workspace.run(&["prune", TWO, "--dry-run"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out.contains("Over") && said.out.contains("  journal  "),
        "{}",
        said.out
    );
    let said = workspace.run(&["prune", TWO]);
    assert_eq!(said.code, 6, "nobody can be asked: {said:?}");
    assert!(workspace.contents() == before);
    let said = workspace.run(&["prune", TWO, "--yes", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.json()["removed"], serde_json::json!(true));
    assert!(!workspace.flow_folder(TWO).exists());
    assert!(workspace.flow_folder(ONE).exists() && workspace.flow_folder(THREE).exists());
}

#[test]
fn a_flow_that_is_at_work_damaged_or_held_is_not_removed_and_says_why() {
    let workspace = mixed();
    let held = workspace.open(TWO);
    for (flow, code, why) in [
        (ONE, 6, "it is not over"),
        (TWO, 5, "a process drives it"),
        (THREE, 6, "its journal is damaged"),
    ] {
        let said = workspace.run(&["prune", flow, "--yes"]);
        assert_eq!(said.code, code, "{said:?}");
        assert!(said.err.contains(why), "{}", said.err);
        assert!(workspace.flow_folder(flow).exists());
    }
    workspace.close(held);
    let said = workspace.run(&["prune"]);
    assert_eq!(said.code, 2, "neither a flow nor an age: {said:?}");
}
