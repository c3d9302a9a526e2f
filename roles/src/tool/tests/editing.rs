//! Edits and writes of real files, byte for byte, and what a model reads of them.

use std::path::PathBuf;
use std::sync::Arc;

use a_society_facts::Hash;
use a_society_facts::fact::turn::{CallEnd, Effect};
use a_society_facts::message::Message;
use serde_json::{Value, json};

use super::stage::{Stage, call, done, output, plan};
use crate::consent::Tier;
use crate::tool::Toolbox;

fn said(tools: &Toolbox, tool: &str, given: Value) -> String {
    match done(tools, tool, given) {
        Ok(finished) => finished.output,
        Err(refusal) => refusal.text,
    }
}

fn edits(path: &str, edits: &[(&str, &str)]) -> Value {
    let edits: Vec<Value> = edits
        .iter()
        .map(|(old, new)| json!({ "old_string": old, "new_string": new }))
        .collect();
    json!({ "path": path, "edits": edits })
}

#[test]
fn an_edit_of_a_file_with_a_mark_and_returns_leaves_all_other_bytes() {
    let stage = Stage::new();
    stage.write("project/a.cs", "\u{feff}one\r\n  two\r\nthree\r\n");
    let tools = stage.toolbox();
    let _read = output(&tools, "read_file", json!({ "path": "a.cs" }));
    let done = said(
        &tools,
        "edit_file",
        edits("a.cs", &[("one\n  two", "one\n  2\n  zwei")]),
    );
    assert_eq!(
        done,
        "Edited a.cs: 1 place, +2 -1.\n2\t-  two\n2\t+  2\n3\t+  zwei\n"
    );
    assert_eq!(
        stage.read("project/a.cs").as_deref(),
        Some("\u{feff}one\r\n  2\r\n  zwei\r\nthree\r\n")
    );
    let added = json!({ "path": "a.cs", "content": "four\n", "append": true });
    let _added = output(&tools, "write_file", added);
    let replaced = json!({ "path": "a.cs", "content": "new\nfile\n" });
    assert!(
        stage
            .read("project/a.cs")
            .unwrap()
            .ends_with("three\r\nfour\r\n")
    );
    let _replaced = output(&tools, "write_file", replaced);
    assert_eq!(
        stage.read("project/a.cs").as_deref(),
        Some("\u{feff}new\r\nfile\r\n")
    );
}

#[test]
fn of_three_edits_all_or_none_are_made_and_a_miss_shows_like_lines() {
    let stage = Stage::new();
    let text = "alpha\nbeta(1);\ngamma\n";
    stage.write("project/a.rs", text);
    let tools = stage.toolbox();
    let _read = output(&tools, "read_file", json!({ "path": "a.rs" }));
    let three = [("alpha", "ALPHA"), ("beta(2);", "x"), ("gamma", "GAMMA")];
    assert_eq!(
        said(&tools, "edit_file", edits("a.rs", &three)),
        "Edit 2 of 3: no such text in a.rs. Nothing was changed. Most alike, lines 2-2:\n2\tbeta(1);"
    );
    assert_eq!(stage.read("project/a.rs").as_deref(), Some(text));
    let three = [("alpha", "ALPHA"), ("beta(1);", "x"), ("gamma", "GAMMA")];
    let given = json!({ "file_path": "a.rs", "edits": edits("", &three)["edits"].to_string() });
    let done = said(&tools, "MultiEdit", given);
    assert!(
        done.starts_with("Edited a.rs: 3 places, +3 -3.\n1\t-alpha\n"),
        "{done}"
    );
    assert_eq!(
        stage.read("project/a.rs").as_deref(),
        Some("ALPHA\nx\nGAMMA\n")
    );
}

#[test]
fn copied_numbers_and_a_shifted_indentation_are_understood_once_and_said() {
    let stage = Stage::new();
    let text = "{\n    if a {\n        run();\n    }\n}\n";
    stage.write("project/a.rs", text);
    let tools = stage.toolbox();
    let numbers = edits("a.rs", &[("3\t        run();", "3\t        run()?;")]);
    assert!(
        said(&tools, "edit_file", numbers.clone()).contains("no such text"),
        "unread"
    );
    let _read = output(&tools, "read_file", json!({ "path": "a.rs" }));
    assert_eq!(
        said(&tools, "edit_file", numbers),
        "Edited a.rs: 1 place, +1 -1. [matched without the line numbers; look at it]\n\
         3\t-        run();\n3\t+        run()?;\n"
    );
    let shifted = edits(
        "a.rs",
        &[("if a {\n    run()?;\n}", "if b {\n    run()?;\n}")],
    );
    let done = said(&tools, "edit_file", shifted.clone());
    assert!(
        done.starts_with("Edited a.rs: 1 place, +1 -1. [matched after shifting the indentation by 4; look at it]\n"),
        "{done}"
    );
    assert_eq!(
        stage.read("project/a.rs").as_deref(),
        Some("{\n    if b {\n        run()?;\n    }\n}\n")
    );
    let twice = format!("{}{}", text, text);
    stage.write("project/b.rs", &twice);
    let _read = output(&tools, "read_file", json!({ "path": "b.rs" }));
    let two = edits("b.rs", &[("if a {\n    run();\n}", "x")]);
    assert!(said(&tools, "edit_file", two).starts_with("Edit 1: 2 matches, lines 2, 7."));
    assert_eq!(stage.read("project/b.rs"), Some(twice));
}

#[test]
fn an_empty_old_string_makes_a_file_and_changes_none() {
    let stage = Stage::new();
    stage.write("project/a.txt", "one\n");
    stage.write("project/empty.txt", "");
    let tools = stage.toolbox();
    let refused = said(&tools, "edit_file", edits("a.txt", &[("", "x")]));
    assert!(
        refused.starts_with("old_string is empty, and a.txt is not."),
        "{refused}"
    );
    let blank = said(&tools, "edit_file", edits("a.txt", &[("  \n", "x")]));
    assert!(blank.contains("no such text"), "{blank}");
    assert_eq!(stage.read("project/a.txt").as_deref(), Some("one\n"));
    assert_eq!(
        said(&tools, "edit_file", edits("new.txt", &[("", "two\n")])),
        "Wrote new.txt: 4 bytes, 1 lines."
    );
    let _filled = output(&tools, "edit_file", edits("empty.txt", &[("", "x")]));
    assert_eq!(stage.read("project/new.txt").as_deref(), Some("two\n"));
    assert_eq!(stage.read("project/empty.txt").as_deref(), Some("x"));
}

#[test]
fn a_file_that_changed_is_refused_with_its_new_lines_and_then_the_same_call_works() {
    let stage = Stage::new();
    stage.write("project/a.txt", "one\ntwo\n");
    let tools = stage.toolbox();
    let _read = output(&tools, "read_file", json!({ "path": "a.txt" }));
    stage.write("project/a.txt", "zero\none\ntwo\n");
    let given = edits("a.txt", &[("two", "2")]);
    let refused = said(&tools, "edit_file", given.clone());
    assert!(
        refused.starts_with("a.txt changed since you read it. Nothing was done.")
            && refused.ends_with("\n1\t+zero"),
        "{refused}"
    );
    let _edited = output(&tools, "edit_file", given);
    assert_eq!(
        stage.read("project/a.txt").as_deref(),
        Some("zero\none\n2\n")
    );
}

#[test]
fn an_unread_file_is_changed_only_by_its_very_text_and_not_replaced() {
    let stage = Stage::new();
    let text: String = (1..=9).map(|n| format!("line {n}\n")).collect();
    stage.write("project/a.txt", &text);
    let tools = stage.toolbox();
    let replacing = json!({ "path": "a.txt", "content": "new\n" });
    let refused = said(&tools, "write_file", replacing.clone());
    assert_eq!(
        refused,
        "a.txt is there and was not read: 63 bytes, 9 lines. Read it before you replace it. It \
         begins:\n1\tline 1\n2\tline 2\n3\tline 3\n4\tline 4\n5\tline 5"
    );
    assert_eq!(stage.read("project/a.txt"), Some(text));
    let _edited = output(&tools, "edit_file", edits("a.txt", &[("line 3", "3")]));
    // An own change counts as seen.
    assert_eq!(
        said(&tools, "write_file", replacing),
        "Wrote a.txt: 4 bytes, 1 lines."
    );
    let same = json!({ "path": "a.txt", "content": "new\n" });
    assert_eq!(said(&tools, "write_file", same), "No change.");
}

#[test]
fn what_is_appended_comes_behind_what_is_there_and_its_hashes_are_planned() {
    let stage = Stage::new();
    let tools = stage.toolbox();
    let part = |text: &str| json!({ "path": "record/long.md", "content": text, "append": true });
    assert_eq!(
        said(&tools, "write_file", part("one")),
        "Wrote record/long.md: 3 bytes, 1 lines."
    );
    let other = stage.toolbox();
    let planned = plan(&other, "write_file", part(" two\n")).unwrap();
    assert_eq!(planned.effect, Effect::Checkable);
    assert_eq!(planned.before, Some(Hash::of(b"one")));
    assert_eq!(planned.after, Some(Hash::of(b"one two\n")));
    assert_eq!(
        said(&other, "write_file", part(" two\n")),
        "Appended to record/long.md: 5 bytes; now 8 bytes, 1 lines."
    );
    assert_eq!(
        other.hashes_now(&call("write_file", part(" two\n"))),
        Ok(vec![Some(Hash::of(b"one two\n"))])
    );
}

#[test]
fn a_text_that_only_speaks_of_the_rest_does_not_take_a_files_place() {
    let stage = Stage::new();
    stage.write("project/a.rs", "fn a() {}\nfn b() {}\n");
    let tools = stage.toolbox();
    let _read = output(&tools, "read_file", json!({ "path": "a.rs" }));
    let given = json!({ "path": "a.rs", "content": "fn c() {}\n// ... rest of code\n" });
    let refused = said(&tools, "write_file", given);
    assert!(
        refused.starts_with("Line 2, `// ... rest of code`, leaves something out."),
        "{refused}"
    );
    assert_eq!(
        stage.read("project/a.rs").as_deref(),
        Some("fn a() {}\nfn b() {}\n")
    );
}

#[test]
fn the_operator_reads_the_whole_difference_before_an_answer() {
    let stage = Stage::new();
    let text: String = (1..=200).map(|n| format!("line {n}\n")).collect();
    stage.write("project/a.txt", &text);
    let tools = stage.toolbox();
    let _read = output(&tools, "read_file", json!({ "path": "a.txt" }));
    let given = json!({ "path": "a.txt", "content": text.replace("line", "LINE") });
    let planned = plan(&tools, "write_file", given).unwrap();
    assert_eq!(planned.ask.shown.matches("LINE").count(), 200);
    assert_eq!(planned.ask.shown.matches("line ").count(), 200);
    let all =
        json!({ "path": "a.txt", "old_string": "line", "new_string": "L", "replace_all": true });
    let edit = plan(&tools, "edit_file", all.clone()).unwrap();
    assert!(
        edit.ask.shown.contains("200 -line 200"),
        "{}",
        edit.ask.shown
    );
    let told = output(&tools, "edit_file", all);
    assert!(
        told.starts_with("Edited a.txt: 200 places, +200 -200.\n"),
        "{told}"
    );
    assert!(told.ends_with("[360 more changed lines]\n"), "{told}");
}

#[test]
fn bytes_that_are_no_text_are_never_changed() {
    let stage = Stage::new();
    let path = stage.project().join("a.txt");
    std::fs::write(&path, b"gr\xfcn\n").unwrap();
    let tools = stage.toolbox();
    let _read = output(&tools, "read_file", json!({ "path": "a.txt" }));
    for (tool, given) in [
        ("edit_file", edits("a.txt", &[("gr", "x")])),
        ("write_file", json!({ "path": "a.txt", "content": "x" })),
        (
            "write_file",
            json!({ "path": "a.txt", "content": "x", "append": true }),
        ),
    ] {
        let refused = said(&tools, tool, given);
        assert!(refused.contains("is not UTF-8 text"), "{refused}");
    }
    assert_eq!(std::fs::read(path).unwrap(), b"gr\xfcn\n");
    let finished = done(&tools, "read_file", json!({ "path": "a.txt" })).unwrap();
    assert_eq!(finished.end, CallEnd::Done);
}

#[test]
fn files_that_change_what_is_trusted_are_asked_for_each_time() {
    let stage = Stage::new();
    stage.write("project/bare/HEAD", "ref: refs/heads/main\n");
    stage.write("project/.github/workflows/old.yml", "x: y\n");
    let link = |to: &str, name: &str| {
        let name = stage.project().join(name);
        std::os::unix::fs::symlink(to, name).unwrap();
    };
    link(".github/workflows", "link");
    link("bare", "other");
    let tools = stage.toolbox();
    for (path, expected) in [
        // By whatever name: a link does not make less of it.
        ("link/new.yml", Tier::Trust),
        ("link/new/deep.yml", Tier::Trust),
        ("other/config", Tier::Trust),
        (".vscode/tasks.json", Tier::Trust),
        ("AGENTS.md", Tier::Trust),
        (".github/workflows/ci.yml", Tier::Trust),
        (".husky/pre-commit", Tier::Trust),
        ("a-docs/agents.md", Tier::Trust),
        ("new/HEAD", Tier::Trust),
        ("bare/config", Tier::Trust),
        ("bare/hooks/post-checkout", Tier::Trust),
        ("record/HEAD", Tier::Trust),
        ("record/AGENTS.md", Tier::Free),
        ("src/a.rs", Tier::Edit),
    ] {
        let planned = plan(
            &tools,
            "write_file",
            json!({ "path": path, "content": "x" }),
        )
        .unwrap();
        assert_eq!(planned.ask.tier, expected, "{path}");
        assert_eq!(
            planned.ask.grant().is_some(),
            expected == Tier::Edit,
            "{path}"
        );
    }
}

#[test]
fn a_file_that_runs_with_anothers_rights_is_read_only_when_the_operator_is_asked() {
    use std::os::unix::fs::PermissionsExt as _;

    let stage = Stage::new();
    stage.write("project/tool", "x");
    let path = stage.project().join("tool");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o4755)).unwrap();
    let tools = stage.toolbox();
    let planned = plan(&tools, "read_file", json!({ "path": "tool" })).unwrap();
    assert_eq!(planned.ask.tier, Tier::Sensitive);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let planned = plan(&tools, "read_file", json!({ "path": "tool" })).unwrap();
    assert_eq!(planned.ask.tier, Tier::Free);
    // Only the system's first user can give a file away.
    if std::os::unix::fs::chown(&path, Some(54_321), None).is_ok() {
        let planned = plan(&tools, "read_file", json!({ "path": "tool" })).unwrap();
        assert_eq!(planned.ask.tier, Tier::Sensitive);
    }
}

#[test]
fn a_new_file_of_the_record_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let stage = Stage::new();
    let tools = stage.toolbox();
    for path in ["record/new.md", "new.md"] {
        output(
            &tools,
            "write_file",
            json!({ "path": path, "content": "x" }),
        );
    }
    let mode = |path: PathBuf| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(stage.record().join("new.md")), 0o600);
    // Files of the project are made as any other program makes them.
    let other = stage.project().join("other.md");
    std::fs::write(&other, "x").unwrap();
    assert_eq!(mode(stage.project().join("new.md")), mode(other));
}

#[test]
fn a_file_is_known_by_every_path_that_a_record_may_have_of_it() {
    let stage = Stage::new();
    stage.write("project/src/a.txt", "one\n");
    stage.write("project/src/other/a.txt", "one\n");
    let absolute = stage.project().join("src/a.txt");
    for recorded in ["src/a.txt", "./src/a.txt", absolute.to_str().unwrap()] {
        let tools = stage.toolbox();
        let seen = [(recorded.to_owned(), Hash::of(b"one\n"))];
        tools.remember(Arc::new(seen.into()));
        for (path, may) in [("src/a.txt", true), ("src/other/a.txt", false)] {
            let given = json!({ "path": path, "content": "new" });
            let planned = plan(&tools, "write_file", given);
            assert_eq!(planned.is_ok(), may, "{recorded} {path}");
        }
    }
}

#[test]
fn what_was_seen_is_said_for_the_record_and_remembered_by_another_turn() {
    let stage = Stage::new();
    stage.write("project/src/a.txt", "one\ntwo\n");
    stage.write("project/record/own.txt", "own\n");
    let first = stage.toolbox();
    let mut seen = std::collections::BTreeMap::new();
    for (tool, given) in [
        ("read_file", json!({ "path": "src/a.txt" })),
        ("read_file", json!({ "path": "./record/own.txt" })),
        (
            "write_file",
            json!({ "path": "record/b.md", "content": "x" }),
        ),
        ("edit_file", edits("src/a.txt", &[("one", "1")])),
    ] {
        let finished = done(&first, tool, given).unwrap();
        seen.extend(finished.seen.into_iter().map(|seen| (seen.path, seen.hash)));
    }
    let expected = [
        ("./record/own.txt", Hash::of(b"own\n")),
        ("record/b.md", Hash::of(b"x")),
        ("src/a.txt", Hash::of(b"1\ntwo\n")),
    ];
    let expected = expected.map(|(path, hash)| (path.to_owned(), hash));
    assert_eq!(seen, std::collections::BTreeMap::from(expected));
    let second = stage.toolbox();
    second.remember(Arc::new(seen));
    for path in ["src/a.txt", "./record/own.txt", "record/b.md"] {
        let given = json!({ "path": path, "content": "new" });
        assert!(plan(&second, "write_file", given).is_ok(), "{path}");
    }
    stage.write("project/src/a.txt", "other\n");
    let given = json!({ "path": "src/a.txt", "content": "new" });
    assert!(said(&second, "write_file", given).contains("changed since"));
}

#[test]
fn another_process_knows_from_the_conversation_what_changed_since_it_was_read() {
    let stage = Stage::new();
    stage.write("project/a.txt", "\u{feff}one\r\ntwo\r\nthree\r\n");
    let before = Hash::of("\u{feff}one\r\ntwo\r\nthree\r\n".as_bytes());
    let (first, read) = (stage.toolbox(), json!({ "path": "a.txt" }));
    let shown = output(&first, "read_file", read.clone());
    let said = [
        Message::AssistantToolCalls {
            calls: vec![call("read_file", read)],
            text: None,
        },
        Message::ToolResult {
            call_id: "call-1".to_owned(),
            tool_name: "read_file".to_owned(),
            content: shown,
            is_error: false,
            image: None,
        },
    ];
    stage.write("project/a.txt", "\u{feff}one\r\n2\r\nthree\r\n");
    let edit = || edits("a.txt", &[("three", "3")]);
    let mut setting = stage.setting();
    setting.said = said.into_iter().map(Into::into).collect();
    let other = Toolbox::open(setting).unwrap();
    other.remember(Arc::new([("a.txt".to_owned(), before)].into()));
    let refused = said_of(&other, edit());
    assert!(
        refused.ends_with("make it again:\n2\t-two\n2\t+2"),
        "{refused}"
    );
    assert!(said_of(&other, edit()).starts_with("Edited a.txt: 1 place"));
    // Where the conversation does not show it, what is there now is shown.
    stage.write("project/a.txt", "1\n2\n");
    let third = stage.toolbox();
    third.remember(Arc::new([("a.txt".to_owned(), before)].into()));
    let refused = said_of(&third, edit());
    assert!(
        refused.ends_with("is not known any more; it is now:\n1\t1\n2\t2"),
        "{refused}"
    );
    assert!(said_of(&third, edits("a.txt", &[("1", "one")])).starts_with("Edited"));
    let long: String = (1..=100).map(|n| format!("{n}\n")).collect();
    stage.write("project/a.txt", &long);
    let fourth = stage.toolbox();
    fourth.remember(Arc::new([("a.txt".to_owned(), before)].into()));
    for _ in 0..2 {
        let refused = said_of(&fourth, edits("a.txt", &[("99", "x")]));
        assert!(
            refused.ends_with("60\t60\n[40 more lines; read them before you change the file]"),
            "{refused}"
        );
    }
}

fn said_of(tools: &Toolbox, given: Value) -> String {
    said(tools, "edit_file", given)
}

#[test]
fn an_edit_that_cannot_be_read_is_told_to_nobody_as_a_file_that_is_removed() {
    for given in [
        json!({ "path": "a.rs" }),
        json!({ "path": "a.rs", "old_string": "x" }),
        json!({ "path": "a.rs", "old_string": "x", "new_string": "y", "edits": [{ "old_string": "x", "new_string": "y" }] }),
    ] {
        let said = crate::tool::requested_changes("edit_file", &given.to_string());
        assert_eq!(said, [], "{given}");
    }
}
