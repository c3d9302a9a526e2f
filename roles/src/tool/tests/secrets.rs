//! Canaries of six kinds through every tool.

use a_society_base::redact::MARK;
use a_society_facts::fact::turn::CallEnd;
use serde_json::json;

use super::canaries::canaries;
use super::stage::{Stage, done, plan};
use crate::tool::{ToolSetting, Toolbox};

fn tools(stage: &Stage, change: impl FnOnce(&mut ToolSetting)) -> Toolbox {
    let mut setting = stage.setting();
    change(&mut setting);
    Toolbox::open(setting).unwrap()
}

/// The secret part of a canary: the text around it may be shown.
fn core(canary: &str) -> String {
    if canary.contains("PRIVATE KEY") {
        return "MIIEvQIBADANBgkq".to_owned();
    }
    if canary.starts_with("postgres") {
        return "CANARY-pass".to_owned();
    }
    canary.to_owned()
}

#[test]
fn no_canary_leaves_a_tool_whole() {
    let stage = Stage::new();
    for (kind, canary) in canaries() {
        let text = format!("first\nkey = {canary}\nlast\n");
        stage.write("project/config.txt", &text);
        let tools = tools(&stage, |setting| {
            setting
                .environment
                .push(("LANG".to_owned(), canary.replace('\n', " ")));
        });
        let core = core(&canary);
        for (tool, given) in [
            ("read_file", json!({ "path": "config.txt" })),
            (
                "read_file_lines",
                json!({ "path": "config.txt", "first": 2, "last": 9 }),
            ),
            (
                "read_file_lines",
                json!({ "path": "config.txt", "first": 3, "last": 4 }),
            ),
            ("search_files", json!({ "path": ".", "text": "key = " })),
            ("search_files", json!({ "path": ".", "text": core })),
            ("search_files", json!({ "path": ".", "text": "MII" })),
            (
                "run_command",
                json!({ "command": "cat config.txt; cat config.txt >&2" }),
            ),
            (
                "run_command",
                json!({ "command": "fold -w 7 config.txt | tr -d '\\n'" }),
            ),
        ] {
            let finished = done(&tools, tool, given).unwrap();
            assert!(
                !finished.output.contains(&core),
                "{kind} by {tool}: {}",
                finished.output
            );
            let kept = stage.record().join(".outputs/7.1.1.txt");
            let kept = std::fs::read_to_string(kept).unwrap_or_default();
            assert!(!kept.contains(&core), "{kind} by {tool}, in the rest");
        }
        // What the operator is shown, and what is written down about the call.
        let command = json!({ "command": format!("curl -H 'x: {canary}' example.com") });
        let planned = plan(&tools, "run_command", command).unwrap();
        assert!(
            !planned.summary.contains(&core) && !planned.ask.shown.contains(&core),
            "{kind}"
        );
        let fault = json!({ "path": format!("none/{}", canary.replace('\n', "")) });
        let refused = plan(&tools, "read_file", fault).unwrap_err();
        assert!(!refused.text.contains(&core), "{kind}: {}", refused.text);
    }
}

#[test]
fn a_line_behind_a_secret_of_several_lines_keeps_its_number() {
    let stage = Stage::new();
    let pem = canaries().swap_remove(4).1;
    stage.write("project/a.txt", &format!("{pem}\nfifth line\n"));
    let given = json!({ "path": "a.txt", "text": "fifth" });
    let said = done(&stage.toolbox(), "search_files", given)
        .unwrap()
        .output;
    assert!(said.starts_with("a.txt:5:fifth line\n"), "{said}");
}

#[test]
fn a_mark_is_never_written_in_the_place_of_a_secret() {
    let stage = Stage::new();
    let text = format!("a\n{}\nb\n", canaries()[0].1);
    stage.write("project/a.txt", &text);
    let tools = stage.toolbox();
    let read = done(&tools, "read_file", json!({ "path": "a.txt" }))
        .unwrap()
        .output;
    assert_eq!(read, format!("1\ta\n2\t{MARK}\n3\tb\n"));
    let given = json!({ "path": "a.txt", "content": format!("a\n{MARK}\nc\n") });
    assert!(plan(&tools, "write_file", given).is_err());
    let given = json!({ "path": "a.txt", "old": "b", "new": "c" });
    assert_eq!(done(&tools, "edit_file", given).unwrap().end, CallEnd::Done);
    assert_eq!(
        stage.read("project/a.txt"),
        Some(text.replace("b\n", "c\n"))
    );
}
