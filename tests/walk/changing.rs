//! Files that a model reads and changes: the contents of its next request, and of the file.

use std::os::unix::fs::symlink;
use std::time::Duration;

use serde_json::{Value, json};

use super::models::{Model, call, calls, with_model};
use super::place::{Place, RUN, wait_until};

/// How often the program is killed while parts are appended; more in the whole test.
const KILLS: u64 = 6;
const KILLS_FULL: u64 = 200;

/// What a model says when it is shown so many results.
type Said = Vec<(Value, Vec<Value>)>;

fn one(results: usize, tool: &str, input: Value) -> Said {
    vec![call(results, tool, input)]
}

fn edits(path: &str, edits: &[(&str, &str)]) -> Value {
    let edits: Vec<Value> = edits
        .iter()
        .map(|(old, new)| json!({ "old_string": old, "new_string": new }))
        .collect();
    json!({ "path": path, "edits": edits })
}

/// All results of tools that the last request shows, in order.
fn told(model: &Model) -> Vec<String> {
    let body: Value = serde_json::from_str(&model.heard().pop().unwrap()).unwrap();
    let messages = body["messages"].as_array().unwrap();
    let blocks = messages
        .iter()
        .filter_map(|message| message["content"].as_array());
    let results = blocks
        .flatten()
        .filter(|block| block["type"] == "tool_result");
    results
        .map(|block| match &block["content"] {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts
                .iter()
                .filter_map(|part| part["text"].as_str())
                .collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
        })
        .collect()
}

/// Runs a flow to its end; nothing is asked.
fn walked(place: &Place) -> String {
    let said = place.run(&RUN);
    assert_eq!(said.code, 0, "{said:?}");
    place.flow().unwrap()
}

/// Writes a file, and makes the folder for it.
fn put(place: &Place, path: &str, text: &str) {
    let path = place.workspace.path().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn record(place: &Place, flow: &str, name: &str) -> String {
    std::fs::read_to_string(place.folder(flow).join("record").join(name)).unwrap()
}

fn reads(results: usize) -> Said {
    match results {
        0 => one(
            0,
            "read_file",
            json!({ "path": "src/a.rs", "offset": 41, "limit": 3 }),
        ),
        1 => one(
            1,
            "Read",
            json!({ "file_path": "src/a.rs", "offset": "200" }),
        ),
        2 => one(
            2,
            "read_file_lines",
            json!({ "path": "src/a.rs", "first": 118, "last": 118 }),
        ),
        3 => one(
            3,
            "Read",
            json!({ "file_path": "src/a.rs", "path": "src/b.rs" }),
        ),
        4 => one(
            4,
            "read_file",
            json!({ "path": "src/a.rs", "colour": "red" }),
        ),
        5 => one(5, "Bash", json!({ "command": "x", "cmd": "y" })),
        6 => one(6, "read_file", json!({ "path": "src/mian.rs" })),
        7 => one(7, "read_file", json!({ "path": "../x" })),
        _ => Vec::new(),
    }
}

#[test]
fn a_model_reads_lines_byte_for_byte_and_wrong_calls_come_back_with_the_right_shape() {
    let model = Model::start_with(reads);
    let place = with_model(&model);
    let text: String = (1..=118).map(|n| format!("\tline {n} ä  \n")).collect();
    put(&place, "demo/src/a.rs", &text);
    put(&place, "demo/src/main.rs", "");
    let flow = walked(&place);
    let shape = "Right: {path: string, offset?: integer, limit?: integer}";
    let expected = [
        "[src/a.rs: lines 41-43 of 118; go on with offset 44]\n41\t\tline 41 ä  \n42\t\tline 42 ä  \n43\t\tline 43 ä  \n".to_owned(),
        "src/a.rs has 118 lines; offset 200 is past the end.".to_owned(),
        "[src/a.rs: lines 118-118 of 118]\n118\t\tline 118 ä  \n".to_owned(),
        format!("read_file: path is given twice, differently. {shape}"),
        format!("read_file: there is no colour. {shape}"),
    ];
    let said = told(&model);
    for (said, expected) in said.iter().zip(&expected) {
        assert_eq!(said.trim_end(), expected.trim_end());
    }
    assert!(
        said[5].starts_with("run_command: command is given twice, differently."),
        "{}",
        said[5]
    );
    assert_eq!(said[6], "No file src/mian.rs. Close: src/main.rs.");
    assert_eq!(
        said[7],
        "Out of reach: ../x. Paths start at the project folder; record/ is the flow's shared folder."
    );
    let ends: Vec<String> = calls(&place, &flow)
        .into_iter()
        .map(|(_, end)| end)
        .collect();
    assert_eq!(ends[..3], ["done", "failed", "done"]);
}

fn changes(results: usize) -> Said {
    let marked = "\u{feff}one\r\n    two\r\nthree\r\n";
    match results {
        0 => one(
            0,
            "Write",
            json!({ "file_path": "record/a.cs", "content": marked }),
        ),
        1 => one(
            1,
            "edit_file",
            edits(
                "record/a.cs",
                &[("one", "1"), ("deux", "2"), ("three", "3")],
            ),
        ),
        2 => one(
            2,
            "edit_file",
            edits("record/a.cs", &[("one\n    two", "one\n    2\n    zwei")]),
        ),
        3 => one(
            3,
            "str_replace",
            json!({ "path": "record/a.cs", "old_str": "3\t    zwei", "new_str": "3\t    drei" }),
        ),
        4 => one(
            4,
            "edit_file",
            edits("record/a.cs", &[("2\ndrei", "2\nvier")]),
        ),
        5 => one(5, "edit_file", edits("record/a.cs", &[("  \n", "x")])),
        6 => one(6, "edit_file", edits("record/a.cs", &[("", "x")])),
        // Unread: neither replaced nor found by less than its very text.
        7 => one(
            7,
            "write_file",
            json!({ "path": "src/a.rs", "content": "gone" }),
        ),
        8 => one(8, "edit_file", edits("src/a.rs", &[("1\tline 1", "x")])),
        _ => Vec::new(),
    }
}

#[test]
fn a_model_edits_a_file_of_the_shared_folder_and_all_other_bytes_stay() {
    let model = Model::start_with(changes);
    let place = with_model(&model);
    put(&place, "demo/src/a.rs", "line 1\nline 2\n");
    let flow = walked(&place);
    let said = told(&model);
    let expected = [
        "Wrote record/a.cs: 24 bytes, 3 lines.",
        "Edit 2 of 3: no such text in record/a.cs. Nothing was changed. Read it again.",
        "Edited record/a.cs: 1 place, +2 -1.\n2\t-    two\n2\t+    2\n3\t+    zwei",
        "Edited record/a.cs: 1 place, +1 -1. [matched without the line numbers; look at it]\n3\t-    zwei\n3\t+    drei",
        "Edited record/a.cs: 1 place, +1 -1. [matched after shifting the indentation by 4; look at it]\n3\t-    drei\n3\t+    vier",
        "Edit 1 of 1: no such text in record/a.cs. Nothing was changed. Read it again.",
        "old_string is empty, and record/a.cs is not. Give the text that is there now. Nothing was changed.",
        "src/a.rs is there and was not read: 14 bytes, 2 lines. Read it before you replace it. It begins:\n1\tline 1\n2\tline 2",
    ];
    for (said, expected) in said.iter().zip(expected) {
        assert_eq!(said.trim_end(), expected);
    }
    assert!(
        said[8].starts_with("Edit 1 of 1: no such text in src/a.rs."),
        "{}",
        said[8]
    );
    assert_eq!(
        record(&place, &flow, "a.cs"),
        "\u{feff}one\r\n    2\r\n    vier\r\nthree\r\n"
    );
    let kept = std::fs::read_to_string(place.workspace.path().join("demo/src/a.rs"));
    assert_eq!(kept.unwrap(), "line 1\nline 2\n");
}

fn peeks(results: usize) -> Said {
    let paths = [
        "out.txt",
        "pipe",
        ".git/config",
        ".a-society/x",
        "/etc/shadow",
    ];
    match paths.get(results) {
        Some(path) => one(results, "read_file", json!({ "path": path })),
        None => Vec::new(),
    }
}

#[test]
fn nothing_of_what_is_out_of_reach_stands_in_a_request() {
    let model = Model::start_with(peeks);
    let place = with_model(&model);
    place.write("outside.txt", "canary-outside");
    put(&place, "demo/.git/config", "canary-config");
    symlink(
        "../outside.txt",
        place.workspace.path().join("demo/out.txt"),
    )
    .unwrap();
    let pipe = place.workspace.path().join("demo/pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let _flow = walked(&place);
    let body = model.heard().concat();
    assert!(!body.contains("canary"), "{body}");
    assert_eq!(told(&model).len(), 5);
}

fn keeps(results: usize) -> Said {
    match results {
        0 => one(0, "read_file", json!({ "path": "a.txt" })),
        1 => one(1, "run_command", json!({ "command": "true" })),
        2 => one(
            2,
            "write_file",
            json!({ "path": "a.txt", "content": "two\n" }),
        ),
        _ => Vec::new(),
    }
}

#[test]
fn a_role_may_replace_what_it_read_before_the_program_ended_and_not_what_changed_since() {
    for changes in [false, true] {
        let model = Model::start_with(keeps);
        let place = with_model(&model);
        put(&place, "demo/a.txt", "one\n");
        // It waits with the command, and its process is over.
        let flow = place.run_until_it_waits();
        if changes {
            put(&place, "demo/a.txt", "another\n");
        }
        assert_eq!(place.run(&["mode", &flow, "full-access"]).code, 0);
        let resume = ["resume", &flow, "--until-waiting", "--improve", "none"];
        assert_eq!(place.run(&resume).code, 0);
        let last = told(&model).pop().unwrap();
        let file = std::fs::read_to_string(place.workspace.path().join("demo/a.txt")).unwrap();
        if changes {
            assert_eq!(
                last,
                "a.txt changed since you read it. Nothing was done. These lines are new or gone; if your change \
                 still fits, make it again:\n1\t-one\n1\t+another"
            );
            assert_eq!(file, "another\n");
        } else {
            assert_eq!(last, "Wrote a.txt: 4 bytes, 1 lines.");
            assert_eq!(file, "two\n");
        }
    }
}

fn appends(results: usize) -> Said {
    match results {
        0..=3 => {
            let content = format!("part {}\n", results + 1);
            one(
                results,
                "write_file",
                json!({ "path": "record/long.md", "content": content, "append": true }),
            )
        }
        _ => Vec::new(),
    }
}

#[test]
fn a_text_that_is_appended_in_parts_has_each_part_once_wherever_the_program_is_killed() {
    let full = std::env::var_os("A_SOCIETY_TEST_FULL").is_some_and(|value| value == "1");
    for kill in 0..(if full { KILLS_FULL } else { KILLS }) {
        let model = Model::start_with(appends);
        let place = with_model(&model);
        let run = RUN;
        let mut child = place.start(&run);
        std::thread::sleep(Duration::from_millis(120 + kill * 23 % 160));
        child.kill().unwrap();
        child.wait().unwrap();
        let Some(flow) = place.flow() else { continue };
        wait_until("the flow can be opened", || {
            let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
            assert!(matches!(said.code, 0 | 5), "kill {kill}: {said:?}");
            said.code == 0
        });
        assert_eq!(
            record(&place, &flow, "long.md"),
            "part 1\npart 2\npart 3\npart 4\n",
            "kill {kill}"
        );
    }
}
