//! A flow of another program whose role waited for consent: a model goes on with it, and what was
//! asked is asked again.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::models::{Model, call, calls, with_model};
use super::place::Place;
use crate::support::copy;

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

#[test]
fn what_a_role_had_asked_to_do_is_asked_again_and_done_when_it_is_allowed() {
    let model = Model::start_with(|_| Vec::new());
    let place = with_model(&model);
    let case = here("tests/imported/cases/consent");
    let flow = std::fs::read_to_string(case.join("flow.json")).unwrap();
    let flow: Value = serde_json::from_str(&flow).unwrap();
    let flow = flow["flowId"].as_str().unwrap().to_owned();
    let folder = place.workspace.flow_folder(&flow);
    copy(&case, &folder);
    // Without a script in its record, models take its turns.
    std::fs::remove_file(folder.join("record/script.yaml")).unwrap();
    let demo = place.workspace.path().join("demo");
    copy(&here("examples/release-notes/a-docs"), &demo.join("a-docs"));

    let said = place.run(&["import-state"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out.contains("asks again when it goes on"),
        "{}",
        said.out
    );
    let listed = place.run(&["ls", "--json"]);
    assert!(
        listed.out.contains("your consent to a call"),
        "{}",
        listed.out
    );
    let status = place.run(&["status", &flow]);
    assert!(!status.out.contains("nothing can run"), "{}", status.out);
    let said = place.run(&["resume", &flow, "--until-waiting"]);
    assert_eq!(said.code, 9, "{said:?}");
    assert!(said.err.contains("NOTES.md"), "{}", said.err);
    assert_eq!(
        model.requests(),
        0,
        "the answer that asked for it is not paid for again"
    );
    assert!(!demo.join("NOTES.md").exists());

    let said = place.run(&["allow", &flow]);
    assert_eq!(said.code, 0, "{said:?}");
    place.run(&["resume", &flow, "--until-waiting"]);
    let notes = std::fs::read_to_string(demo.join("NOTES.md"));
    assert_eq!(notes.unwrap(), "It is faster.\n");
    let done = ("write_file".to_owned(), "done".to_owned());
    assert_eq!(calls(&place, &flow), [done]);
    assert!(model.requests() > 0);
    let said = place.run(&["verify", &flow]);
    assert_eq!(said.code, 0, "{said:?}");
}

const ANSWERED: &str = "20260301T080000003Z-aaa003";

/// The writer writes where the flow lay before, and hands that over.
fn writes_where_it_was(results: usize) -> Vec<(Value, Vec<Value>)> {
    let old = "/old/workspace/.a-society/state/demo/20260301T080000003Z-aaa003/record/notes.md";
    let target = json!({ "target_node_id": "owner-close", "artifact_path": old });
    match results {
        0 => vec![call(
            0,
            "write_file",
            json!({ "path": old, "content": "It is faster.\n" }),
        )],
        1 => vec![call(1, "handoff", json!({ "targets": [target] }))],
        _ => Vec::new(),
    }
}

/// A flow that waits for no one: the operator had answered. Its writer has a model.
fn answered(model: &Model) -> (Place, PathBuf) {
    let place = with_model(model);
    let folder = place.workspace.flow_folder(ANSWERED);
    copy(&here("tests/imported/cases/answered"), &folder);
    std::fs::remove_file(folder.join("record/script.yaml")).unwrap();
    let docs = place.workspace.path().join("demo/a-docs");
    copy(&here("examples/release-notes/a-docs"), &docs);
    (place, folder)
}

#[test]
fn a_session_that_moved_here_is_told_once_where_paths_start_and_its_old_paths_are_understood() {
    let model = Model::start_with(writes_where_it_was);
    let (place, folder) = answered(&model);
    let path = folder.join("roles/writer/transcript.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let old = format!("Record folder: /old/workspace/.a-society/state/demo/{ANSWERED}/record\\n");
    std::fs::write(&path, text.replace("Your record folder is record/.", &old)).unwrap();
    assert_eq!(place.run(&["import-state"]).code, 0);
    place.run(&["resume", ANSWERED, "--until-waiting", "--improve", "none"]);
    let notes = std::fs::read_to_string(folder.join("record/notes.md")).unwrap();
    assert_eq!(notes, "It is faster.\n");
    let heard = model.heard();
    for body in &heard[..2] {
        assert!(body.contains("Record folder: /old/workspace"), "{body}");
        assert_eq!(body.matches("This flow moved.").count(), 1, "{body}");
    }
    let journal = std::fs::read_to_string(folder.join("journal/00000001.jsonl")).unwrap();
    assert_eq!(journal.matches("This flow moved.").count(), 1);
    assert!(!journal.contains("artifact_unavailable"), "{journal}");
}

/// The model in the body of each request.
fn models(model: &Model) -> Vec<String> {
    let heard = model.heard();
    let bodies = heard
        .iter()
        .map(|body| serde_json::from_str::<Value>(body).unwrap());
    bodies
        .map(|body| body["model"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_role_goes_on_with_the_model_that_it_had_or_asks_for_another() {
    for (had, is_known) in [("big-1", true), ("gone-1", false)] {
        let model = Model::start_with(writes_where_it_was);
        let (place, folder) = answered(&model);
        let config = std::fs::read_to_string(place.workspace.path().join("config.yaml")).unwrap();
        let more = "models:\n  big: { provider: p, id: big-1, window: 100000 }\n";
        place.write("config.yaml", &config.replace("models:\n", more));
        let choice = json!({ "modelConfigId": "m1", "displayName": "Had", "modelId": had });
        std::fs::write(folder.join("roles/writer/model.json"), choice.to_string()).unwrap();
        let said = place.run(&["import-state"]);
        assert_eq!(said.code, 0, "{said:?}");
        assert_eq!(
            said.out
                .contains("gone-1, which the configuration does not have"),
            !is_known
        );
        let said = place.run(&["resume", ANSWERED, "--until-waiting", "--improve", "none"]);
        if is_known {
            assert_eq!(models(&model)[..2], ["big-1", "big-1"], "{said:?}");
            continue;
        }
        assert_eq!(said.code, 10, "{said:?}");
        assert!(said.err.contains("gone-1"), "{}", said.err);
        assert_eq!(model.requests(), 0);
        assert_eq!(
            place
                .run(&["configure", ANSWERED, "writer", "model=big"])
                .code,
            0
        );
        place.run(&["resume", ANSWERED, "--until-waiting", "--improve", "none"]);
        assert_eq!(models(&model)[..2], ["big-1", "big-1"]);
    }
}
