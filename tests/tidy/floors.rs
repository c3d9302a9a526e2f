//! The floors: which crates there are, and which may know which.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use super::repository::root;

/// Every crate of the workspace and all that it may depend on within it.
const FLOORS: [(&str, &[&str]); 14] = [
    (
        "a-society",
        &[
            "a-society-operator-ui",
            "a-society-orchestrator",
            "a-society-state",
            "a-society-facts",
            // For tests only, as below.
            "a-society-stand-in",
            "a-society-samples",
            "a-society-in-memory",
        ],
    ),
    (
        "a-society-operator-ui",
        &[
            "a-society-orchestrator",
            "a-society-state",
            "a-society-facts",
            "a-society-samples",
            "a-society-in-memory",
        ],
    ),
    (
        "a-society-orchestrator",
        &[
            "a-society-flow",
            "a-society-state",
            "a-society-roles",
            "a-society-providers",
            "a-society-mcp",
            "a-society-base",
            "a-society-facts",
            "a-society-stand-in",
            "a-society-in-memory",
        ],
    ),
    ("a-society-flow", &["a-society-facts", "a-society-yaml"]),
    (
        "a-society-state",
        &[
            "a-society-facts",
            "a-society-samples",
            "a-society-in-memory",
        ],
    ),
    (
        "a-society-roles",
        &[
            "a-society-providers",
            "a-society-mcp",
            "a-society-base",
            "a-society-facts",
            "a-society-yaml",
            "a-society-stand-in",
        ],
    ),
    (
        "a-society-providers",
        &["a-society-base", "a-society-facts", "a-society-stand-in"],
    ),
    (
        "a-society-mcp",
        &["a-society-base", "a-society-facts", "a-society-yaml"],
    ),
    ("a-society-base", &["a-society-facts"]),
    ("a-society-yaml", &[]),
    ("a-society-facts", &[]),
    ("a-society-stand-in", &[]),
    ("a-society-samples", &["a-society-facts"]),
    (
        "a-society-in-memory",
        &["a-society-facts", "a-society-state"],
    ),
];

/// What only tests are built with.
const FOR_TESTS: [&str; 3] = [
    "a-society-stand-in",
    "a-society-samples",
    "a-society-in-memory",
];

#[test]
fn no_crate_that_ships_is_built_with_what_is_for_tests() {
    let with: Vec<String> = packages()
        .into_iter()
        .filter(|package| FOR_TESTS.iter().any(|name| package.normal.contains(*name)))
        .map(|package| package.name)
        .collect();
    assert_eq!(with, [""; 0]);
}

#[test]
fn the_floors_are_exactly_as_drawn() {
    let wrong = broken_floors(&packages());
    assert!(
        wrong.is_empty(),
        "the floors of ARCHITECTURE.md do not hold:\n{}",
        wrong.join("\n")
    );
}

/// One crate, as its manifest describes it.
#[derive(Debug, Default)]
pub(super) struct Package {
    pub(super) name: String,
    /// Its folder from the root of the repository; empty for the root itself.
    pub(super) folder: String,
    /// Everything it depends on, in whatever way.
    pub(super) all: BTreeSet<String>,
    /// What is built into it: neither for tests only nor for its build script.
    pub(super) normal: BTreeSet<String>,
}

/// The crates of the workspace. Asks cargo, because manifests inherit from one another.
pub(super) fn packages() -> Vec<Package> {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ])
        .current_dir(root())
        .output()
        .expect("cargo describes the workspace");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    from_metadata(&metadata)
}

fn from_metadata(metadata: &Value) -> Vec<Package> {
    let root = text(&metadata["workspace_root"]);
    items(&metadata["packages"])
        .iter()
        .map(|package| from_manifest(package, &root))
        .collect()
}

fn from_manifest(package: &Value, root: &str) -> Package {
    let manifest = text(&package["manifest_path"]).replace('\\', "/");
    let folder = manifest.trim_start_matches(&root.replace('\\', "/"));
    let dependencies = items(&package["dependencies"]);
    let names = |of: &dyn Fn(&Value) -> bool| {
        dependencies
            .iter()
            .filter(|it| of(it))
            .map(|it| text(&it["name"]))
            .collect()
    };
    Package {
        name: text(&package["name"]),
        folder: folder
            .trim_end_matches("Cargo.toml")
            .trim_matches('/')
            .to_owned(),
        all: names(&|_| true),
        normal: names(&|dependency| dependency["kind"].is_null()),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn broken_floors(packages: &[Package]) -> Vec<String> {
    let drawn: BTreeMap<&str, &[&str]> = FLOORS.into_iter().collect();
    let found: BTreeSet<&str> = packages
        .iter()
        .map(|package| package.name.as_str())
        .collect();
    let mut wrong: Vec<String> = drawn
        .keys()
        .filter(|name| !found.contains(*name))
        .map(|name| format!("  {name} is drawn and does not exist"))
        .collect();
    for package in packages {
        let Some(allowed) = drawn.get(package.name.as_str()) else {
            wrong.push(format!("  {} exists and is not drawn", package.name));
            continue;
        };
        let ours = package
            .all
            .iter()
            .filter(|name| found.contains(name.as_str()));
        wrong.extend(
            ours.filter(|name| !allowed.contains(&name.as_str()))
                .map(|name| format!("  {} must not know {name}", package.name)),
        );
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn as_drawn() -> Vec<Package> {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        FLOORS
            .iter()
            .map(|(name, allowed)| Package {
                name: (*name).to_owned(),
                all: names(allowed),
                ..Package::default()
            })
            .collect()
    }

    fn package<'a>(packages: &'a mut [Package], name: &str) -> &'a mut Package {
        packages
            .iter_mut()
            .find(|package| package.name == name)
            .expect("it is drawn")
    }

    #[test]
    fn an_edge_that_is_not_drawn_is_found() {
        let mut packages = as_drawn();
        assert_eq!(broken_floors(&packages), [""; 0]);
        package(&mut packages, "a-society-state")
            .all
            .insert("a-society-flow".to_owned());
        assert_eq!(
            broken_floors(&packages),
            ["  a-society-state must not know a-society-flow"]
        );
    }

    #[test]
    fn an_edge_that_is_not_needed_may_be_missing() {
        let mut packages = as_drawn();
        package(&mut packages, "a-society-roles").all.clear();
        assert_eq!(broken_floors(&packages), [""; 0]);
    }

    #[test]
    fn a_crate_too_many_and_one_too_few_are_found() {
        let mut packages = as_drawn();
        package(&mut packages, "a-society-roles").name = "a-society-attic".to_owned();
        assert_eq!(
            broken_floors(&packages),
            [
                "  a-society-roles is drawn and does not exist",
                "  a-society-attic exists and is not drawn",
            ]
        );
    }

    #[test]
    fn metadata_tells_folder_and_kinds_of_dependencies() {
        let metadata = serde_json::json!({
            "workspace_root": "/w",
            "packages": [{
                "name": "a",
                "manifest_path": "/w/state/facts/Cargo.toml",
                "dependencies": [
                    { "name": "b", "kind": null },
                    { "name": "c", "kind": "dev" },
                ],
            }],
        });
        let package = &from_metadata(&metadata)[0];
        assert_eq!(package.folder, "state/facts");
        assert_eq!(package.all.iter().collect::<Vec<_>>(), ["b", "c"]);
        assert_eq!(package.normal.iter().collect::<Vec<_>>(), ["b"]);
    }
}
