//! `show`: one flow on one screen.

use super::{ONE, TWO};
use crate::support::Workspace;

#[test]
fn a_flow_that_waits_shows_its_nodes_its_question_and_its_last_items() {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Release notes for 1.4");
    let said = workspace.run(&["show", ONE]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    insta::assert_snapshot!(said.whole());
}

#[test]
fn a_command_without_a_flow_takes_the_only_one_there_is_and_says_which() {
    let workspace = Workspace::new();
    let said = workspace.run(&["status"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.err.contains("try: a-society run"), "{said:?}");
    workspace.waiting("demo", ONE, "First");
    let is_first = |said: &crate::support::Said| said.err.contains(&format!("demo/{ONE}"));
    for verb in ["status", "show", "log", "diff"] {
        let said = workspace.run(&[verb]);
        assert!(said.code == 0 && is_first(&said), "{verb}: {said:?}");
    }
    let said = workspace.run(&["status", "--json"]);
    assert_eq!(said.json()["flow"], ONE, "{said:?}");

    workspace.waiting("other", TWO, "Second");
    for verb in ["status", "show", "log", "diff", "resume", "retry"] {
        let said = workspace.run(&[verb]);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{verb}: {said:?}");
        let lists = said.err.contains(ONE) && said.err.contains(TWO);
        let wanted = format!("try: a-society {verb} ");
        assert!(lists && said.err.contains(&wanted), "{verb}: {said:?}");
    }

    // Those that are over are only meant where no other is there.
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "First");
    workspace.cancelled("other", TWO, "Second");
    let said = workspace.run(&["status"]);
    assert!(said.code == 0 && is_first(&said), "{said:?}");
    let workspace = Workspace::new();
    workspace.cancelled("demo", ONE, "First");
    let said = workspace.run(&["status"]);
    assert!(said.code == 0 && is_first(&said), "{said:?}");
    workspace.cancelled("other", TWO, "Second");
    assert_eq!(workspace.run(&["status"]).code, 2);
}

#[test]
fn a_flow_is_named_by_any_unique_beginning() {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "First");
    workspace.waiting("other", TWO, "Second");
    for name in [ONE, "a", "a1b2c3", "20260527", "demo/a1", "demo/2026"] {
        let said = workspace.run(&["show", name]);
        assert!(
            said.code == 0 && said.out.starts_with("First\n"),
            "{name}: {said:?}"
        );
    }
    let said = workspace.run(&["show", "2026"]);
    assert_eq!(said.code, 2);
    assert!(
        said.err.contains(ONE) && said.err.contains(TWO),
        "{}",
        said.err
    );
    for name in ["", "x", "other/a1", "a1b2c3x", "demo/", "/"] {
        let said = workspace.run(&["show", name]);
        assert!(matches!(said.code, 2 | 3), "{name:?}: {said:?}");
        assert!(said.err.contains("  try: "), "{name:?}: {said:?}");
    }
}

#[test]
fn json_holds_the_whole_screen() {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Release notes for 1.4");
    let shown = workspace.run(&["show", ONE, "--json"]).json();
    assert_eq!(shown["flow"], ONE);
    assert_eq!(shown["screen"]["summary"]["title"], "Release notes for 1.4");
    assert_eq!(shown["damage"], serde_json::Value::Null);
    assert!(shown["screen"]["flow"]["awaiting_operator"]["owner-intake"].is_object());
}

#[test]
fn beside_a_process_that_writes_it_says_which() {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Release");
    let held = workspace.open(ONE);
    let said = workspace.run(&["show", ONE]);
    assert_eq!(said.code, 0);
    assert!(said.out.contains("process 4711"), "{}", said.out);
    for words in [&["rebuild", ONE][..], &["repair", ONE, "--restore", "x"]] {
        let said = workspace.run(words);
        assert!(matches!(said.code, 3 | 5), "{words:?}: {said:?}");
    }
    let said = workspace.run(&["rebuild", ONE]);
    assert_eq!(said.code, 5);
    assert!(
        said.err.contains("error[flow-busy]") && said.err.contains("process 4711"),
        "{}",
        said.err
    );
    workspace.close(held);
    assert_eq!(workspace.run(&["rebuild", ONE]).code, 0);
}

#[test]
fn a_torn_end_is_told_and_left_alone() {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Release");
    let segment = workspace.segment(ONE);
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes.extend_from_slice(b"{\"v\":1,\"seq\":99");
    std::fs::write(&segment, &bytes).unwrap();
    let before = workspace.contents();
    let said = workspace.run(&["show", ONE]);
    assert_eq!(said.code, 0);
    assert!(
        said.out.contains("its end was torn off in record"),
        "{}",
        said.out
    );
    assert_eq!(workspace.run(&["verify"]).code, 0);
    assert_eq!(workspace.contents(), before, "looking changes nothing");
}

#[test]
fn what_a_recovery_cut_is_shown_from_then_on() {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Release");
    let segment = workspace.segment(ONE);
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes.extend_from_slice(b"{\"v\":1,\"seq\":99");
    std::fs::write(&segment, &bytes).unwrap();
    let said = workspace.run(&["rebuild", ONE]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.err
            .contains("a torn end of 15 B was cut; it is kept as quarantine/"),
        "{}",
        said.err
    );
    let shown = workspace.run(&["show", ONE]);
    assert!(shown.out.contains("JOURNAL"), "{}", shown.out);
    assert!(shown.out.contains("kept as quarantine/"), "{}", shown.out);
}

#[test]
fn a_session_is_printed_as_its_view_has_it_and_as_it_was() {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Release");
    let said = workspace.run(&["session", "export", ONE, "owner"]);
    assert_eq!(said.code, 0, "{said:?}");
    let view = workspace
        .flow_folder(ONE)
        .join("roles/owner/transcript.json");
    assert_eq!(said.out, std::fs::read_to_string(view).unwrap());
    let whole = said.json();
    let seq = workspace.run(&["status", ONE, "--json"]).json()["seq"]
        .as_u64()
        .unwrap();
    let early = workspace.run(&[
        "session",
        "export",
        ONE,
        "owner",
        "--at",
        &(seq / 2).to_string(),
    ]);
    assert!(early.out.len() < said.out.len(), "{early:?}");
    assert_eq!(early.json()["sessionId"], whole["sessionId"]);
    let nobody = workspace.run(&["session", "export", ONE, "nobody"]);
    assert_eq!(nobody.code, 6, "{nobody:?}");
}
