//! A flow of another program whose role waited for consent: a model goes on with it, and what was
//! asked is asked again.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::models::{Model, calls, with_model};
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
    let said = place.run(&["resume", &flow, "--until-waiting"]);
    assert_eq!(said.code, 8, "{said:?}");
    assert!(said.out.contains("NOTES.md"), "{}", said.out);
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
