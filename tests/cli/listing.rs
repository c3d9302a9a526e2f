//! `ls`: what is listed, how damage is shown, and what goes where.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use super::{ONE, THREE, TWO};
use crate::support::Workspace;

/// A flow that waits, one that is damaged, one that is over, and things that are no flows.
fn mixed() -> Workspace {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Release notes for 1.4");
    workspace.waiting("demo", THREE, "Damaged on the way");
    workspace.cancelled("other", TWO, "Given up");
    workspace.shorten("demo", THREE);
    std::fs::create_dir(workspace.state().join("demo/notes")).unwrap();
    std::fs::write(workspace.state().join("left-behind"), "x").unwrap();
    workspace
}

#[test]
fn every_flow_stands_on_a_line_and_what_is_none_is_told_apart() {
    let said = mixed().run(&["ls", "--all"]);
    assert_eq!(said.code, 0);
    insta::assert_snapshot!(said.whole());
}

#[test]
fn flows_that_are_over_are_counted_and_not_shown() {
    let said = mixed().run(&["ls"]);
    assert_eq!(said.code, 0);
    assert!(!said.out.contains("Given up"), "{}", said.out);
    assert!(
        said.err
            .contains("1 flow is over and not shown; see: a-society ls --all"),
        "{}",
        said.err
    );
}

#[test]
fn what_a_system_without_a_thread_left_lists_and_shows_is_the_same() {
    let workspace = Workspace::new();
    // So many that several threads list them.
    for number in 10..30 {
        let flow = format!("20260527T143000123Z-aaaa{number}");
        workspace.waiting("demo", &flow, "Release notes");
    }
    for words in [&["ls", "--json"][..], &["show", "aaaa10", "--json"][..]] {
        let said = workspace.run(words);
        assert_eq!(said.code, 0, "{said:?}");
        // No machine gives so much to a thread's stack.
        let mut command = workspace.command(words);
        let alone = workspace.heard(command.env("RUST_MIN_STACK", "100000000000000"));
        assert_eq!(alone.code, 0, "{alone:?}");
        assert_eq!(alone.out, said.out);
    }
}

#[test]
fn one_project_can_be_asked_for() {
    let workspace = mixed();
    let said = workspace.run(&["ls", "--all", "--project", "other"]);
    assert_eq!(said.out.lines().count(), 2, "{}", said.out);
    assert!(said.out.contains("Given up"));
    let said = workspace.run(&["ls", "--project", "nobody"]);
    assert_eq!((said.code, said.out.as_str()), (0, ""));
    assert!(said.err.contains("there are no flows here"), "{}", said.err);
}

#[test]
fn json_says_the_same_for_programs() {
    let listed = mixed().run(&["ls", "--all", "--json"]).json();
    let flows = listed["flows"].as_array().unwrap();
    assert_eq!(flows.len(), 3);
    assert_eq!(flows[0]["flow"], ONE);
    assert_eq!(flows[0]["title"], "Release notes for 1.4");
    assert_eq!(flows[0]["status"], "running");
    assert_eq!(
        flows[0]["waiting_for"],
        serde_json::json!(["owner-intake: your answer"])
    );
    assert_eq!(flows[1]["status"], "damaged");
    assert_eq!(flows[1]["damage"]["word"], "end-missing");
    assert_eq!(flows[2]["status"], "cancelled");
    assert_eq!(listed["strangers"].as_array().unwrap().len(), 2);
}

#[test]
fn an_empty_workspace_is_no_error() {
    let workspace = Workspace::new();
    let said = workspace.run(&["ls"]);
    assert_eq!((said.code, said.out.as_str()), (0, ""));
    assert_eq!(
        workspace.run(&["ls", "--json"]).json()["flows"],
        serde_json::json!([])
    );
}

#[test]
fn as_much_of_an_id_as_is_needed_is_bold_and_enough() {
    let workspace = mixed();
    let said = workspace.run(&["ls", "--color", "always"]);
    // Two ids end in a1…, so three characters are needed; blanks do not count.
    assert!(said.out.contains("\u{1b}[1ma1b\u{1b}[0m"), "{:?}", said.out);
    assert!(
        said.out.contains("\u{1b}[31mdamaged\u{1b}[0m"),
        "{:?}",
        said.out
    );
    assert_eq!(workspace.run(&["show", "a1b"]).code, 0);
    assert_eq!(workspace.run(&["show", "a1"]).code, 2);
}

#[test]
fn colours_stay_out_of_pipes() {
    let workspace = mixed();
    for words in [
        &["ls"][..],
        &["ls", "--color", "never"],
        &["show", "a1b"],
        &["show", "zzz"],
    ] {
        let said = workspace.run(words);
        assert!(
            !said.out.contains('\u{1b}') && !said.err.contains('\u{1b}'),
            "{words:?}"
        );
    }
}

#[test]
fn a_title_cannot_command_the_terminal() {
    let workspace = Workspace::new();
    workspace.waiting(
        "demo",
        ONE,
        "\u{1b}]0;owned\u{7}\u{202e}evil\nsecond line\u{9b}2J",
    );
    for words in [
        &["ls"][..],
        &["ls", "--json"],
        &["show", ONE],
        &["show", ONE, "--json"],
        &["log", ONE],
    ] {
        let said = workspace.run(words);
        assert_eq!(said.code, 0, "{words:?}");
        let bad = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
        assert!(!said.out.contains(bad), "{words:?}: {:?}", said.out);
        assert!(said.out.contains("evil"), "{words:?}");
    }
    let listed = workspace.run(&["ls", "--json"]).json();
    let title = listed["flows"][0]["title"].as_str().unwrap();
    assert!(
        title.contains('\u{1b}') && title.contains('\u{9b}'),
        "escapes mean what they stood for"
    );
}

#[test]
fn a_reader_that_stops_reading_ends_it_quietly() {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Release");
    for words in [
        &["ls"][..],
        &["log", ONE],
        &["show", ONE],
        &["export", ONE, "-"],
    ] {
        let mut child = workspace
            .command(words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut told = String::new();
        let err = child.stderr.take().unwrap();
        for line in BufReader::new(err).lines() {
            told.push_str(&line.unwrap());
        }
        assert_eq!(child.wait().unwrap().code(), Some(0), "{words:?}: {told}");
        assert_eq!(told, "", "{words:?}");
    }
}

#[test]
fn a_result_that_cannot_be_written_is_an_error() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else {
        return;
    };
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Release");
    let mut command = workspace.command(&["ls"]);
    command.stdout(full).stderr(Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    assert!(String::from_utf8_lossy(&output.stderr).contains("error[disk-full]"));
}

/// What `git` would take up of a workspace, a path on each line.
fn seen_by_git(workspace: &Workspace) -> String {
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        let git = git.args(words).current_dir(workspace.path());
        let done = git.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    git(&["init", "-q"]);
    git(&["status", "--porcelain", "--untracked-files=all"])
}

#[test]
fn the_state_of_a_workspace_is_out_of_sight_of_git_from_the_next_command_on() {
    let open = std::fs::Permissions::from_mode(0o755);
    for (is_open, own) in [(false, None), (true, None), (false, Some("skills/a.md"))] {
        let workspace = Workspace::new();
        workspace.waiting("demo", ONE, "Release");
        let ours = workspace.path().join(".a-society");
        if let Some(own) = own {
            std::fs::create_dir(ours.join("skills")).unwrap();
            std::fs::write(ours.join(own), "Text.").unwrap();
        }
        if is_open {
            std::fs::set_permissions(workspace.state(), open.clone()).unwrap();
        }
        assert!(seen_by_git(&workspace).contains("/state/"));
        let said = workspace.run(&["ls"]);
        assert_eq!(said.err.contains("only you can"), is_open, "{said:?}");
        let seen = seen_by_git(&workspace);
        let seen: Vec<&str> = seen.lines().collect();
        match own {
            None => assert!(seen.is_empty(), "{seen:?}"),
            Some(_) => assert_eq!(
                seen,
                ["?? .a-society/.gitignore", "?? .a-society/skills/a.md"]
            ),
        }
        // It is not said again, and nothing of it is written again.
        let before = workspace.contents();
        let said = workspace.run(&["ls"]);
        assert!(!said.err.contains("only you can"), "{said:?}");
        assert_eq!(workspace.contents(), before);
    }
}
