//! Patches of several files, on the wire whose models are trained on them: what such a model is
//! offered, what happens to its files, and what is left of a patch when the program is killed.

use std::time::Duration;

use a_society_stand_in::{Ending, Piece, Reply, Server, Used};
use serde_json::{Value, json};

use super::models::FLOW;
use super::place::{Place, wait_until};

/// What the model says when it is shown so many results.
type Script = fn(usize) -> Option<(&'static str, Value)>;

/// A model on the Responses wire; on any other it is asked for its first words only.
fn model(script: Script) -> Server {
    Server::by(move |seen, _| {
        let items = seen.body["input"].as_array().into_iter().flatten();
        let results = items
            .filter(|item| item["type"] == "function_call_output")
            .count();
        let piece = match script(results) {
            Some((name, arguments)) => Piece::Call {
                id: format!("call_{results}"),
                name: name.to_owned(),
                arguments: arguments.to_string(),
            },
            None => Piece::text("Done.\n\n```handoff\ntype: forward-pass-closed\n```\n"),
        };
        let used = Used {
            fresh: 100,
            ..Used::default()
        };
        Reply::Paced(vec![piece], Ending::Natural, used, Duration::from_millis(1))
    })
}

/// A project whose model has this name with its provider.
fn place(server: &Server, wire: &str, id: &str, more: &str) -> Place {
    let place = Place::new(FLOW, "");
    std::fs::remove_file(place.workspace.path().join("demo/script.yaml")).unwrap();
    let config = format!(
        "providers:\n  p: {{ wire: {wire}, base-url: '{}' }}\n\
         models:\n  m: {{ provider: p, id: {id}, window: 100000{more} }}\nmodel: m\n",
        server.url()
    );
    place.write("config.yaml", &config);
    place
}

fn patch(body: &str) -> Value {
    json!({ "input": format!("*** Begin Patch\n{body}*** End Patch\n") })
}

/// The results of tools as the last request shows them.
fn results(server: &Server) -> Vec<String> {
    assert_eq!(server.refused(), [""; 0]);
    let last = server.seen().pop().unwrap().body;
    let items = last["input"].as_array().unwrap().iter();
    items
        .filter(|item| item["type"] == "function_call_output")
        .map(|item| item["output"].as_str().unwrap().to_owned())
        .collect()
}

fn read(place: &Place, name: &str) -> Option<String> {
    std::fs::read_to_string(place.workspace.path().join("demo").join(name)).ok()
}

const ONE: &str = "fn one() {\n    run();\n}\n";
const TWO: &str = "fn two() {\n    run();\n}\n";

fn patches_three(results: usize) -> Option<(&'static str, Value)> {
    let good = "*** Update File: one.rs\n@@ fn one() {\n-    run();\n+    stop();\n\
                *** Delete File: old.rs\n*** Add File: docs/new.md\n+# New\n";
    Some(match results {
        0 => ("read_file", json!({ "path": "old.rs" })),
        1 => (
            "apply_patch",
            patch(&format!(
                "{good}*** Update File: two.rs\n@@\n-    runs();\n+    stop();\n"
            )),
        ),
        2 => ("apply_patch", patch(good)),
        3 => (
            "run_command",
            json!({ "command": "apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF" }),
        ),
        4 => (
            "edit_file",
            json!({ "path": "two.rs", "old_string": "run", "new_string": "go" }),
        ),
        _ => return None,
    })
}

#[test]
fn a_patch_changes_all_of_its_files_after_one_question_or_none_of_them() {
    let server = model(patches_three);
    let place = place(&server, "openai-responses", "gpt-5-mini", "");
    place.write("demo/one.rs", ONE);
    place.write("demo/two.rs", TWO);
    place.write("demo/old.rs", "old\n");
    let said = place.run(&["run", "demo/flow.yaml", "--until-waiting"]);
    assert_eq!(said.code, 9, "{said:?}");
    // The patch with the wrong hunk was refused whole; the other one waits, and shows every change.
    assert_eq!(read(&place, "one.rs").as_deref(), Some(ONE));
    assert_eq!(read(&place, "docs/new.md"), None);
    for shown in [
        "change one.rs",
        "-    run();",
        "+    stop();",
        "delete old.rs",
        "-old",
        "new file docs/new.md",
        "# New",
    ] {
        assert!(said.err.contains(shown), "{shown}: {}", said.err);
    }
    let flow = place.flow().unwrap();
    assert_eq!(place.run(&["allow", &flow]).code, 0);
    let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
    assert_eq!(said.code, 9, "an edit is another question: {said:?}");
    assert_eq!(
        read(&place, "one.rs").as_deref(),
        Some("fn one() {\n    stop();\n}\n")
    );
    assert_eq!(read(&place, "docs/new.md").as_deref(), Some("# New\n"));
    assert_eq!(read(&place, "old.rs"), None);
    assert_eq!(place.run(&["allow", &flow]).code, 0);
    let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(
        read(&place, "two.rs").as_deref(),
        Some("fn two() {\n    go();\n}\n"),
        "the other tool is run, too"
    );
    let results = results(&server);
    assert_eq!(results.len(), 5, "{results:#?}");
    assert!(
        results[1].contains("Hunk 1 of 1 in two.rs: no such lines. Nothing was changed."),
        "{}",
        results[1]
    );
    assert_eq!(
        results[2],
        "Changed one.rs: +1 -1.\n2\t-    run();\n2\t+    stop();\nDeleted old.rs.\n\
         Added docs/new.md: 6 bytes, 1 lines.\n"
    );
    assert!(
        results[3].contains("apply_patch is a tool, not a command."),
        "{}",
        results[3]
    );
}

/// The tools for edits that a first request offers.
fn offered(wire: &str, id: &str, more: &str) -> Vec<String> {
    let server = Server::by(|_, _| Reply::status(401, "", "{}"));
    let place = place(&server, wire, id, more);
    let said = place.run(&["run", "demo/flow.yaml", "--until-waiting"]);
    assert_eq!(said.code, 10, "{said:?}");
    let body = server.seen().remove(0).body;
    let name = |tool: &Value| {
        let name = tool["name"].as_str().or(tool["function"]["name"].as_str());
        name.unwrap().to_owned()
    };
    let names = body["tools"].as_array().unwrap().iter().map(name);
    names
        .filter(|name| ["edit_file", "apply_patch"].contains(&name.as_str()))
        .collect()
}

#[test]
fn who_is_trained_on_patches_is_offered_them_and_the_configuration_says_otherwise() {
    for (wire, id, more, expected) in [
        ("openai-responses", "gpt-5.1-codex", "", "apply_patch"),
        ("openai-responses", "codex-mini-latest", "", "apply_patch"),
        (
            "openai-responses",
            "gpt-5",
            ", edit-tool: replace",
            "edit_file",
        ),
        ("openai-responses", "gpt-4o", "", "edit_file"),
        ("openai-chat", "gpt-5", "", "edit_file"),
        ("anthropic", "m", "", "edit_file"),
        ("anthropic", "m", ", edit-tool: patch", "apply_patch"),
    ] {
        assert_eq!(offered(wire, id, more), [expected], "{wire} {id}{more}");
    }
}

/// A path of so many folders, one in the other.
fn deep(folders: usize) -> String {
    format!("{}x.txt", "a/".repeat(folders))
}

fn writes_deep(results: usize) -> Option<(&'static str, Value)> {
    Some(match results {
        0 => (
            "write_file",
            json!({ "path": deep(1_500), "content": "x\n" }),
        ),
        1 => (
            "write_file",
            json!({ "path": format!("record/{}", deep(64)), "content": "x\n" }),
        ),
        2 => (
            "apply_patch",
            patch(&format!("*** Add File: {}\n+x\n", deep(64))),
        ),
        3 => (
            "write_file",
            json!({ "path": format!("record/{}", deep(63)), "content": "deepest\n" }),
        ),
        4 => ("grep", json!({ "pattern": "deepest", "path": "record" })),
        _ => return None,
    })
}

#[test]
fn no_file_is_written_deeper_than_a_search_finds_it_and_no_folder_made_for_it() {
    let server = model(writes_deep);
    let place = place(&server, "openai-responses", "gpt-5", "");
    let said = place.run(&[
        "run",
        "demo/flow.yaml",
        "--until-waiting",
        "--improve",
        "none",
    ]);
    assert_eq!(said.code, 0, "nothing was asked: {said:?}");
    let project = place.workspace.path().join("demo");
    assert!(!project.join("a").exists());
    let results = results(&server);
    for (at, folders) in [(0, "1,500"), (1, "64"), (2, "64")] {
        let expected = format!(
            "would stand {folders} folders deep. Folders are made at most 63 deep, as far as searches \
             go: choose a shorter path. Nothing was changed."
        );
        assert!(results[at].contains(&expected), "{}", results[at]);
        assert!(results[at].len() < 400, "{}", results[at]);
    }
    assert!(
        results[3].starts_with("Wrote record/a/a/"),
        "{}",
        results[3]
    );
    assert!(results[4].contains(":1:deepest"), "{}", results[4]);
}

/// How many files the large patch changes, and how long each of them is: long enough for a kill to come
/// in between.
const FILES: usize = 12;
const LINES: usize = 20_000;

fn patches_many(results: usize) -> Option<(&'static str, Value)> {
    let each = (0..FILES).map(|n| format!("*** Update File: f{n}.txt\n@@\n-first\n+1st\n"));
    (results == 0).then(|| ("apply_patch", patch(&each.collect::<String>())))
}

#[test]
fn a_patch_that_a_kill_cut_off_between_two_files_is_finished_by_their_hashes() {
    let before = format!("first\n{}", "a line of it\n".repeat(LINES));
    let after = before.replacen("first", "1st", 1);
    let (mut cut, mut whole) = (0, 0);
    for killed_at in [0, 4, FILES - 1] {
        let server = model(patches_many);
        let place = place(&server, "openai-responses", "gpt-5", "");
        for n in 0..FILES {
            place.write(&format!("demo/f{n}.txt"), &before);
        }
        let flow = place.run_until_it_waits();
        assert_eq!(place.run(&["mode", &flow, "full-access"]).code, 0);
        let mut child = place.start(&["resume", &flow, "--until-waiting", "--improve", "none"]);
        let is_changed = |n: usize| read(&place, &format!("f{n}.txt")).as_ref() != Some(&before);
        wait_until("a file is changed", || is_changed(killed_at));
        child.kill().unwrap();
        child.wait().unwrap();
        let changed = (0..FILES).filter(|n| is_changed(*n)).count();
        wait_until("the flow can be opened", || {
            let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
            assert!(matches!(said.code, 0 | 5), "{said:?}");
            said.code == 0
        });
        for n in 0..FILES {
            let text = read(&place, &format!("f{n}.txt"));
            assert!(
                text.as_ref() == Some(&after),
                "f{n}.txt, killed at {killed_at}"
            );
        }
        let left = std::fs::read_dir(place.workspace.path().join("demo")).unwrap();
        let left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let left: Vec<String> = left
            .filter(|name| name.starts_with(".a-society-"))
            .collect();
        assert_eq!(left, [""; 0], "half a file is left");
        let results = results(&server);
        assert_eq!(results.len(), 1, "{results:#?}");
        let told = results[0]
            .matches("changed before the program was started")
            .count();
        let log = place.run(&["log", &flow, "--json"]).out;
        let calls = log.matches("\"fact\":\"call_intended\"").count();
        assert_eq!(calls, 1, "it is one call to its end");
        if told > 0 {
            assert_eq!(told, changed, "{}", results[0]);
            assert!(log.contains("\"fact\":\"call_rerun\""), "{log}");
            cut += 1;
        } else {
            whole += 1;
        }
    }
    assert!(
        cut > 0,
        "no kill came between two files, {whole} after the last"
    );
}
