//! What an imported flow shows is what its old files say, member by member.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{CASES, Old, case, contents, json};
use crate::support::Workspace;

/// What every old flow says of the place where it lay, and of a step that is not here.
const PLACES: [&str; 3] = [
    "flow.json: /feedbackContext",
    "flow.json: /recordFolderPath",
    "flow.json: /workspaceRoot",
];

/// What else of a case has no place.
fn without_place(name: &str) -> &'static [&'static str] {
    match name {
        "correction" => &[
            "flow.json: /consentState/bash/allowedCommands/k1/grantedAt",
            "flow.json: /consentState/mcp",
        ],
        "cut-off-text" => &[
            "roles/owner/model.json: /displayName",
            "roles/owner/model.json: /modelConfigId",
        ],
        _ => &[],
    }
}

/// Whether one value has everything that another has; it may have more.
pub(super) fn says(old: &Value, new: &Value, at: &str) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            for (key, value) in old {
                let at = format!("{at}/{key}");
                says(value, new.get(key).unwrap_or(&Value::Null), &at);
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            assert_eq!(old.len(), new.len(), "{at}");
            for (place, (value, other)) in old.iter().zip(new).enumerate() {
                says(value, other, &format!("{at}/{place}"));
            }
        }
        (old, new) => assert_eq!(old, new, "{at}"),
    }
}

fn keys(value: &Value) -> BTreeSet<String> {
    let members = value.as_object().into_iter().flatten();
    members.map(|(key, _)| key.clone()).collect()
}

fn set(value: &Value) -> BTreeSet<String> {
    let list = value.as_array().into_iter().flatten();
    list.map(|name| name.as_str().unwrap().to_owned()).collect()
}

#[test]
fn sessions_and_feeds_say_what_they_said() {
    let place = Old::with(&CASES);
    place.import();
    for name in CASES {
        let mut files = 0;
        for role in std::fs::read_dir(case(name).join("roles")).unwrap() {
            let role = role.unwrap().file_name().into_string().unwrap();
            for file in ["transcript.json", "feed.json"] {
                let path = format!("roles/{role}/{file}");
                let old = json(&case(name).join(&path));
                let new = json(&place.folder(name).join(&path));
                says(&old, &new, &format!("{name}/{path}"));
                files += 1;
            }
        }
        assert!(files >= 2, "{name}");
    }
}

/// Member after member of `flow.json`, looked up in the new one without what the import knows.
#[test]
fn a_flow_stands_as_it_stood() {
    let place = Old::with(&CASES);
    place.import();
    for name in CASES {
        let old = json(&case(name).join("flow.json"));
        let new = json(&place.folder(name).join("flow.json"));
        assert_eq!(old["flowId"], new["flow_id"], "{name}");
        assert_eq!(old["projectNamespace"], new["project"], "{name}");
        assert_eq!(
            old["stateVersion"], new["imported"]["state_version"],
            "{name}"
        );
        assert_eq!(set(&old["visitedNodeIds"]), set(&new["visited"]), "{name}");
        assert_eq!(
            set(&old["awaitingHandoff"]),
            set(&new["awaiting_handoff"]),
            "{name}"
        );
        let edges = new["completed_edges"].as_array().unwrap().iter();
        let edges = edges.map(|edge| {
            let end = |end: &str| edge[end].as_str().unwrap().to_owned();
            format!("{}=>{}", end("from"), end("to"))
        });
        let completed: BTreeSet<String> = edges.collect();
        assert_eq!(set(&old["completedHandoffs"]), completed, "{name}");
        let received: usize = (old["receivingHandoff"].as_object().unwrap().values())
            .map(|paths| paths.as_array().unwrap().len())
            .sum();
        assert_eq!(
            new["received"].as_array().unwrap().len(),
            received,
            "{name}"
        );
        assert_eq!(
            old["consentState"]["mode"], new["consent_mode"],
            "{name}: how much it may do"
        );
        assert_eq!(set(&old["runningNodes"]), keys(&new["running"]), "{name}");
        let waits = keys(&new["awaiting_operator"]);
        assert_eq!(keys(&old["awaitingHumanNodes"]), waits, "{name}");
        for (node, waiting) in old["awaitingHumanNodes"].as_object().unwrap() {
            let reason = waiting["reason"].as_str().unwrap().replace('-', "_");
            assert_eq!(new["awaiting_operator"][node]["reason"], reason, "{name}");
        }
        assert_eq!(
            keys(&old["pendingHumanInputs"]),
            keys(&new["replies"]),
            "{name}"
        );
        let staged = new["staged"].as_object().unwrap().values();
        let staged: BTreeSet<String> = staged
            .map(|staged| staged["node"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(keys(&old["pendingHandoffApprovals"]), staged, "{name}");
        let phase = match name {
            "completed" => "completed",
            "reflecting" => "improving",
            "single" => "improvement_choice",
            _ => "forward",
        };
        assert_eq!(new["phase"], phase, "{name}");
    }
    let answered = json(&place.folder("answered").join("flow.json"));
    let said = &answered["replies"]["write"][0];
    assert_eq!(said["text"], "For people who upgrade.");
    assert_eq!(said["at"], "2026-03-01T08:05:00.250Z", "when it was said");
}

#[test]
fn what_has_no_place_is_said_and_kept_byte_for_byte() {
    let place = Old::with(&CASES);
    let said = place.import();
    for flow in said.as_array().unwrap() {
        let name = CASES
            .iter()
            .find(|name| Old::id(name) == flow["flow"])
            .unwrap();
        assert_eq!(flow["outcome"], "imported", "{name}");
        let listed = set(&flow["without_place"]);
        let expected = PLACES.iter().chain(without_place(name));
        let expected: BTreeSet<String> = expected.map(|text| (*text).to_owned()).collect();
        assert_eq!(listed, expected, "{name}");
        let kept = json(&place.folder(name).join("flow.json"));
        let mut files = 0;
        for file in kept["imported"]["files"].as_array().unwrap() {
            let blob = place
                .folder(name)
                .join("blobs")
                .join(file["blob"].as_str().unwrap());
            let old = case(name).join(file["path"].as_str().unwrap());
            assert_eq!(std::fs::read(blob).unwrap(), std::fs::read(old).unwrap());
            files += 1;
        }
        let of_record = |path: &std::path::Path| path.starts_with("record");
        let all = contents(&case(name));
        let wanted = all.keys().filter(|path| !of_record(path)).count();
        assert_eq!(files, wanted, "{name}");
        place.is_sound(name);
    }
}

#[test]
fn what_is_read_is_not_changed_and_what_was_imported_is_not_imported_again() {
    let place = Old::with(&CASES);
    place.import();
    for name in CASES {
        assert_eq!(
            contents(&place.aside(name)),
            contents(&case(name)),
            "{name}"
        );
        let record = contents(&place.folder(name).join("record"));
        for (path, bytes) in contents(&case(name).join("record")) {
            assert_eq!(
                record.get(&path),
                Some(&bytes),
                "{name}: {}",
                path.display()
            );
        }
    }
    let before = place.workspace.contents();
    for flow in place.import().as_array().unwrap() {
        assert_eq!(flow["outcome"], "already-imported");
        assert_eq!(flow["changed_since"], false);
    }
    assert_eq!(place.workspace.contents(), before);

    let flow = place.aside("asks").join("flow.json");
    let text = std::fs::read_to_string(&flow).unwrap();
    std::fs::write(&flow, text + "\n").unwrap();
    let said = place.import();
    let changed = said.as_array().unwrap().iter();
    let changed: Vec<&Value> = changed
        .filter(|flow| flow["changed_since"] == true)
        .collect();
    assert_eq!(changed.len(), 1);
    assert_eq!(changed[0]["flow"], Old::id("asks"));
}

#[test]
fn another_workspace_is_read_and_left_as_it_is() {
    let old = Old::with(&["asks", "fan"]);
    let before = contents(old.workspace.path());
    let here = Old::with(&[]);
    let folder = old.workspace.path().to_str().unwrap().to_owned();
    let dry = here.run(&["import-state", &folder, "--dry-run"]);
    assert_eq!(dry.code, 0, "{dry:?}");
    assert!(dry.out.contains("would be imported"), "{}", dry.out);
    assert!(!dry.err.contains("not in this workspace"), "{}", dry.err);
    let strange = Workspace::new();
    let without = strange.run(&["import-state", &folder, "--dry-run"]);
    assert!(
        without.err.contains("demo is not in this workspace"),
        "{without:?}"
    );
    assert!(!here.workspace.state().exists(), "a dry run makes nothing");
    let said = here.run(&["import-state", &folder]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(contents(old.workspace.path()), before);
    for name in ["asks", "fan"] {
        here.is_sound(name);
        assert!(!here.aside(name).exists());
    }
    // One flow's folder may be named as well.
    let alone = Old::with(&[]);
    let one = old.folder("fan");
    let said = alone.run(&["import-state", one.to_str().unwrap()]);
    assert_eq!(said.code, 0, "{said:?}");
    alone.is_sound("fan");
    assert!(!alone.folder("asks").exists());
}

/// Journals as the first version that imported wrote them. They are never written again, and must
/// be read for ever.
#[test]
fn an_import_of_the_first_version_is_still_read() {
    for name in ["compacted", "completed", "cut-off-tool"] {
        let kept = case("").join(format!("../kept/{name}.jsonl"));
        let text = std::fs::read_to_string(kept).unwrap();
        let mut views = a_society_facts::view::Views::default();
        let mut words = BTreeSet::new();
        for text in text.lines() {
            let (frame, body) = a_society_facts::line::read(&mut text.as_bytes().to_vec()).unwrap();
            let a_society_facts::Body::Known(fact) = body else {
                panic!("{name}: {text} is no longer known");
            };
            let judged = a_society_facts::legal::legal(&views.flow, &fact);
            assert_eq!(judged, Ok(()), "{name}: record {}", frame.seq);
            words.insert(fact.word());
            views.apply(&a_society_facts::Recorded::new(frame.seq, frame.at, fact));
        }
        for word in ["flow_imported", "session_imported", "feed_imported"] {
            assert!(words.contains(word), "{name}: {word}");
        }
        for (role, session) in &views.sessions {
            let path = format!("roles/{role}/transcript.json");
            let old = json(&case(name).join(&path));
            says(
                &old,
                &serde_json::to_value(session).unwrap(),
                &format!("{name}/{path}"),
            );
        }
    }
}

/// A session of many parts, a feed of many, and one text that is longer than a record.
#[test]
fn long_sessions_and_feeds_are_imported_in_parts() {
    let place = Old::with(&["asks"]);
    let path = place.folder("asks").join("roles/writer/transcript.json");
    let mut old = json(&path);
    let history = old["transcriptHistory"].as_array_mut().unwrap();
    for number in 0..300 {
        let text = format!("{number} \"quoted\"\n").repeat(100);
        history.insert(1, serde_json::json!({ "role": "user", "content": text }));
    }
    let whole = "x\n".repeat(400_000);
    history.insert(1, serde_json::json!({ "role": "user", "content": whole }));
    std::fs::write(&path, serde_json::to_string_pretty(&old).unwrap()).unwrap();
    let feed = place.folder("asks").join("roles/writer/feed.json");
    let mut items = json(&feed);
    let more = items.as_array_mut().unwrap();
    for number in 0..2000 {
        let text = "y".repeat(200);
        more.push(serde_json::json!({ "id": number.to_string(), "type": "event", "label": "E", "text": text }));
    }
    std::fs::write(&feed, items.to_string()).unwrap();

    let said = place.import();
    let listed = set(&said[0]["without_place"]);
    let long = "roles/writer/transcript.json: /transcriptHistory/1/content";
    assert!(listed.contains(long), "{listed:?}");
    place.is_sound("asks");
    let new = json(&place.folder("asks").join("roles/writer/transcript.json"));
    let blob = &new["transcriptHistory"][1]["contentBlob"];
    assert_eq!(blob["bytes"], whole.len());
    let kept = place
        .folder("asks")
        .join("blobs")
        .join(blob["blob"].as_str().unwrap());
    assert_eq!(std::fs::read_to_string(kept).unwrap(), whole);
    // Everything but that one text is as it was.
    let content = new["transcriptHistory"][1]["content"].clone();
    old["transcriptHistory"][1]["content"] = content;
    old.as_object_mut().unwrap().remove("currentNodeContext");
    says(&old, &new, "transcript");
    says(
        &items,
        &json(&place.folder("asks").join("roles/writer/feed.json")),
        "feed",
    );
    let journal = std::fs::read_to_string(place.folder("asks").join("journal/00000001.jsonl"));
    let journal = journal.unwrap();
    assert!(journal.lines().all(|line| line.len() < 1024 * 1024));
    let parts = journal
        .lines()
        .filter(|line| line.contains("\"fact\":\"feed_imported\""));
    assert!(parts.count() > 3);
}
