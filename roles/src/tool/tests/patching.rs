//! Patches of real files: all of them or none, and what is left of a patch that was cut off.

use a_society_facts::Hash;
use a_society_facts::fact::turn::{CallEnd, Effect};
use serde_json::{Value, json};

use super::stage::{Stage, call, done, everything_in, output, paths, plan};
use crate::consent::Tier;
use crate::tool::{EditTool, Toolbox};

fn patch(body: &str) -> Value {
    json!({ "input": format!("*** Begin Patch\n{body}*** End Patch\n") })
}

fn refused(tools: &Toolbox, body: &str) -> String {
    plan(tools, "apply_patch", patch(body)).unwrap_err().text
}

fn stage() -> Stage {
    let stage = Stage::new();
    stage.write("project/a.rs", "fn a() {\r\n    run();\r\n}\r\n");
    stage.write("project/b.rs", "one\ntwo\nthree\n");
    stage.write("project/old.md", "old\n");
    stage
}

const THREE: &str = "*** Update File: a.rs\n@@ fn a() {\n-    run();\n+    stop();\n\
                     *** Update File: b.rs\n@@\n one\n-two\n+2\n\
                     *** Add File: docs/new.md\n+# New\n";

#[test]
fn a_patch_of_three_files_is_one_call_with_one_question_and_the_hashes_of_all() {
    let stage = stage();
    let tools = stage.toolbox();
    let planned = plan(&tools, "apply_patch", patch(THREE)).unwrap();
    assert_eq!(planned.effect, Effect::Checkable);
    assert_eq!((planned.before, planned.after), (None, None));
    let hash = |text: &str| Some(Hash::of(text.as_bytes()));
    let files: Vec<_> = (planned.files.iter())
        .map(|file| (file.path.as_str(), file.before, file.after))
        .collect();
    assert_eq!(
        files,
        [
            (
                "a.rs",
                hash("fn a() {\r\n    run();\r\n}\r\n"),
                hash("fn a() {\r\n    stop();\r\n}\r\n")
            ),
            ("b.rs", hash("one\ntwo\nthree\n"), hash("one\n2\nthree\n")),
            ("docs/new.md", None, hash("# New\n")),
        ]
    );
    assert_eq!(planned.ask.tier, Tier::Edit);
    assert_eq!(paths(&planned), ["a.rs", "b.rs", "docs/new.md"]);
    assert_eq!(
        planned.ask.shown,
        "change a.rs\nreplaces 1 line by 1\n1  fn a() {\n2 -    run();\n2 +    stop();\n3  }\n\
         change b.rs\nreplaces 1 line by 1\n1  one\n2 -two\n2 +2\n3  three\n\
         new file docs/new.md\n# New\n"
    );
    assert_eq!(
        output(&tools, "apply_patch", patch(THREE)),
        "Changed a.rs: +1 -1.\n2\t-    run();\n2\t+    stop();\n\
         Changed b.rs: +1 -1.\n2\t-two\n2\t+2\nAdded docs/new.md: 6 bytes, 1 lines.\n"
    );
    assert_eq!(
        stage.read("project/a.rs").as_deref(),
        Some("fn a() {\r\n    stop();\r\n}\r\n")
    );
    assert_eq!(
        stage.read("project/docs/new.md").as_deref(),
        Some("# New\n")
    );
}

#[test]
fn a_patch_with_a_wrong_hunk_changes_nothing() {
    let stage = stage();
    let tools = stage.toolbox();
    let before = everything_in(&stage.project());
    for (body, why) in [
        (
            format!("{THREE}*** Update File: old.md\n-new\n+x\n"),
            "Hunk 1 of 1 in old.md: no such lines. Nothing was changed.",
        ),
        (
            format!("{THREE}*** Update File: none.md\n-new\n+x\n"),
            "No file none.md.",
        ),
        (
            format!("{THREE}*** Add File: old.md\n+x\n"),
            "old.md is there already",
        ),
        (
            format!("{THREE}*** Update File: ./b.rs\n-three\n+3\n"),
            "b.rs appears in the patch twice",
        ),
        (
            format!("{THREE}*** Add File: ../out.md\n+x\n"),
            "Out of reach",
        ),
        (
            format!("{THREE}*** Delete File: old.md\n"),
            "old.md is there and was not read",
        ),
        (
            format!("{THREE}*** Update File: record/workflow.yaml\n+x\n"),
            "",
        ),
    ] {
        let said = refused(&tools, &body);
        assert!(said.contains(why), "{said}");
    }
    assert_eq!(everything_in(&stage.project()), before);
}

#[test]
fn a_file_is_deleted_by_who_read_it_and_may_be_made_again() {
    let stage = stage();
    let tools = stage.toolbox();
    let _read = output(&tools, "read_file", json!({ "path": "old.md" }));
    let body = "*** Delete File: old.md\n";
    let planned = plan(&tools, "apply_patch", patch(body)).unwrap();
    assert!(
        planned
            .ask
            .shown
            .contains("delete old.md\nremoves 1 line\n1 -old"),
        "{}",
        planned.ask.shown
    );
    assert_eq!(
        output(&tools, "apply_patch", patch(body)),
        "Deleted old.md.\n"
    );
    assert_eq!(stage.read("project/old.md"), None);
    let again = json!({ "path": "old.md", "content": "again\n" });
    let _made = output(&tools, "write_file", again);
    assert_eq!(stage.read("project/old.md").as_deref(), Some("again\n"));
}

#[test]
fn what_a_process_left_undone_of_a_patch_is_finished_by_the_hashes_of_its_files() {
    for done_before in 0..=3 {
        let stage = stage();
        let asked = call("apply_patch", patch(THREE));
        let first = stage.toolbox().plan(&asked).unwrap();
        let made = [
            ("project/a.rs", "fn a() {\r\n    stop();\r\n}\r\n"),
            ("project/b.rs", "one\n2\nthree\n"),
            ("project/docs/new.md", "# New\n"),
        ];
        for (path, text) in made.iter().take(done_before) {
            stage.write(path, text);
        }
        let mut setting = stage.setting();
        setting.begun = [(asked.id.clone(), first.files.clone())].into();
        let tools = Toolbox::open(setting).unwrap();
        let again = tools.plan(&asked).unwrap();
        assert_eq!(again.files, first.files);
        assert_eq!(
            again.ask.action, first.ask.action,
            "what was allowed once is the same"
        );
        let said = output(&tools, "apply_patch", patch(THREE));
        assert_eq!(
            said.matches("changed before the program was started again")
                .count(),
            done_before,
            "{said}"
        );
        for (path, text) in made {
            assert_eq!(stage.read(path).as_deref(), Some(text));
        }
        let hashes = tools.hashes_now(&asked).unwrap();
        assert!(hashes.iter().eq(first.files.iter().map(|file| &file.after)));
    }
}

#[test]
fn where_a_file_cannot_be_changed_any_more_the_model_is_told_how_each_stands() {
    let stage = stage();
    let tools = stage.toolbox();
    let planned = plan(&tools, "apply_patch", patch(THREE)).unwrap();
    stage.write("project/b.rs", "another\n");
    let finished = super::stage::finish(
        &tools,
        planned,
        &a_society_base::stop::StopSignal::default(),
    );
    assert_eq!(finished.end, CallEnd::Failed);
    assert!(
        finished.output.starts_with("Changed a.rs: +1 -1.\n"),
        "{}",
        finished.output
    );
    assert!(
        finished.output.contains("b.rs changed since you read it.")
            && finished.output.ends_with("\nNot changed: docs/new.md."),
        "{}",
        finished.output
    );
    assert_eq!(stage.read("project/b.rs").as_deref(), Some("another\n"));
    assert_eq!(stage.read("project/docs/new.md"), None);
}

#[test]
fn a_patch_of_a_file_that_programs_trust_is_asked_for_each_time() {
    let stage = stage();
    let tools = stage.toolbox();
    let body =
        "*** Update File: b.rs\n-two\n+2\n*** Add File: .github/workflows/ci.yml\n+on: push\n";
    let planned = plan(&tools, "apply_patch", patch(body)).unwrap();
    assert_eq!(planned.ask.tier, Tier::Trust);
    let body = "*** Add File: record/a.md\n+a\n*** Add File: record/b.md\n+b\n";
    let planned = plan(&tools, "apply_patch", patch(body)).unwrap();
    assert_eq!(planned.ask.tier, Tier::Free);
}

#[test]
fn one_tool_for_edits_is_offered_and_both_are_run() {
    let stage = stage();
    for (edit_tool, window, offered) in [
        (EditTool::Replace, 0, "edit_file"),
        (EditTool::Patch, 0, "apply_patch"),
        (EditTool::Patch, 32_000, "edit_file"),
    ] {
        let mut setting = stage.setting();
        (setting.edit_tool, setting.window_tokens) = (edit_tool, window);
        let tools = Toolbox::open(setting).unwrap();
        let names: Vec<&str> = (tools.definitions().iter())
            .map(|tool| tool.name.as_str())
            .collect();
        let edits: Vec<&str> = (names.into_iter())
            .filter(|name| ["edit_file", "apply_patch"].contains(name))
            .collect();
        assert_eq!(edits, [offered]);
        let write = tools
            .definitions()
            .iter()
            .find(|it| it.name == "write_file");
        assert!(
            write
                .unwrap()
                .description
                .ends_with(&format!("use {offered}."))
        );
        let body = "*** Update File: b.rs\n-two\n+2\n";
        assert!(plan(&tools, "apply_patch", patch(body)).is_ok());
        let named = json!({ "patch": patch(body)["input"] });
        assert!(plan(&tools, "patch", named).is_ok());
        let edit = json!({ "path": "b.rs", "old": "two", "new": "2" });
        assert!(plan(&tools, "edit_file", edit).is_ok());
    }
    let given = json!({ "command": "apply_patch <<'EOF'\n*** Begin Patch" });
    let said = done(&stage.toolbox(), "run_command", given).unwrap_err();
    assert!(said.text.contains("apply_patch is a tool"), "{}", said.text);
}
