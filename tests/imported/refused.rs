//! What cannot be imported is reported with a reason, and stays as it is.

use super::{Old, contents};

/// Damages one file of an old flow, and checks the reason.
fn refused(file: &str, damage: impl FnOnce(&str) -> String, expected: &str) {
    let place = Old::with(&["asks", "fan"]);
    let path = place.folder("asks").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    std::fs::write(&path, damage(&text)).unwrap();
    is_refused(&place, expected);
}

/// The other flow is imported, and this one stays as it is.
fn is_refused(place: &Old, expected: &str) {
    let before = contents(&place.folder("asks"));
    let said = place.run(&["import-state", "--json"]);
    assert_eq!(said.code, 4, "{said:?}");
    let json = said.json();
    let flows = json["flows"].as_array().unwrap();
    let why: Vec<&str> = flows
        .iter()
        .filter_map(|flow| flow["why"].as_str())
        .collect();
    assert_eq!(why.len(), 1, "{flows:?}");
    assert!(
        why[0].contains(expected),
        "{:?} says nothing of {expected:?}",
        why[0]
    );
    assert_eq!(contents(&place.folder("asks")), before);
    assert!(!place.aside("asks").exists());
    place.is_sound("fan");
    let said = place.run(&["import-state"]);
    assert_eq!(said.code, 4);
    assert!(said.out.contains("not imported"), "{}", said.out);
}

fn half(text: &str) -> String {
    text[..text.len() / 2].to_owned()
}

#[test]
fn another_version_is_named() {
    for (version, expected) in [
        ("\"10\"", "state version 10"),
        ("\"12\"", "state version 12"),
        ("9", "state version 9"),
    ] {
        let other = |text: &str| {
            let wanted = format!("\"stateVersion\": {version}");
            text.replace("\"stateVersion\": \"11\"", &wanted)
        };
        refused("flow.json", other, expected);
    }
    let none = |text: &str| text.replace("\"stateVersion\": \"11\",", "");
    refused("flow.json", none, "names no stateVersion");
}

#[test]
fn files_that_are_damaged_or_half_written_are_named() {
    refused("flow.json", half, "flow.json ends in the middle");
    refused(
        "flow.json",
        |_| "nonsense".to_owned(),
        "flow.json is no JSON",
    );
    refused(
        "flow.json",
        |_| String::new(),
        "flow.json ends in the middle",
    );
    let transcript = "roles/writer/transcript.json";
    refused(
        transcript,
        half,
        "roles/writer/transcript.json ends in the middle",
    );
    let strange = |text: &str| text.replace("\"role\": \"user\"", "\"role\": \"ghost\"");
    refused(transcript, strange, "ghost");
    refused(
        "roles/writer/feed.json",
        half,
        "roles/writer/feed.json ends in the middle",
    );
    refused(
        "roles/writer/feed.json",
        |text| text.replace("activation", "elsewhere"),
        "roles/writer/feed.json does not say",
    );
}

#[test]
fn a_flow_without_its_graph_or_its_state_is_named() {
    let place = Old::with(&["asks", "fan"]);
    std::fs::remove_file(place.folder("asks").join("flow.json")).unwrap();
    is_refused(&place, "has no flow.json");
    let place = Old::with(&["asks", "fan"]);
    std::fs::remove_file(place.folder("asks").join("record/workflow.yaml")).unwrap();
    is_refused(&place, "its graph cannot be read");
    let no_graph = |text: &str| text.replace("  edges:", "  arrows:");
    refused(
        "record/workflow.yaml",
        no_graph,
        "record/workflow.yaml is no graph",
    );
}

#[test]
fn a_flow_that_says_that_it_is_over_and_is_not_does_not_begin_to_run() {
    let over = |text: &str| text.replace("\"status\": \"running\"", "\"status\": \"completed\"");
    refused("flow.json", over, "cannot close");
}

#[test]
fn links_of_the_old_folder_are_not_followed() {
    let place = Old::with(&["asks"]);
    let secret = place.workspace.path().join("secret");
    std::fs::write(&secret, "not yours").unwrap();
    let record = place.folder("asks").join("record");
    std::os::unix::fs::symlink(&secret, record.join("shortcut.md")).unwrap();
    std::os::unix::fs::symlink(place.workspace.path(), record.join("everything")).unwrap();
    let said = place.import();
    let left = said[0]["not_carried"].to_string();
    assert!(left.contains("record/shortcut.md"), "{left}");
    assert!(left.contains("record/everything"), "{left}");
    assert!(!place.folder("asks").join("record/shortcut.md").exists());
    place.is_sound("asks");
}

#[test]
fn where_there_is_nothing_to_import_that_is_said() {
    let place = Old::with(&[]);
    let said = place.run(&["import-state"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(
        said.err.contains("error[nothing-to-import]"),
        "{}",
        said.err
    );
}

#[test]
fn a_flow_of_our_own_with_that_name_is_not_touched() {
    let old = Old::with(&["asks"]);
    let here = Old::with(&[]);
    here.workspace.waiting("demo", &Old::id("asks"), "Ours");
    let before = here.workspace.contents();
    let said = here.run(&["import-state", old.workspace.path().to_str().unwrap()]);
    assert_eq!(said.code, 4, "{said:?}");
    assert!(said.out.contains("there is a flow"), "{}", said.out);
    assert_eq!(here.workspace.contents(), before);
}

/// Until it is imported, a flow of another program is listed as one, and nothing is put beside it.
#[test]
fn a_flow_that_was_not_imported_yet_is_neither_damaged_nor_touched() {
    let place = Old::with(&["asks"]);
    let before = place.workspace.contents();
    let flow = Old::id("asks");
    let listed = place.run(&["ls"]);
    assert_eq!(listed.code, 0, "{listed:?}");
    assert!(listed.out.contains("not imported"), "{}", listed.out);
    assert!(
        listed.out.contains("a-society import-state"),
        "{}",
        listed.out
    );
    let json = place.run(&["ls", "--json"]).out;
    assert!(json.contains("\"word\":\"foreign\""), "{json}");
    for words in [
        vec!["show", &flow],
        vec!["log", &flow],
        vec!["verify", &flow],
        vec!["resume", &flow],
        vec!["repair", &flow, "--dry-run"],
        vec!["repair", &flow, "--apply"],
        vec!["rebuild", &flow],
        vec!["session", "ls", &flow],
        vec!["export", &flow, "flow.tar"],
        vec!["reply", &flow, "Yes."],
        vec!["fork", &flow],
    ] {
        let said = place.run(&words);
        assert_eq!(said.code, 6, "{words:?}: {said:?}");
        let told = format!("{}{}", said.out, said.err);
        assert!(
            told.contains("kept by another program"),
            "{words:?}: {told}"
        );
    }
    let pruned = place.run(&["prune", "--older-than", "0s", "--yes"]);
    assert!(!pruned.out.contains(&flow), "{pruned:?}");
    assert_eq!(place.workspace.contents(), before);
    place.import();
    assert!(!place.run(&["ls"]).out.contains("not imported"));
}

/// A power cut in the middle of a rename may leave both names: nothing is lost, and it is imported.
#[test]
fn what_stands_in_both_places_is_imported_and_both_are_kept() {
    let place = Old::with(&["asks"]);
    crate::support::copy(&place.folder("asks"), &place.aside("asks"));
    let before = contents(&place.folder("asks"));
    place.import();
    place.is_sound("asks");
    assert_eq!(contents(&place.aside("asks")), before);
    let again = place.aside("asks").with_extension("2");
    assert_eq!(contents(&again), before);
    for flow in place.import().as_array().unwrap() {
        assert_eq!(flow["outcome"], "already-imported");
    }
}

#[test]
fn outside_of_a_workspace_one_is_made_for_what_is_imported_and_only_for_that() {
    let old = Old::with(&["asks"]);
    let outside = tempfile::tempdir().unwrap();
    let run = |words: &[&str]| {
        let mut command = old.workspace.command(words);
        old.workspace.heard(command.current_dir(outside.path()))
    };
    let from = old.workspace.path().display().to_string();
    let empty = tempfile::tempdir().unwrap();
    let nothing = run(&["import-state", &empty.path().display().to_string()]);
    assert_eq!(nothing.code, 3, "{nothing:?}");
    let planned = run(&["import-state", &from, "--dry-run"]);
    assert!(
        planned.code == 0 && planned.out.contains("would be imported"),
        "{planned:?}"
    );
    assert!(contents(outside.path()).is_empty());

    let done = run(&["import-state", &from]);
    assert!(
        done.code == 0 && done.err.contains("created workspace"),
        "{done:?}"
    );
    let listed = run(&["ls", "--json"]).json();
    assert_eq!(listed["flows"][0]["flow"], Old::id("asks"), "{listed}");
    let ignored = outside.path().join(".a-society/.gitignore");
    assert_eq!(std::fs::read_to_string(ignored).unwrap(), "*\n");
}
