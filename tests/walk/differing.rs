//! What roles changed in files, as `diff` tells it from the journal.

use serde_json::{Value, json};

use super::models::{Model, call, with_model};

/// Writes a file, edits it, edits one that was there, and tries to write one that it may not.
fn changing() -> Model {
    Model::start_with(|results| match results {
        0 => vec![call(
            0,
            "write_file",
            json!({ "path": "notes.md", "content": "one\ntwo\nthree\n" }),
        )],
        1 => vec![call(
            1,
            "edit_file",
            json!({ "path": "notes.md", "old_string": "two", "new_string": "2\tzwei" }),
        )],
        2 => vec![call(2, "read_file", json!({ "path": "there.md" }))],
        3 => vec![call(
            3,
            "edit_file",
            json!({ "path": "there.md", "old_string": "b", "new_string": "B" }),
        )],
        4 => vec![call(
            4,
            "write_file",
            json!({ "path": "secret/x.md", "content": "No.\n" }),
        )],
        _ => Vec::new(),
    })
}

#[test]
fn what_tools_changed_is_told_by_file_and_role_and_what_was_denied_is_not() {
    let model = changing();
    let place = with_model(&model);
    place.write("demo/there.md", "a\nb\nc\n");
    let said = place.run(&[
        "run",
        "demo/flow.yaml",
        "--allow",
        "edits",
        "--deny",
        "edits:secret",
    ]);
    assert_eq!(said.code, 0, "{said:?}");
    let on_disk = |name: &str| std::fs::read_to_string(place.workspace.path().join(name));
    assert_eq!(on_disk("demo/notes.md").unwrap(), "one\n2\tzwei\nthree\n");
    assert!(on_disk("demo/secret/x.md").is_err());
    let flow = place.flow().unwrap();
    // What is in the files by now makes no difference.
    place.write("demo/notes.md", "Something else.\n");
    let said = place.run(&["diff", &flow]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(
        said.out,
        "notes.md  +4 −1  owner, turn 1\n\
         --- /dev/null\n+++ b/notes.md\n\
         @@ -0,0 +1,3 @@\n+one\n+two\n+three\n\
         @@ -2,1 +2,1 @@\n-two\n+2    zwei\n\n\
         there.md  +1 −1  owner, turn 1\n\
         --- a/there.md\n+++ b/there.md\n\
         @@ -2,1 +2,1 @@\n-b\n+B\n\n"
    );
    let only = ["diff", &flow, "there.md", "--role", "owner", "--stat"];
    let said = place.run(&only);
    assert_eq!(said.out, "there.md  +1 −1  owner, turn 1\n");
    let said = place.run(&["diff", &flow, "--json"]);
    let all: Value = serde_json::from_str(&said.out).unwrap();
    let paths: Vec<&Value> = all["diffs"].as_array().unwrap().iter().collect();
    let paths: Vec<&Value> = paths.iter().map(|diff| &diff["path"]).collect();
    assert_eq!(paths, ["notes.md", "there.md"]);
    let said = place.run(&["diff", &flow, "--role", "nobody"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.err.contains("its roles are owner"), "{said:?}");
}
