//! The README and the guide, followed as a newcomer follows them: every file that a page shows is
//! written and checked, every command of a console is run, and what it prints is what the page says.
//!
//! A block of code with a path behind its language is that file. In a `console`, `a1b2` is the first
//! flow of the page and `c3d4` the second; `…` stands for anything. `A_SOCIETY_UPDATE=1` writes what
//! was printed into the page.

mod console;
mod model;
mod page;

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::support::Workspace;
use page::{Page, follow};

/// Where the pages are, besides the README.
const GUIDE: &str = "docs/guide";

#[test]
fn the_readme_can_be_followed() {
    follow(&Page::read("README.md"));
}

#[test]
fn the_flow_of_the_readme_runs_to_its_end_where_a_script_takes_the_turns_of_its_models() {
    let workspace = Workspace::new();
    let flow = Page::read("README.md").file("flow.yaml");
    assert!(flow.lines().count() <= 10, "{flow}");
    let write = |name: &str, text: &str| std::fs::write(workspace.path().join(name), text).unwrap();
    write("flow.yaml", &flow);
    write("turns.yaml", "default: forward\nscript: []\n");
    let said = workspace.run(&[
        "run",
        "flow.yaml",
        "--script",
        "turns.yaml",
        "--input",
        "Notes.",
    ]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.err.contains("deliver  the forward work is done"),
        "{said:?}"
    );
}

#[test]
fn every_page_of_the_guide_can_be_followed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(GUIDE);
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    std::thread::scope(|scope| {
        for name in &names {
            scope.spawn(move || follow(&Page::read(&format!("{GUIDE}/{name}"))));
        }
    });
}

#[test]
fn the_page_about_flow_files_shows_every_key_of_the_schema() {
    let schema = Workspace::new().run(&["schema"]).json();
    let mut keys = BTreeSet::new();
    collect(&schema, &mut keys);
    let page = Page::read("docs/guide/first-flow.md");
    let example = page.file("all-keys.yaml");
    let shown = |key: &&String| example.contains(&format!("{key}:"));
    // These are read for the sake of older files, and grant nothing.
    let granting = ["edits", "commands", "mcp-tools"];
    let missing: Vec<&String> = keys
        .iter()
        .filter(|key| !granting.contains(&key.as_str()) && !shown(key))
        .collect();
    assert!(keys.len() > 30, "{keys:?}");
    assert!(missing.is_empty(), "{missing:?}");
}

/// The names of all members that a schema describes.
fn collect(schema: &Value, keys: &mut BTreeSet<String>) {
    let members = schema.as_object().into_iter().flatten();
    for (name, value) in members {
        if name == "properties" {
            let described = value.as_object().into_iter().flatten();
            let described = described.filter(|(_, value)| {
                value.get("description").is_some() || value.get("$ref").is_some()
            });
            keys.extend(described.map(|(key, _)| key.clone()));
        }
        collect(value, keys);
    }
}
