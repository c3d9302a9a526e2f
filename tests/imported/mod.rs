//! Flows that another program kept, in state version 11: they are imported member by member, and go
//! on to their ends.
//!
//! Each folder below `cases/` is one flow as that program left it, with a script in its record that
//! takes its turns from here on. They are written by hand, in the shapes that it wrote.

mod going_on;
mod killed;
mod kinds;
mod members;
mod refused;
mod shown;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Said, Workspace, copy};

/// Every case.
const CASES: [&str; 12] = [
    "answered",
    "approval",
    "asks",
    "compacted",
    "completed",
    "consent",
    "correction",
    "cut-off-text",
    "cut-off-tool",
    "fan",
    "reflecting",
    "single",
];

/// The folder of a case.
fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/imported/cases")
        .join(name)
}

/// A file of a case as JSON.
fn json(path: &Path) -> Value {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&bytes).unwrap()
}

/// A workspace that the other program left, with some of the cases.
struct Old {
    workspace: Workspace,
}

impl Old {
    fn with(names: &[&str]) -> Self {
        let workspace = Workspace::new();
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/release-notes/a-docs");
        copy(&project, &workspace.path().join("demo/a-docs"));
        let old = Self { workspace };
        for name in names {
            copy(&case(name), &old.folder(name));
        }
        old
    }

    fn id(name: &str) -> String {
        let flow = json(&case(name).join("flow.json"));
        flow["flowId"].as_str().unwrap().to_owned()
    }

    /// The folder of a case, before and after it is imported.
    fn folder(&self, name: &str) -> PathBuf {
        self.workspace.flow_folder(&Self::id(name))
    }

    /// Where its files are unchanged once it was imported.
    fn aside(&self, name: &str) -> PathBuf {
        let aside = self.workspace.state().join(".before-import/demo");
        aside.join(Self::id(name))
    }

    fn run(&self, words: &[&str]) -> Said {
        self.workspace.run(words)
    }

    /// Imports everything and returns the report.
    fn import(&self) -> Value {
        let said = self.run(&["import-state", "--json"]);
        assert_eq!(said.code, 0, "{said:?}");
        said.json()["flows"].clone()
    }

    /// The flow imports, and every record, blob and view of it is sound.
    fn is_sound(&self, name: &str) {
        let said = self.run(&["verify", &Self::id(name), "--json"]);
        assert_eq!(said.code, 0, "{name}: {said:?}");
    }
}

/// Every file below a folder with its bytes, by its path in it.
fn contents(folder: &Path) -> std::collections::BTreeMap<PathBuf, Vec<u8>> {
    let mut found = std::collections::BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_owned();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn the_list_of_cases_is_what_is_there() {
    let folder = case("");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, CASES);
}
