//! What the file tools do with honest input.

use std::sync::Arc;

use a_society_base::stop::StopSignal;
use a_society_facts::Hash;
use a_society_facts::fact::turn::{CallEnd, Effect};
use serde_json::json;

use super::stage::{Stage, call, done, finish, missing, output, plan, refusal, without_time};
use crate::consent::Tier;
use crate::tool::{RefusalKind, Toolbox, WorkflowCheck};

#[test]
fn what_a_kill_left_half_written_is_removed_and_nothing_else() {
    let stage = Stage::new();
    let tools = stage.toolbox();
    let half = |name: &[u8], number: usize| {
        let hash = Hash::of(name).to_string();
        format!("project/src/.a-society-{}-{number}.tmp", &hash[..16])
    };
    stage.write("project/src/a.txt", "one\n");
    let (first, second) = (half(b"a.txt", 0), half(b"a.txt", 1));
    let another = half(b"b.txt", 0);
    for path in [&first, &second, &another] {
        stage.write(path, "tw");
    }
    let asked = call(
        "write_file",
        json!({ "path": "src/a.txt", "content": "two\n" }),
    );
    assert_eq!(tools.clear_halves(&asked), Ok(()));
    assert_eq!((stage.read(&first), stage.read(&second)), (None, None));
    assert_eq!(stage.read(&another).as_deref(), Some("tw"));
    assert_eq!(stage.read("project/src/a.txt").as_deref(), Some("one\n"));
    let nowhere = call("write_file", json!({ "path": "no/b.txt", "content": "" }));
    assert_eq!(tools.clear_halves(&nowhere), Ok(()));
}

#[test]
fn a_file_is_written_read_and_edited_and_its_hashes_tell_what_happened() {
    let stage = Stage::new();
    let tools = stage.toolbox();
    let given = json!({ "path": "src/new/a.txt", "content": "one\ntwo\n" });
    let planned = plan(&tools, "write_file", given).unwrap();
    assert_eq!(planned.effect, Effect::Checkable);
    assert_eq!(
        (planned.before, planned.after),
        (None, Some(Hash::of(b"one\ntwo\n")))
    );
    assert_eq!(planned.ask.tier, Tier::Edit);
    assert_eq!(stage.read("project/src/new/a.txt"), None);
    let asked = call(
        "write_file",
        json!({ "path": "src/new/a.txt", "content": "" }),
    );
    assert_eq!(tools.hashes_now(&asked), Ok(vec![None]));
    let finished = finish(&tools, planned, &StopSignal::default());
    assert_eq!(finished.end, CallEnd::Done, "{}", finished.output);
    assert_eq!(
        stage.read("project/src/new/a.txt").as_deref(),
        Some("one\ntwo\n")
    );

    let edit = json!({ "path": "src/new/a.txt", "old": "two", "new": "2" });
    let planned = plan(&tools, "edit_file", edit).unwrap();
    assert_eq!(planned.before, Some(Hash::of(b"one\ntwo\n")));
    assert_eq!(planned.after, Some(Hash::of(b"one\n2\n")));
    assert_eq!(
        finish(&tools, planned, &StopSignal::default()).output,
        "Edited src/new/a.txt: 1 place, +1 -1.\n2\t-two\n2\t+2\n"
    );
    assert_eq!(
        output(&tools, "read_file", json!({ "path": "src/new/a.txt" })),
        "1\tone\n2\t2\n"
    );
    let lines = json!({ "path": "src/new/a.txt", "first": 2, "last": 9 });
    assert_eq!(
        output(&tools, "read_file_lines", lines),
        "[src/new/a.txt: lines 2-2 of 2]\n2\t2\n"
    );
}

#[test]
fn folders_are_listed_and_searched_without_what_is_not_to_be_seen() {
    let stage = Stage::new();
    for (path, text) in [
        ("project/a.rs", "fn needle() {}\n// Needle\n"),
        ("project/sub/b.rs", "x\nneedle needle\n"),
        ("project/sub/c.txt", "needle\n"),
        ("project/.env", "needle\n"),
        ("project/.git/needle", "needle\n"),
        ("project/bin", "\0needle\n"),
    ] {
        stage.write(path, text);
    }
    std::os::unix::fs::symlink("a.rs", stage.project().join("link")).unwrap();
    let tools = stage.toolbox();
    assert_eq!(
        output(&tools, "list_directory", json!({ "path": "." })),
        ".env\t7\n.git/\na.rs\t25\nbin\t8\nlink@\nsub/\n"
    );
    assert_eq!(
        output(
            &tools,
            "search_files",
            json!({ "path": ".", "text": "needle" })
        ),
        "a.rs:1:fn needle() {}\nsub/b.rs:2:needle needle\nsub/c.txt:1:needle\n"
    );
    let narrow = json!({ "path": ".", "text": "NEEDLE", "ignore_case": true, "name": "*.rs" });
    assert_eq!(
        output(&tools, "search_files", narrow),
        "a.rs:1:fn needle() {}\na.rs:2:// Needle\nsub/b.rs:2:needle needle\n"
    );
}

#[test]
fn p41_a_file_that_has_changed_since_it_was_read_is_not_changed_again() {
    let stage = Stage::new();
    stage.write("project/a.txt", "one");
    let tools = stage.toolbox();
    let edit = json!({ "path": "a.txt", "old": "one", "new": "two" });
    // After it was planned.
    let planned = plan(&tools, "edit_file", edit.clone()).unwrap();
    stage.write("project/a.txt", "one, changed");
    let finished = finish(&tools, planned, &StopSignal::default());
    assert_eq!(finished.end, CallEnd::Failed);
    assert!(
        finished.output.contains("changed since"),
        "{}",
        finished.output
    );
    // After it was read.
    let _read = output(&tools, "read_file", json!({ "path": "a.txt" }));
    stage.write("project/a.txt", "one, changed again");
    assert_eq!(
        refusal(&tools, "edit_file", edit.clone()),
        Some(RefusalKind::Stale)
    );
    assert_eq!(
        stage.read("project/a.txt").as_deref(),
        Some("one, changed again")
    );
    // What had changed was shown with the refusal, so that the same call may follow.
    let _edited = output(&tools, "edit_file", edit);
    assert_eq!(
        stage.read("project/a.txt").as_deref(),
        Some("two, changed again")
    );
    stage.write("project/a.txt", "three");
    let write = json!({ "path": "a.txt", "content": "" });
    assert_eq!(
        refusal(&tools, "write_file", write),
        Some(RefusalKind::Stale)
    );
}

#[test]
fn the_graph_of_the_flow_is_changed_only_into_one_that_holds() {
    let stage = Stage::new();
    stage.write(".a-society/state/p/f/record/workflow.yaml", "old");
    let path = stage.record().join("workflow.yaml");
    let path = path.to_str().unwrap();
    let write = |content: &str| json!({ "path": path, "content": content });
    let without = stage.toolbox();
    assert_eq!(
        refusal(&without, "write_file", write("good")),
        Some(RefusalKind::OutOfReach)
    );
    let mut setting = stage.setting();
    let check = |text: &str| match text {
        "good" => Ok(()),
        _ => Err("line 1: no nodes".to_owned()),
    };
    setting.check_workflow = Some(WorkflowCheck(Arc::new(check)));
    let tools = Toolbox::open(setting).unwrap();
    let refused = tools.plan(&call("write_file", write("bad"))).unwrap_err();
    assert!(
        refused.text.ends_with("line 1: no nodes"),
        "{}",
        refused.text
    );
    let edit = json!({ "path": path, "old": "old", "new": "bad" });
    assert_eq!(
        refusal(&tools, "edit_file", edit),
        Some(RefusalKind::NotPossible)
    );
    let _written = output(&tools, "write_file", write("good"));
    assert_eq!(
        stage
            .read(".a-society/state/p/f/record/workflow.yaml")
            .as_deref(),
        Some("good")
    );
    let ours = json!({ "path": stage.record().join("record.yaml"), "content": "x" });
    assert_eq!(
        refusal(&tools, "write_file", ours),
        Some(RefusalKind::OutOfReach)
    );
}

#[test]
fn long_files_are_shown_in_parts_and_say_how_to_go_on() {
    let stage = Stage::new();
    let text: String = (0..20_000)
        .map(|number| format!("line {number}\n"))
        .collect();
    stage.write("project/long.txt", &text);
    stage.write("project/wide.txt", &"x".repeat(10_000));
    let tools = stage.toolbox();
    let read = done(&tools, "read_file", json!({ "path": "long.txt" })).unwrap();
    let head = "[long.txt: lines 1-2000 of 20000; go on with offset 2001]\n1\tline 0\n";
    assert!(
        read.output.starts_with(head) && read.output.ends_with("\n2000\tline 1999\n"),
        "{}",
        &read.output[..100]
    );
    let wide = done(&tools, "read_file", json!({ "path": "wide.txt" })).unwrap();
    assert_eq!(
        wide.output,
        format!("1\t{}...[+8,000 characters]\n", "x".repeat(2_000))
    );
}

#[test]
fn a_long_output_is_cut_and_the_whole_of_it_is_kept_where_tools_read_it() {
    let stage = Stage::new();
    let text: String = (0..2_000).map(|n| format!("{n:>600}\n")).collect();
    stage.write("project/a.txt", &text);
    let mut setting = stage.setting();
    setting.limits.output_bytes = 10_000;
    let tools = Toolbox::open(setting).unwrap();
    let found = done(&tools, "grep", json!({ "pattern": "1", "context": 10 })).unwrap();
    assert!(found.is_cut && found.output.len() < 10_300);
    let mark = "left out; all of it: record/.outputs/7.1.1.txt ...]\n";
    assert!(found.output.contains(mark), "{}", found.output);
    // It is there for tools that read, and for no list, search or write.
    let kept = json!({ "pattern": "a.txt:2?99", "path": "record/.outputs/7.1.1.txt" });
    assert!(plan(&tools, "grep", kept).is_ok());
    let kept = json!({ "path": "record/.outputs/7.1.1.txt", "content": "x" });
    assert!(plan(&tools, "write_file", kept).is_err());
    let listed = output(&tools, "glob", json!({ "pattern": "**", "path": "record" }));
    assert_eq!(listed, "No match in 0 files.\n");
    // A folder that cannot be made hinders no call.
    std::fs::remove_dir_all(stage.record().join(".outputs")).unwrap();
    std::os::unix::fs::symlink("..", stage.record().join(".outputs")).unwrap();
    let found = done(&tools, "grep", json!({ "pattern": "1", "context": 10 })).unwrap();
    assert!(
        found
            .output
            .contains("left out; it could not be kept ...]\n")
    );
}

#[test]
fn what_is_asked_for_wrongly_is_refused_in_words_that_help() {
    let stage = Stage::new();
    stage.write("project/a.txt", "a\n");
    let tools = stage.toolbox();
    for (tool, given, said) in [
        (
            "read_fil",
            json!({}),
            "There is no tool read_fil. There are: read_file, ",
        ),
        ("fetch_url", json!({ "url": "x" }), "There is no tool"),
        (
            "read_file",
            json!({ "file": "a.txt" }),
            "read_file: there is no file. Right: {path: string, ",
        ),
        (
            "read_file",
            json!({ "path": "b.txt" }),
            "No file b.txt. Close: a.txt.",
        ),
        (
            "read_file",
            json!({ "path": "a.txt/b" }),
            "is not a folder.",
        ),
        (
            "read_file_lines",
            json!({ "path": "a.txt", "first": 2, "last": 1 }),
            "there are no lines 2 to 1. Right: ",
        ),
        (
            "edit_file",
            json!({ "path": "b.txt", "old": "a", "new": "b" }),
            "No file b.txt. Close: a.txt.",
        ),
        (
            "write_file",
            json!({ "path": ".", "content": "" }),
            "is a folder",
        ),
        ("run_command", json!({ "command": " " }), "empty"),
        (
            "run_command",
            json!({ "command": "ls", "timeout_ms": 0 }),
            "between 1 and",
        ),
    ] {
        let refused = plan(&tools, tool, given).unwrap_err();
        assert!(refused.text.contains(said), "{tool}: {}", refused.text);
    }
    let late = json!({ "path": "a.txt", "first": 5, "last": 6 });
    let finished = done(&tools, "read_file_lines", late).unwrap();
    assert_eq!(
        (finished.end, finished.output.as_str()),
        (
            CallEnd::Failed,
            "a.txt has 1 lines; offset 5 is past the end."
        )
    );
}

/// A workspace that is its own project has the state of flows, and perhaps skills, inside.
#[test]
fn folders_within_one_another_are_told_apart_by_the_innermost() {
    let stage = Stage::new();
    stage.write(".a-society/skills/review/SKILL.md", "read me");
    let mut setting = stage.setting();
    setting.project = stage.root();
    setting.readable = vec![stage.root().join(".a-society/skills")];
    let tools = Toolbox::open(setting).unwrap();
    let skill = ".a-society/skills/review/SKILL.md";
    assert_eq!(
        output(&tools, "read_file", json!({ "path": skill })),
        "1\tread me\n"
    );
    assert_eq!(
        refusal(
            &tools,
            "write_file",
            json!({ "path": skill, "content": "x" })
        ),
        Some(RefusalKind::OutOfReach)
    );
    let note = ".a-society/state/p/f/record/note.md";
    let _written = output(
        &tools,
        "write_file",
        json!({ "path": note, "content": "x" }),
    );
    for path in [
        ".a-society/state/p/f/flow.json",
        ".a-society",
        ".a-society/state/p/f",
    ] {
        assert!(
            done(&tools, "read_file", json!({ "path": path })).is_err(),
            "{path}"
        );
        assert!(
            done(&tools, "list_directory", json!({ "path": path })).is_err(),
            "{path}"
        );
    }
    let command = json!({ "command": "cat .a-society/skills/review/SKILL.md; ls .a-society/state/p/f; echo y > .a-society/state/p/f/record/made" });
    let finished = done(&tools, "run_command", command).unwrap();
    let plain = plan(&tools, "run_command", json!({ "command": "true" })).unwrap();
    if missing(&plain).is_empty() {
        assert_eq!(without_time(&finished.output), "[exit 0]\nread merecord\n");
    }
    assert_eq!(
        stage.read(".a-society/state/p/f/record/made").as_deref(),
        Some("y\n")
    );
}
