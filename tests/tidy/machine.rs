//! What is tracked says nothing about the machine on which it was made.
//!
//! A file that a test compares and that holds such a name is equal on one machine only: it is found
//! here by the one who made it, and not by everybody else.

use super::repository::{TextFile, root, text_files};
use super::{Finding, assert_kept};

/// Shorter names are words as well, and occur in a text for other reasons.
const NAME_BYTES_MIN: usize = 12;

/// Journals that a program once wrote are material of tests: they say where they were written, and
/// nothing is compared with that. What is exported from one says the same.
const RECORDED: [&str; 2] = ["tests/journals/", "operator-ui/tests/exported/"];
/// The views that such a journal folds to today are compared.
const FOLDED: &str = "/expected/";

/// What only this machine is called: the kernel's start, the system, the folder of the checkout.
fn names() -> Vec<(&'static str, String)> {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let mut found = vec![
        (
            "the boot id of this machine",
            read("/proc/sys/kernel/random/boot_id"),
        ),
        ("the id of this system", read("/etc/machine-id")),
        (
            "the path of this checkout",
            root().to_string_lossy().into_owned(),
        ),
    ];
    for (_, name) in &mut found {
        *name = name.trim().to_owned();
    }
    found.retain(|(_, name)| name.len() >= NAME_BYTES_MIN);
    found
}

fn findings(file: &TextFile, names: &[(&str, String)]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (line, text) in file.text.lines().enumerate() {
        for (what, name) in names {
            if text.contains(name.as_str()) {
                found.push(Finding::new(&file.path, line + 1, format!("holds {what}")));
            }
        }
    }
    found
}

fn is_recorded(path: &str) -> bool {
    RECORDED.iter().any(|folder| path.contains(folder)) && !path.contains(FOLDED)
}

#[test]
fn no_tracked_file_names_the_machine_it_was_made_on() {
    let names = names();
    let found: Vec<Finding> = text_files()
        .iter()
        .filter(|file| !is_recorded(&file.path))
        .flat_map(|file| findings(file, &names))
        .collect();
    assert_kept(
        "What is compared must be the same on every machine: give it as data.",
        &found,
    );
}

#[test]
fn a_recorded_journal_may_say_where_it_was_written_and_its_views_may_not() {
    assert!(is_recorded("tests/journals/v1/journal/00000001.jsonl"));
    assert!(is_recorded("operator-ui/tests/journals/fan-out.jsonl"));
    assert!(!is_recorded("tests/journals/v1/expected/flow.json"));
    assert!(!is_recorded("tests/cli/snapshots/help.snap"));
}

#[test]
fn a_snapshot_with_a_boot_id_is_found() {
    let file = TextFile {
        path: "expected/flow.json".to_owned(),
        text: "{\n  \"boot_id\": \"5f0e-77aa-4711\"\n}\n".to_owned(),
    };
    let names = [("the boot id", "5f0e-77aa-4711".to_owned())];
    let found = findings(&file, &names);
    assert_eq!(
        found,
        [Finding::new("expected/flow.json", 2, "holds the boot id")]
    );
}
