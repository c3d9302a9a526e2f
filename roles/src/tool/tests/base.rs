//! The one base of paths: the project folder, with `record/` as the flow's shared folder.

use a_society_facts::fact::turn::Effect;
use serde_json::json;

use super::stage::{Stage, output, paths, plan};
use crate::consent::Tier;
use crate::tool::Toolbox;

const RECORD: &str = ".a-society/state/p/f/record";

#[test]
fn the_shared_folder_is_record_in_every_tool_and_in_all_that_they_say() {
    let stage = Stage::new();
    let tools = stage.toolbox();
    let given = json!({ "path": "record/notes/a.md", "content": "one\n" });
    let said = output(&tools, "write_file", given);
    assert!(said.contains("record/notes/a.md"), "{said}");
    assert_eq!(
        stage.read(&format!("{RECORD}/notes/a.md")).as_deref(),
        Some("one\n")
    );
    assert_eq!(stage.read("project/record/notes/a.md"), None);
    let edit = json!({ "path": "record/notes/a.md", "old_string": "one", "new_string": "two" });
    let said = output(&tools, "edit_file", edit);
    assert!(said.contains("record/notes/a.md"), "{said}");
    for (tool, given) in [
        ("read_file", json!({ "path": "record/notes/a.md" })),
        ("list_directory", json!({ "path": "record/notes" })),
        (
            "run_command",
            json!({ "command": "cat a.md", "folder": "record/notes" }),
        ),
    ] {
        let said = output(&tools, tool, given);
        let wanted = if tool == "list_directory" {
            "a.md"
        } else {
            "two"
        };
        assert!(said.contains(wanted), "{tool}: {said}");
        assert!(
            !said.contains(&stage.root().display().to_string()),
            "{said}"
        );
    }
    let gone = tools
        .plan(&super::stage::call(
            "read_file",
            json!({ "path": "record/b.md" }),
        ))
        .unwrap_err();
    assert!(gone.text.contains("record/b.md"), "{}", gone.text);
}

#[test]
fn a_folder_of_the_project_that_is_called_record_is_reached_with_a_dot_before_it() {
    let stage = Stage::new();
    stage.write("project/record/own.md", "of the project");
    stage.write(&format!("{RECORD}/own.md"), "of the flow");
    let tools = stage.toolbox();
    let own = stage.project().join("record/own.md");
    for (path, expected) in [
        ("record/own.md", "of the flow"),
        ("./record/own.md", "of the project"),
        (own.to_str().unwrap(), "of the project"),
    ] {
        let said = output(&tools, "read_file", json!({ "path": path }));
        assert!(said.contains(expected), "{path}: {said}");
    }
    let planned = plan(&tools, "read_file", json!({ "path": own })).unwrap();
    assert_eq!(paths(&planned), ["./record/own.md"]);
}

#[test]
fn absolute_paths_of_the_project_and_of_an_older_place_of_the_flow_still_lead_there() {
    let stage = Stage::new();
    stage.write("project/src/a.rs", "here");
    stage.write(&format!("{RECORD}/a.md"), "shared");
    let mut setting = stage.setting();
    setting.owner.flow = "20260527T143000123Z-a1b2c3".parse().unwrap();
    setting.lineage = vec![setting.owner.flow.clone()];
    let tools = Toolbox::open(setting).unwrap();
    let record = stage.record().join("a.md");
    let flow = "20260527T143000123Z-a1b2c3";
    for (path, shown) in [
        (stage.project().join("src/a.rs"), "src/a.rs"),
        (record, "record/a.md"),
        (
            format!("/old/place/.a-society/state/demo/{flow}/record/a.md").into(),
            "record/a.md",
        ),
    ] {
        let planned = plan(&tools, "read_file", json!({ "path": path })).unwrap();
        assert_eq!(paths(&planned), [shown]);
    }
    for path in [
        "/old/place/.a-society/state/demo/20260527T143000123Z-ffffff/record/a.md",
        "/old/place/src/a.rs",
        "../x",
        "~/x",
        "record/../../x",
    ] {
        let call = super::stage::call("read_file", json!({ "path": path }));
        let refused = tools.plan(&call).unwrap_err();
        assert_eq!(
            refused.text,
            format!(
                "Out of reach: {path}. Paths start at the project folder; record/ is the flow's \
                 shared folder."
            )
        );
    }
}

#[test]
fn what_is_written_into_the_shared_folder_needs_no_consent_but_for_the_graph() {
    let stage = Stage::new();
    let mut setting = stage.setting();
    setting.check_workflow = Some(crate::tool::WorkflowCheck(std::sync::Arc::new(|_| Ok(()))));
    let tools = Toolbox::open(setting).unwrap();
    let tier = |path: &str| {
        let planned = plan(
            &tools,
            "write_file",
            json!({ "path": path, "content": "x" }),
        )
        .unwrap();
        assert_eq!(planned.effect, Effect::Checkable);
        planned.ask.tier
    };
    assert_eq!(tier("record/a.md"), Tier::Free);
    assert_eq!(tier("record/findings/a.md"), Tier::Free);
    assert_eq!(tier("record/workflow.yaml"), Tier::Edit);
    assert_eq!(tier("./record/a.md"), Tier::Edit);
    assert_eq!(tier("a.md"), Tier::Edit);
}

/// Models call tools by the names that they were trained on.
#[test]
fn tools_are_known_by_the_names_that_other_agents_give_them() {
    let stage = Stage::new();
    stage.write("project/a.txt", "one\n");
    let tools = stage.toolbox();
    for (tool, given, said) in [
        ("Read", json!({ "file_path": "a.txt" }), "one"),
        (
            "view",
            json!({ "filePath": "a.txt", "description": "look" }),
            "one",
        ),
        ("LS", json!({ "path": "." }), "a.txt"),
        (
            "Bash",
            json!({ "cmd": "cat a.txt", "timeout": "5000" }),
            "one",
        ),
        (
            "Edit",
            json!({ "path": "a.txt", "old": "one", "new": "two" }),
            "Edited",
        ),
        (
            "Write",
            json!({ "file_path": "b.txt", "file_text": "x", "contents": null }),
            "b.txt",
        ),
    ] {
        let done = output(&tools, tool, given);
        assert!(done.contains(said), "{tool}: {done}");
    }
}
