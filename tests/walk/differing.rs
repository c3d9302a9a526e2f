//! What roles changed in files, as `diff` tells it from the journal.

use serde_json::{Value, json};

use super::models::{Model, call, with_model};
use super::place::{FLOW, Place, RUN};

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

/// One hands over other notes than the other, which has one node more.
fn notes(text: &str, more: &str) -> String {
    format!(
        "default: forward\nscript:\n  - node: write\n    say:\n      - write: {{ path: notes.md, text: \"{text}\" }}\n      \
         - handoff: {{ to: {more}, artifact: notes.md }}\n"
    )
}

/// Two runs of a project, whose graph became wider in between.
fn two_runs() -> (Place, String, String) {
    let place = Place::new(FLOW, &notes("One.\\nTwo.\\n", "close"));
    assert_eq!(place.run(&RUN).code, 0);
    let first = place.flow().unwrap();
    let wider = FLOW
        .replace(
            "- { from: write, to: close }",
            "- { from: write, to: check }\n    - { from: check, to: close }",
        )
        .replace(
            "    - { id: close",
            "    - { id: check, role: writer }\n    - { id: close",
        );
    place.write("demo/flow.yaml", &wider);
    place.write("demo/script.yaml", &notes("One.\\nThree.\\n", "check"));
    assert_eq!(place.run(&RUN).code, 0);
    let listed = place.run(&["ls", "--all", "--json"]).json();
    let flows = listed["flows"].as_array().unwrap().iter();
    let mut flows = flows.map(|flow| flow["flow"].as_str().unwrap().to_owned());
    let second = flows.find(|flow| !first.ends_with(flow.as_str())).unwrap();
    (place, first, second)
}

#[test]
fn two_runs_stand_beside_each_other_with_nodes_graph_and_the_difference_of_their_artifacts() {
    let (place, first, second) = two_runs();
    let said = place.run(&["diff", &first, &second]);
    assert_eq!(said.code, 0, "{said:?}");
    for words in [
        "A  demo/",
        "B  demo/",
        "TOTALS",
        "turns",
        "  node only in B: check\n",
        "  edge only in A: write → close\n",
        "  edge only in B: check → close\n",
        "record/notes.md  differs, +1 −1\n--- a/record/notes.md\n+++ b/record/notes.md\n",
        "\n One.\n-Two.\n+Three.\n",
    ] {
        assert!(said.out.contains(words), "{words:?} in {}", said.out);
    }
    let row = |name: &str| {
        let row = said.out.lines().find(|line| line.contains(name));
        row.unwrap_or_default()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert!(
        row("≠ check").starts_with("≠ check writer not there ✓ done 1"),
        "{}",
        said.out
    );
    assert!(
        row("  write ").starts_with("write writer ✓ done ✓ done 1 1"),
        "{}",
        said.out
    );
}

#[test]
fn programs_get_two_runs_as_data_and_what_differs_may_be_counted_only() {
    let (place, first, second) = two_runs();
    let stat = place.run(&["diff", &first, &second, "--stat"]);
    assert!(
        stat.out.contains("record/notes.md  differs, +1 −1\n"),
        "{stat:?}"
    );
    assert!(!stat.out.contains("-Two."), "{stat:?}");
    let all = place.run(&["diff", &first, &second, "--json"]).json();
    assert_eq!(all["graph"]["nodes_b"], json!(["check"]));
    assert_eq!(all["files"][0]["stands"], "differs");
    let lines = &all["files"][0]["diff"]["hunks"][0]["lines"];
    assert_eq!(lines.as_array().unwrap().len(), 3, "{lines}");
    let differing = all["nodes"].as_array().unwrap().iter();
    let differing = differing.filter(|node| node["differs"] == true);
    let differing: Vec<&Value> = differing.map(|node| &node["node"]).collect();
    assert_eq!(differing, ["check"]);
    let same = place.run(&["diff", &first, &first]);
    assert!(
        same.out.contains("GRAPH  the same nodes and edges"),
        "{same:?}"
    );
    assert!(same.out.contains("all the same"), "{same:?}");
    let unknown = place.run(&["diff", &first, "nothing-like-it"]);
    assert!(
        unknown
            .err
            .contains("no flow to compare with has that name"),
        "{unknown:?}"
    );
}
