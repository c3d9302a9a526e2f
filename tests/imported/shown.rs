//! What is shown of an imported flow besides its sessions: its files, its times, and what stays behind.

use std::time::{Duration, SystemTime};

use super::{CASES, Old, json};
use crate::served::client::Server;

#[test]
fn the_files_that_had_been_handed_over_are_shown_with_their_bytes() {
    let place = Old::with(&["reflecting"]);
    place.import();
    let flow = Old::id("reflecting");
    let server = Server::start(&place.workspace, &[]);
    let get = |rest: &str| {
        let path = format!("/api/flow/demo/{flow}/{rest}");
        server.place.ask("GET", &path, "").unwrap()
    };
    let files = get("files");
    let files = files["files"].as_array().unwrap();
    let paths: Vec<&str> = files
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["record/brief.md", "record/notes.md"]);
    let version = &files[0]["versions"][0];
    assert_eq!(
        (&version["from"], &version["to"]),
        (&"owner-intake".into(), &"write".into())
    );
    let brief = std::fs::read(place.folder("reflecting").join("record/brief.md")).unwrap();
    assert_eq!(version["bytes"], brief.len());
    let blob = place
        .folder("reflecting")
        .join("blobs")
        .join(version["hash"].as_str().unwrap());
    assert_eq!(std::fs::read(blob).unwrap(), brief);
    let changes = get("changes");
    let diffs = changes["diffs"].as_array().unwrap();
    assert_eq!(diffs.len(), 2, "{changes}");
    assert_eq!(diffs[0]["path"], "record/brief.md");
    assert_eq!(diffs[0]["hunks"][0]["lines"][0]["op"], "+", "{changes}");
}

#[test]
fn a_flow_stood_so_when_its_files_were_written_last() {
    let place = Old::with(&CASES);
    let then = SystemTime::UNIX_EPOCH + Duration::from_millis(1_772_352_000_250);
    for name in CASES {
        let file = place.folder(name).join("flow.json");
        let file = std::fs::File::options().append(true).open(file).unwrap();
        file.set_modified(then).unwrap();
    }
    place.import();
    for name in CASES {
        let feed = json(&place.folder(name).join("roles/owner/feed.json"));
        for item in feed.as_array().unwrap() {
            assert_eq!(item["at"], "2026-03-01T08:00:00.250Z", "{name}: {item}");
        }
    }
    let asks = json(&place.folder("asks").join("flow.json"));
    let since = &asks["awaiting_operator"]["write"]["since"];
    assert_eq!(since, "2026-03-01T08:00:00.250Z");
}

#[test]
fn settings_keys_and_skills_that_stay_behind_are_named() {
    let place = Old::with(&["asks"]);
    for name in ["settings.json", "secrets.json", "skills/review/SKILL.md"] {
        let path = place.workspace.path().join(".a-society").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "{}").unwrap();
    }
    let writer = place.folder("asks").join("roles/writer/capabilities.json");
    std::fs::write(
        writer,
        r#"{ "skills": ["tables"], "mcpServers": ["maps"] }"#,
    )
    .unwrap();
    let said = place.run(&["import-state", "--dry-run"]);
    assert_eq!(said.code, 0, "{said:?}");
    for (name, instead) in [
        ("settings.json", "a-society models add"),
        ("secrets.json", "a-society models add"),
        ("skills", "a-society skills import"),
    ] {
        let mut lines = said
            .err
            .lines()
            .filter(|line| line.contains("not taken over"));
        let line = lines.find(|line| line.contains(&format!("/{name};")));
        assert!(
            line.is_some_and(|line| line.contains(instead)),
            "{name}: {}",
            said.err
        );
    }
    for words in ["the skills tables", "the MCP servers maps"] {
        assert!(said.out.contains(words), "{words} in {}", said.out);
    }
    let json = place.run(&["import-state", "--dry-run", "--json"]).json();
    assert_eq!(
        json["not_taken_over"].as_array().unwrap().len(),
        3,
        "{json}"
    );
}
