//! Projects that are sound, and projects in which everything is wrong.

use std::path::Path;
use std::sync::Arc;

use a_society_state::disk::RealDisk;

use super::folder::{inspect, rewrite_old_forms, roles, sayings};
use super::library::Library;

const FILES: [(&str, &str); 11] = [
    ("a-docs/agents.md", "Be kind.\n"),
    (
        "a-docs/indexes/main.md",
        "| Variable | Path |\n|---|---|\n| `$STYLE` | `docs/style.md` |\n| `$PLAN` | `docs/plan.md` |\n",
    ),
    ("a-docs/roles/owner/main.md", "You own it.\n"),
    ("a-docs/roles/owner/required-readings.yaml", "- $STYLE\n"),
    ("a-docs/roles/owner/ownership.yaml", "- docs\n- $PLAN\n"),
    ("a-docs/roles/writer/main.md", "You write.\n"),
    ("a-docs/roles/writer/required-readings.yaml", "[]\n"),
    ("a-docs/roles/writer/ownership.yaml", "owns: []\n"),
    ("a-docs/workflow/main.yaml", GRAPH),
    ("docs/style.md", "Short.\n"),
    ("docs/plan.md", "All of it.\n"),
];

const GRAPH: &str = "\
workflow:
  name: Notes
  nodes:
    - { id: ask, role: owner, required_readings: [$PLAN] }
    - { id: write, role: writer_2, required_readings: [$STYLE] }
    - { id: close, role: owner }
  edges:
    - { from: ask, to: write }
    - { from: write, to: close }
";

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in FILES {
        write(folder.path(), name, text);
    }
    folder
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// What is found: code, file and line.
fn found(folder: &Path) -> Vec<String> {
    let (project, found) = inspect(&RealDisk, folder);
    assert_eq!(project.is_none(), found.iter().any(|it| it.is_error()));
    let root = format!("{}/", folder.display());
    found
        .iter()
        .map(|it| {
            let file = it.file.replace(&root, "");
            format!("{} {file}:{}", it.code.as_str(), it.line)
        })
        .collect()
}

#[test]
fn a_sound_project_gives_its_graph_its_roles_and_its_readings() {
    let folder = project();
    let (project, diagnostics) = inspect(&RealDisk, folder.path());
    let project = project.unwrap_or_else(|| panic!("{diagnostics:?}"));
    let roles = &project.canonical.roles;
    assert_eq!(
        roles["owner"].instructions.as_deref(),
        Some("You own it.\n")
    );
    assert_eq!(roles.len(), 2);
    assert_eq!(project.canonical.graph.name(), "Notes");
    let library = Library::of(Arc::new(RealDisk), folder.path());
    let names = ["$STYLE", "docs/plan.md", "$NONE", "../secret"].map(str::to_owned);
    let texts: Vec<String> = library
        .readings(&names)
        .into_iter()
        .map(|reading| format!("{}: {}", reading.path, reading.text))
        .collect();
    assert_eq!(
        texts[..2],
        ["docs/style.md: Short.\n", "docs/plan.md: All of it.\n"]
    );
    assert!(
        texts[2..]
            .iter()
            .all(|text| text.contains("cannot be read")),
        "{texts:?}"
    );
    assert_eq!(
        sayings(&RealDisk, folder.path()).rules.as_deref(),
        Some("Be kind.\n")
    );
}

#[test]
fn everything_that_is_wrong_with_a_project_is_found_at_once() {
    let folder = project();
    let at = folder.path();
    std::fs::remove_file(at.join("a-docs/agents.md")).unwrap();
    write(
        at,
        "a-docs/indexes/main.md",
        "| `$STYLE` | `docs/gone.md` |\n| `$OUT` | `../x` |\n",
    );
    write(at, "a-docs/roles/owner/main.md", " \n");
    write(
        at,
        "a-docs/roles/owner/required-readings.yaml",
        "- $STYEL\n- docs/plan.md\n- docs/plan.md\n",
    );
    write(at, "a-docs/roles/owner/ownership.yaml", "- src\n");
    write(at, "a-docs/roles/Writer/main.md", "x");
    write(at, "a-docs/roles/writer/role.yaml", "executor: robot\n");
    std::fs::remove_file(at.join("a-docs/roles/writer/ownership.yaml")).unwrap();
    let graph = GRAPH
        .replace("writer_2", "editor")
        .replace("[$PLAN]", "[docs/plan.md]");
    write(at, "a-docs/workflow/main.yaml", &graph);
    assert_eq!(
        found(at),
        [
            "G026 a-docs/agents.md:0",
            "G029 a-docs/indexes/main.md:2",
            "G029 a-docs/indexes/main.md:1",
            "G010 a-docs/roles/Writer:0",
            "G026 a-docs/roles/owner/main.md:0",
            "G028 a-docs/roles/owner/required-readings.yaml:1",
            "G030 a-docs/roles/owner/required-readings.yaml:3",
            "G029 a-docs/roles/owner/ownership.yaml:1",
            "G022 a-docs/roles/writer/role.yaml:1",
            "G026 a-docs/roles/writer/ownership.yaml:0",
            "G020 a-docs/workflow/main.yaml:5",
        ]
    );
}

#[test]
fn a_node_asks_neither_for_what_is_unknown_nor_for_what_its_role_has_read() {
    let folder = project();
    let graph = GRAPH
        .replace("[$PLAN]", "[docs/style.md]")
        .replace("[$STYLE]", "[$STYEL, docs/none.md]");
    write(folder.path(), "a-docs/workflow/main.yaml", &graph);
    assert_eq!(
        found(folder.path()),
        [
            "G030 a-docs/workflow/main.yaml:0",
            "G028 a-docs/workflow/main.yaml:0",
            "G029 a-docs/workflow/main.yaml:0",
        ]
    );
}

#[test]
fn a_folder_without_a_docs_is_no_project_and_a_running_flow_takes_what_can_be_read() {
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(found(empty.path()), ["G026 a-docs:0"]);
    let folder = project();
    write(
        folder.path(),
        "a-docs/roles/writer/role.yaml",
        "executor: robot\n",
    );
    let read = roles(&RealDisk, folder.path());
    let names: Vec<&str> = read.keys().map(|name| name.as_str()).collect();
    assert_eq!(names, ["owner"]);
}

#[test]
fn what_two_roles_own_is_an_error_and_a_part_of_it_a_warning() {
    let of = |owner: &str, writer: &str| {
        let folder = project();
        write(folder.path(), "a-docs/roles/owner/ownership.yaml", owner);
        write(folder.path(), "a-docs/roles/writer/ownership.yaml", writer);
        let (project, found) = inspect(&RealDisk, folder.path());
        let said: Vec<String> = (found.iter())
            .map(|it| {
                format!(
                    "{} {:?} line {}: {}",
                    it.code.as_str(),
                    it.severity,
                    it.line,
                    it.message
                )
            })
            .collect();
        (project.is_some(), said)
    };
    assert_eq!(of("- docs/style.md\n", "- docs/plan.md\n"), (true, vec![]));
    assert_eq!(
        of("- docs\n- docs/style.md\n", "[]\n"),
        (true, vec![]),
        "one role alone"
    );
    assert_eq!(
        of("- docs/style.md\n", "- docs/plan.md\n- $STYLE\n"),
        (
            false,
            vec![
                "G031 Error line 2: `$STYLE` is owned by writer, and owner owns `docs/style.md`, \
                 which is the same"
                    .to_owned()
            ]
        )
    );
    assert_eq!(
        of("- ./docs/\n", "- docs/plan.md\n"),
        (
            true,
            vec![
                "G031 Warning line 1: `docs/plan.md` is owned by writer, and owner owns \
                 `./docs/`, of which this is a part"
                    .to_owned()
            ]
        )
    );
    assert_eq!(
        of("- docs/plan.md\n", "- docs\n").1,
        [
            "G031 Warning line 1: `docs` is owned by writer, and owner owns `docs/plan.md`, which \
             is a part of this"
        ]
    );
    // A name that only begins the same is another one.
    let (sound, said) = of("- docs/style.md\n", "- docs/style.md.bak\n");
    assert!(
        sound && said.len() == 1 && said[0].starts_with("G029 Warning"),
        "{said:?}"
    );
    // Both may own it if one of them says so.
    let shared = "owns:\n  - { path: docs/style.md, scope: all of it, shared_with: [owner] }\n";
    assert_eq!(of("- docs/style.md\n", shared), (true, vec![]));
}

#[test]
fn a_project_in_an_older_form_is_read_with_warnings_and_rewritten_into_one_without() {
    let folder = project();
    let at = folder.path();
    write(
        at,
        "a-docs/roles/owner/required-readings.yaml",
        "role: owner\nrequired_readings:\n  - $STYLE\n",
    );
    write(
        at,
        "a-docs/roles/owner/ownership.yaml",
        "role: owner\nsurfaces:\n  - path: docs\n    scope: all of it\n    shared_with: [writer]\n",
    );
    write(at, "a-docs/roles/writer/ownership.yaml", "owns: [docs]\n");
    write(
        at,
        "a-docs/indexes/main.md",
        "| Variable | Path |\n|---|---|\n| `$STYLE` | `docs/style.md` |\n| `$PLAN` | `docs/plan.md` |\n\
         | `$DOCS` | `docs` |\n",
    );
    let (read, found) = inspect(&RealDisk, at);
    assert!(read.is_some(), "{found:?}");
    let codes = |found: &[a_society_flow::graph::Diagnostic]| -> Vec<&str> {
        found.iter().map(|found| found.code.as_str()).collect()
    };
    assert_eq!(codes(&found), ["G029", "G032", "G032", "G032"], "{found:?}");

    let rewritten = rewrite_old_forms(&RealDisk, at).unwrap();
    assert_eq!(rewritten.len(), 2);
    let (read, found) = inspect(&RealDisk, at);
    assert!(read.is_some());
    assert_eq!(
        codes(&found),
        ["G029"],
        "only the folder in the index is left"
    );
    let owns = std::fs::read_to_string(at.join("a-docs/roles/owner/ownership.yaml")).unwrap();
    assert_eq!(
        owns,
        "owns:\n  - path: docs\n    scope: all of it\n    shared_with: [writer]\n"
    );
    assert!(rewrite_old_forms(&RealDisk, at).unwrap().is_empty());
}
