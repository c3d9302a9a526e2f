//! `verify` and `rebuild`: what is wrong is found, what can be made again is made again.

use a_society_facts::Fact;
use a_society_facts::fact::session::{MessageAdded, Origin};
use a_society_samples::id;

use super::{ONE, THREE, TWO};
use crate::support::Workspace;

#[test]
fn one_damaged_flow_is_named_and_the_others_are_sound() {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Sound");
    workspace.waiting("demo", TWO, "Damaged");
    workspace.waiting("demo", THREE, "Sound");
    let segment = workspace.segment(TWO);
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes[300] ^= 1;
    std::fs::write(segment, bytes).unwrap();
    let before = workspace.contents();
    let said = workspace.run(&["verify"]);
    assert_eq!(said.code, 4);
    insta::assert_snapshot!(said.whole());
    assert_eq!(workspace.run(&["verify", ONE]).code, 0);
    assert_eq!(workspace.run(&["verify", TWO]).code, 4);
    assert_eq!(workspace.run(&["verify", "nobody"]).code, 3);
    let found = workspace.run(&["verify", "--json"]);
    assert_eq!(found.code, 4);
    let sound: Vec<bool> = found.json()["flows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["sound"].as_bool().unwrap())
        .collect();
    assert_eq!(sound, [true, false, true]);
    assert!(workspace.contents() == before, "checking changes nothing");
}

/// A flow with a message that is kept as a blob.
fn with_blob(workspace: &Workspace) -> std::path::PathBuf {
    let mut flow = workspace.begin("demo", ONE, "Large", 0);
    let opened = a_society_samples::walk().into_iter().find(
        |fact| matches!(fact, Fact::SessionOpened(opened) if opened.role.to_string() == "owner"),
    );
    flow.append(opened.unwrap()).unwrap();
    let text = flow.keep_text("x".repeat(100_000)).unwrap();
    flow.append(Fact::MessageAdded(MessageAdded {
        role: id("owner"),
        message: id("m1"),
        text,
        origin: Origin::Injection,
        node: None,
        client: None,
        request: None,
    }))
    .unwrap();
    workspace.close(flow);
    let blobs = workspace.flow_folder(ONE).join("blobs");
    std::fs::read_dir(blobs)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path()
}

#[test]
fn a_lost_blob_is_found_and_hurts_nothing_else() {
    let workspace = Workspace::new();
    let blob = with_blob(&workspace);
    assert_eq!(workspace.run(&["verify"]).code, 0);
    std::fs::write(&blob, "y".repeat(100_000)).unwrap();
    let said = workspace.run(&["verify"]);
    assert_eq!(said.code, 4, "{said:?}");
    assert!(said.out.contains("is lost: "), "{}", said.out);
    std::fs::remove_file(&blob).unwrap();
    let said = workspace.run(&["verify"]);
    assert!(
        said.code == 4 && said.out.contains("it is missing"),
        "{}",
        said.out
    );
    let said = workspace.run(&["rebuild", ONE]);
    assert!(
        said.code == 0 && said.err.contains("is missing or damaged"),
        "{said:?}"
    );
    let shown = workspace.run(&["show", ONE]);
    assert!(
        shown.code == 0 && shown.out.contains("LOST BLOBS"),
        "{}",
        shown.out
    );
}

#[test]
fn views_are_made_again_with_the_same_bytes() {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Release");
    let before = workspace.contents();
    let folder = workspace.flow_folder(ONE);
    std::fs::remove_file(folder.join("flow.json")).unwrap();
    std::fs::write(folder.join("roles/owner/feed.json"), "[]").unwrap();
    let said = workspace.run(&["verify", ONE]);
    assert_eq!(said.code, 0, "stale views are no damage");
    assert!(
        said.out.contains("flow.json, roles/owner/feed.json"),
        "{}",
        said.out
    );
    let said = workspace.run(&["rebuild", ONE]);
    assert_eq!(said.code, 0);
    insta::assert_snapshot!(said.whole());
    let mut after = workspace.contents();
    let mut before = before;
    for contents in [&mut before, &mut after] {
        contents.retain(|path, _| !path.ends_with("flow.lock"));
    }
    assert!(before == after, "everything is what it was");
    let said = workspace.run(&["rebuild", ONE, "--json"]).json();
    assert_eq!(said["differed"], serde_json::json!([]));
}

#[test]
fn a_damaged_flow_is_not_rebuilt() {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Release");
    let segment = workspace.segment(ONE);
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes[300] ^= 1;
    std::fs::write(segment, bytes).unwrap();
    let said = workspace.run(&["rebuild", ONE]);
    assert_eq!((said.code, said.out.as_str()), (4, ""));
    assert!(said.err.contains("error[journal-damaged]"), "{}", said.err);
}
