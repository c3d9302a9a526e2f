//! What may be typed, what the help says, and what shells and pages are made of.

use super::ONE;
use crate::support::Workspace;
use crate::tidy::expect_generated;

const VERBS: &[&str] = &[
    "demo",
    "init",
    "check",
    "graph",
    "schema",
    "serve",
    "session",
    "sessions",
    "schedules",
    "search",
    "run",
    "chat",
    "resume",
    "status",
    "watch",
    "reply",
    "approve",
    "decline",
    "allow",
    "deny",
    "diff",
    "mcp",
    "mode",
    "rules",
    "skills",
    "configure",
    "budget",
    "steer",
    "stop",
    "pause",
    "unpause",
    "cancel",
    "retry",
    "reopen",
    "revise",
    "improve",
    "feedback",
    "findings",
    "fork",
    "ls",
    "show",
    "log",
    "verify",
    "repair",
    "rebuild",
    "export",
    "import",
    "import-state",
    "prune",
    "models",
    "completions",
    "man",
    "exit-codes",
];

/// The commands within others.
const NESTED: [&str; 46] = [
    "schedules-ls",
    "sessions-ls",
    "sessions-history",
    "sessions-send",
    "sessions-wait",
    "rules-add",
    "rules-ls",
    "rules-rm",
    "findings-apply",
    "findings-decline",
    "findings-diff",
    "findings-propose",
    "mcp-add",
    "mcp-approve",
    "mcp-ls",
    "mcp-revoke",
    "mcp-rm",
    "mcp-test",
    "models-add",
    "models-catalogue",
    "models-edit",
    "models-ls",
    "models-rm",
    "models-test",
    "models-use",
    "session-archives",
    "session-close",
    "session-compact",
    "session-exists",
    "session-export",
    "session-inject",
    "session-length",
    "session-ls",
    "session-open",
    "session-request",
    "session-reset",
    "session-restore",
    "session-snapshot",
    "session-tree",
    "session-trim",
    "skills-add",
    "skills-edit",
    "skills-import",
    "skills-ls",
    "skills-rm",
    "skills-show",
];

#[test]
fn generated_files_of_the_command_line_are_up_to_date() {
    let workspace = Workspace::new();
    expect_generated("docs/cli.md", &workspace.run(&["__reference", "cli"]).out);
    expect_generated(
        "docs/exit-codes.md",
        &workspace.run(&["__reference", "exit-codes"]).out,
    );
}

#[test]
fn the_help_of_every_command_shows_how_it_is_used() {
    let workspace = Workspace::new();
    for verb in VERBS {
        let said = workspace.run(&[verb, "--help"]);
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{verb}");
        assert!(
            said.out.contains(&format!("Usage: a-society {verb}")),
            "{}",
            said.out
        );
        let shows = said.out.contains("Examples:") || *verb == "exit-codes";
        assert!(shows, "{verb}: {}", said.out);
        assert!(!said.out.contains('\u{1b}'), "no colours into a pipe");
    }
}

#[test]
fn the_help_as_a_whole() {
    let said = Workspace::new().run(&["--help"]);
    assert_eq!(said.code, 0);
    insta::assert_snapshot!(said.out);
}

#[test]
fn what_nobody_should_type_is_not_in_help_pages_or_completions() {
    let workspace = Workspace::new();
    let pages = workspace.run(&["__reference", "cli"]).out;
    let mut shown = vec![workspace.run(&["--help"]).out, pages];
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let said = workspace.run(&["completions", shell]);
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{shell}");
        let asks = said.out.contains("__complete");
        assert!(said.out.contains("older-than") || asks, "{shell}");
        shown.push(said.out);
    }
    for text in shown {
        assert!(
            !text.contains("__scenario") && !text.contains("__reference"),
            "{text}"
        );
    }
}

#[test]
fn arguments_that_make_no_sense_end_with_two() {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Release");
    for words in [
        &[][..],
        &["lss"],
        &["ls", "--color", "sometimes"],
        &["fork"],
        &["repair", ONE],
        &["repair", ONE, "--dry-run", "--apply"],
        &["log", ONE, "--since", "-1"],
        &["prune"],
        &["prune", "--older-than", "30"],
        &["prune", "--older-than", "1d", "--dry-run", "--yes"],
        &["completions", "cmd"],
        &["serve", "--listen", "0.0.0.0"],
        &["serve", "--speed", "2"],
        &["ls", "--project", "../up"],
        &["ls", "--project", "a/b"],
        &["ls", "--project", "a\u{7}b"],
        &["show", "../../etc/passwd"],
        &["import", "x.tar", "--project", ".."],
    ] {
        let said = workspace.run(words);
        assert_eq!(said.code, 2, "{words:?}: {said:?}");
        assert_eq!(said.out, "", "{words:?}");
        assert!(!said.err.is_empty(), "{words:?}");
        assert!(!said.err.contains('\u{7}'), "{words:?}: {:?}", said.err);
    }
}

#[test]
fn an_error_as_json_is_one_line_with_code_and_what_to_try() {
    let workspace = Workspace::new();
    for (words, code, exit) in [
        (&["--json", "lss"][..], "usage", 2),
        (&["show", "zzz", "--json"], "flow-not-found", 3),
        (&["show", "../x/y", "--json"], "bad-name", 2),
        (&["import", "nowhere.tar", "--json"], "not-found", 3),
    ] {
        let said = workspace.run(words);
        assert_eq!((said.code, said.out.as_str()), (exit, ""), "{words:?}");
        assert_eq!(said.err.lines().count(), 1, "{}", said.err);
        let json: serde_json::Value = serde_json::from_str(&said.err).unwrap();
        assert_eq!(json["error"]["code"], code, "{words:?}");
        assert_eq!(json["error"]["exit_code"], exit, "{words:?}");
        assert!(
            json["error"]["try"]
                .as_str()
                .is_some_and(|hint| !hint.is_empty())
        );
    }
}

#[test]
fn without_a_workspace_it_says_how_to_come_by_one() {
    let workspace = Workspace::new();
    let outside = tempfile::tempdir().unwrap();
    let said = workspace.heard(workspace.command(&["ls"]).current_dir(outside.path()));
    assert_eq!((said.code, said.out.as_str()), (3, ""), "{said:?}");
    assert!(said.err.contains("error[no-workspace]"), "{}", said.err);
    assert!(said.err.contains("a-society init"), "{}", said.err);
}

#[test]
fn a_workspace_is_found_from_within_and_named_from_without() {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Release");
    let inside = workspace.path().join("demo/src");
    std::fs::create_dir_all(&inside).unwrap();
    let outside = tempfile::tempdir().unwrap();
    let place = workspace.path().to_str().unwrap();

    let found = workspace.heard(workspace.command(&["ls"]).current_dir(&inside));
    assert!(found.code == 0 && found.out.contains(ONE), "{found:?}");
    let named = workspace
        .command(&["ls", "--workspace", place])
        .current_dir(&outside)
        .output();
    assert!(String::from_utf8_lossy(&named.unwrap().stdout).contains(ONE));
    let mut told = workspace.command(&["ls"]);
    told.env("A_SOCIETY_WORKSPACE", place).current_dir(&outside);
    assert!(workspace.heard(&mut told).out.contains(ONE));

    // A named folder is taken literally: one inside a workspace is not a workspace.
    let said = workspace.run(&["ls", "--workspace", inside.to_str().unwrap()]);
    assert_eq!(said.code, 3, "{said:?}");
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let workspace = Workspace::new();
    let said = workspace.run(&["man", "pages/man1"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{said:?}");
    let mut wanted: Vec<String> = VERBS
        .iter()
        .map(|verb| format!("pages/man1/a-society-{verb}.1"))
        .collect();
    wanted.push("pages/man1/a-society.1".to_owned());
    wanted.extend(NESTED.map(|verb| format!("pages/man1/a-society-{verb}.1")));
    wanted.sort();
    let mut written: Vec<&str> = said.out.lines().collect();
    written.sort_unstable();
    assert_eq!(written, wanted);
    for page in &wanted {
        let text = std::fs::read_to_string(workspace.path().join(page)).unwrap();
        assert!(text.contains(".TH"), "{page}");
        assert!(!text.contains("__scenario"), "{page}");
    }
    let page =
        std::fs::read_to_string(workspace.path().join("pages/man1/a-society-prune.1")).unwrap();
    assert!(
        page.contains("a\\-society\\-prune") || page.contains("a\\-society prune"),
        "{page}"
    );
    let page = workspace.path().join("pages/man1/a-society-models-add.1");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("\\-\\-window"), "{page}");
    assert_eq!(
        workspace.run(&["man", "pages/man1"]).code,
        6,
        "nothing is overwritten unasked"
    );
    assert_eq!(workspace.run(&["man", "pages/man1", "--force"]).code, 0);
}

#[test]
fn the_exit_codes_can_be_asked_for() {
    let workspace = Workspace::new();
    let said = workspace.run(&["exit-codes"]);
    assert!(
        said.out
            .contains("  4  A journal, a blob or an archive is damaged."),
        "{}",
        said.out
    );
    let codes = workspace.run(&["exit-codes", "--json"]).json();
    assert_eq!(codes["exit_codes"][3]["code"], 3);
    assert!(
        workspace
            .run(&["help", "exit-codes"])
            .out
            .contains("Exit codes:")
    );
}

#[test]
fn refused_arguments_look_like_every_other_error_and_say_what_can_be_typed() {
    let workspace = Workspace::new();
    let said = workspace.run(&["run", "ledger.yaml", "--improve", "fgh"]);
    let wanted = "error[usage]: --improve is graph, parallel or none, not \"fgh\"\n  \
                  try: a-society run ledger.yaml --improve none\n";
    assert_eq!((said.code, said.out.as_str()), (2, ""), "{said:?}");
    assert_eq!(said.err, wanted);
    let said = workspace.run(&["ls", "--colour", "always", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&said.err).unwrap();
    assert_eq!(json["error"]["why"], "the nearest is --color");
    assert_eq!(json["error"]["try"], "a-society ls --color always --json");
}

#[test]
fn a_flow_file_that_is_not_there_names_those_that_are_and_no_number_of_the_system() {
    let workspace = Workspace::new();
    let folder = workspace.path();
    std::fs::create_dir(folder.join("docs")).unwrap();
    for path in ["ledger.yaml", "docs/flow.yaml"] {
        std::fs::write(folder.join(path), "workflow: {}\n").unwrap();
    }
    std::fs::write(folder.join("other.yaml"), "a: b\n").unwrap();
    for (verb, typed) in [("run", "run"), ("check", "check"), ("graph", "graph")] {
        let said = workspace.run(&[verb, "legder.yaml"]);
        let wanted = format!(
            "error[not-found]: there is no file or project legder.yaml\n  \
             why: this folder has ledger.yaml, docs/flow.yaml\n  \
             try: a-society {typed} ledger.yaml\n"
        );
        assert_eq!((said.code, said.out.as_str()), (3, ""), "{said:?}");
        assert_eq!(said.err, wanted);
    }
}

#[test]
fn a_limit_below_zero_is_called_no_number_and_not_an_unknown_option() {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Release");
    for words in [
        &["run", "flow.yaml", "--budget", "-3"][..],
        &["budget", ONE, "tokens", "-3"],
    ] {
        let said = workspace.run(words);
        assert_eq!(said.code, 2, "{words:?}: {said:?}");
        assert!(
            said.err.contains("neither a number nor none"),
            "{words:?}: {}",
            said.err
        );
    }
}
