//! What roles changed in files, as `diff` tells it from the journal.

use a_society_stand_in::{Ending, Server};
use serde_json::{Value, json};

use super::models::{Model, call, says, streamed, with_model, with_model_at};
use super::place::{FLOW, Place, RUN};
use crate::served::client::Server as Page;
use crate::support::Workspace;

/// What was printed, with TIME for each time of day.
fn timeless(out: &str) -> String {
    let is_time = |word: &str| {
        let word = word.trim_end_matches(';');
        let mut parts = word.split(':');
        let is_number = |part: Option<&str>| part.is_some_and(|part| part.parse::<u8>().is_ok());
        word.len() == 5 && is_number(parts.next()) && is_number(parts.next())
    };
    let word = |word: &str| {
        let end = if word.ends_with(';') { "TIME;" } else { "TIME" };
        if is_time(word) {
            end.to_owned()
        } else {
            word.to_owned()
        }
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = out.split('\n').map(line).collect();
    lines.join("\n")
}

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
        timeless(&said.out),
        "notes.md  +3 −0  do, turn 1, allowed by --allow edits TIME\n\
         --- /dev/null\n+++ b/notes.md\n\
         @@ -0,0 +1,3 @@\n+one\n+2    zwei\n+three\n\n\
         there.md  +1 −1  do, turn 1, allowed by --allow edits TIME\n\
         --- a/there.md\n+++ b/there.md\n\
         @@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n\n"
    );
    let only = ["diff", &flow, "there.md", "--role", "owner", "--stat"];
    let said = place.run(&only);
    let whose = "there.md  +1 −1  do, turn 1, allowed by --allow edits TIME\n";
    assert_eq!(timeless(&said.out), whose);
    let said = place.run(&["diff", &flow, "--json"]);
    let all: Value = serde_json::from_str(&said.out).unwrap();
    let paths: Vec<&Value> = all["diffs"].as_array().unwrap().iter().collect();
    let paths: Vec<&Value> = paths.iter().map(|diff| &diff["path"]).collect();
    assert_eq!(paths, ["notes.md", "there.md"]);
    let said = place.run(&["diff", &flow, "--role", "nobody"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.err.contains("its roles are owner"), "{said:?}");
}

#[test]
fn a_change_is_told_with_who_allowed_it_where_that_was_asked() {
    let model = Model::start();
    let place = with_model(&model);
    let flow = place.run_until_it_waits();
    let goes_on = ["resume", &flow, "--until-waiting", "--improve", "none"];
    while place.run(&["allow", &flow]).code == 0 {
        if place.run(&goes_on).code == 0 {
            break;
        }
    }
    let stat = ["diff", &flow, "notes.md", "--stat"];
    let told = "notes.md  +1 −0  do, turn 1, allowed by you TIME\n";
    assert_eq!(timeless(&place.run(&stat).out), told);
    let all = place.run(&["diff", &flow, "--json"]).json();
    let by = &all["by"]["notes.md"][0];
    assert_eq!((&by["role"], &by["node"]), (&json!("owner"), &json!("do")));
    assert!(by["allowed"]["at"].is_string() && by["allowed"]["rule"].is_null());

    let place = with_model(&model);
    let run = [
        "run",
        "demo/flow.yaml",
        "--mode",
        "full",
        "--improve",
        "none",
    ];
    assert_eq!(place.run(&run).code, 0);
    let flow = place.flow().unwrap();
    let said = place.run(&["diff", &flow, "notes.md", "--stat"]);
    assert_eq!(said.out, "notes.md  +1 −0  do, turn 1\n");
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

/// One role after the other writes over the same long file; both hand it on.
fn written_over_twice() -> (Server, Place) {
    let server = Server::by(|seen, _| {
        let text = &seen.text;
        let second = text.contains("You are the second.");
        let results = text.matches("tool_result").count();
        let said = match results {
            0 => vec![call(0, "read_file", json!({ "path": "a.py" }))],
            1 => {
                let content = if second { "three\n" } else { "two\n" };
                let content = format!("{}{content}", "same\n".repeat(4_000));
                let name = format!("toolu_{}", u8::from(second));
                let input = json!({ "path": "a.py", "content": content });
                let (mut block, deltas) = call(1, "write_file", input);
                block["id"] = json!(name);
                vec![(block, deltas)]
            }
            _ if text.contains("You are at node `close`") => {
                vec![says(&["```handoff\ntype: forward-pass-closed\n```\n"])]
            }
            2 if second => {
                let input = json!({ "path": "b.py", "content": "b\n" });
                vec![call(2, "write_file", input)]
            }
            _ if second => vec![says(&[
                "```handoff\ntarget_node_id: close\nartifact_path: b.py\n```\n",
            ])],
            _ => vec![says(&[
                "```handoff\ntarget_node_id: again\nartifact_path: a.py\n```\n",
            ])],
        };
        streamed(said, Ending::Natural, 100)
    });
    let place = with_model_at(&server.url(), "anthropic");
    place.write(
        "demo/flow.yaml",
        "workflow:\n  name: Twice\n  nodes:\n    - { id: begin, role: one }\n    - { id: again, role: two }\n    \
         - { id: close, role: one }\n  edges:\n    - { from: begin, to: again }\n    - { from: again, to: close }\nroles:\n  one: { instructions: You are the first. }\n  two: { \
         instructions: You are the second. }\n",
    );
    place.write("demo/a.py", &format!("{}one\n", "same\n".repeat(4_000)));
    (server, place)
}

#[test]
fn what_a_file_held_before_two_roles_wrote_over_it_is_known_from_the_journal_alone() {
    let (_server, place) = written_over_twice();
    let run = [
        "run",
        "demo/flow.yaml",
        "--allow",
        "edits",
        "--improve",
        "none",
    ];
    let said = place.run(&run);
    assert_eq!(said.code, 0, "{said:?}");
    let flow = place.flow().unwrap();
    place.write("demo/a.py", "Something else.\n");
    let asked = "allowed by --allow edits TIME";
    let whole = format!(
        "a.py  +1 −1  begin, turn 1, {asked}; again, turn 1, {asked}\n--- a/a.py\n+++ b/a.py\n\
                 @@ -3998,4 +3998,4 @@\n same\n same\n same\n-one\n+three\n\n"
    );
    assert_eq!(timeless(&place.run(&["diff", &flow, "a.py"]).out), whole);
    let second = place.run(&["diff", &flow, "a.py", "--role", "two"]).out;
    assert!(second.ends_with(" same\n-two\n+three\n\n"), "{second}");
    // The page: all changes, and the item of each call.
    let page = Page::start(&place.workspace, &[]);
    let path = format!("/api/flow/demo/{flow}/changes");
    let changes = page.place.ask("GET", &path, "").unwrap();
    assert_eq!(changes["truncated"], json!(false), "{changes}");
    let lines = changes["diffs"][0]["hunks"][0]["lines"].as_array().unwrap();
    let ops: Vec<&Value> = lines.iter().map(|line| &line["op"]).collect();
    assert_eq!(ops, [" ", " ", " ", "-", "+"]);
    let log = place.run(&["log", &flow, "--json"]).out;
    let records = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let writes =
        |record: &Value| record["fact"] == "call_intended" && record["tool"] == "write_file";
    let writes: Vec<Value> = records.filter(writes).collect();
    assert_eq!(writes.len(), 3);
    for (write, gone) in writes.iter().zip(["one", "two"]) {
        let seq = &write["seq"];
        let path = format!("/api/flow/demo/{flow}/item/f{seq}/body");
        let body = page.place.ask("GET", &path, "").unwrap();
        let lines = body["parts"]["diff"]["hunks"][0]["lines"].as_array();
        let gone_lines = lines.into_iter().flatten();
        let gone_lines: Vec<&Value> = gone_lines.filter(|line| line["op"] == "-").collect();
        assert_eq!(gone_lines, [&json!({ "op": "-", "text": gone })], "{body}");
    }
    drop(page);
    // Taken along to another workspace, it is the same.
    assert_eq!(place.run(&["export", &flow, "flow.tar"]).code, 0);
    let other = Workspace::new();
    let archive = place.workspace.path().join("flow.tar");
    let said = other.run(&["import", archive.to_str().unwrap()]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(timeless(&other.run(&["diff", &flow, "a.py"]).out), whole);
}

#[test]
fn what_a_scripted_role_writes_over_is_known_from_the_journal_alone() {
    let script = "default: forward\nscript:\n  - node: ask\n    say:\n      - write: { path: notes.md, text: \"One.\\nTwo.\\n\" }\n      \
                  - handoff: { to: write, artifact: notes.md }\n  - node: write\n    say:\n      \
                  - write: { path: notes.md, text: \"One.\\nThree.\\n\" }\n      \
                  - write: { path: more.md, text: More. }\n      - handoff: { to: close, artifact: more.md }\n";
    let place = Place::new(FLOW, script);
    let said = place.run(&RUN);
    assert_eq!(said.code, 0, "{said:?}");
    let flow = place.flow().unwrap();
    let written = place.folder(&flow).join("record/notes.md");
    assert_eq!(std::fs::read_to_string(&written).unwrap(), "One.\nThree.\n");
    std::fs::remove_file(&written).unwrap();
    let second = place.run(&["diff", &flow, "record/notes.md", "--role", "writer"]);
    let expected = "record/notes.md  +1 −1  write, turn 1\n--- a/record/notes.md\n+++ b/record/notes.md\n\
                    @@ -1,2 +1,2 @@\n One.\n-Two.\n+Three.\n\n";
    assert_eq!(second.out, expected, "{second:?}");
}
