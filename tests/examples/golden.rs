//! What every example comes to in the end, compared with what is kept beside it.
//!
//! `A_SOCIETY_UPDATE=1 cargo test --test it examples::golden` writes it anew.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use a_society_facts::Hash;

use super::play::Play;

/// More than this is kept as hashes: three hundred nodes are not reviewed.
const KEPT_BYTES_MAX: usize = 512 * 1024;
/// The file of the hashes.
const SUMS: &str = "sums.txt";

fn is_update() -> bool {
    std::env::var_os("A_SOCIETY_UPDATE").is_some_and(|value| value == "1")
}

fn kept_in(name: &str) -> PathBuf {
    super::folder().join(name).join("expected")
}

/// What is kept of an example: its files, or their hashes if they are too much.
fn worth_keeping(found: BTreeMap<String, String>) -> BTreeMap<String, String> {
    if found.values().map(String::len).sum::<usize>() <= KEPT_BYTES_MAX {
        return found;
    }
    let line =
        |(path, text): (&String, &String)| format!("{}  {path}\n", Hash::of(text.as_bytes()));
    let sums = found.iter().map(line).collect();
    BTreeMap::from([(SUMS.to_owned(), sums)])
}

fn kept(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            kept(root, &path, found);
        } else {
            let name = path.strip_prefix(root).unwrap().display().to_string();
            found.insert(name, std::fs::read_to_string(&path).unwrap());
        }
    }
}

fn compare(name: &str, found: BTreeMap<String, String>) {
    let folder = kept_in(name);
    let found = worth_keeping(found);
    if is_update() {
        if folder.exists() {
            std::fs::remove_dir_all(&folder).unwrap();
        }
        for (path, text) in &found {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        return;
    }
    let mut wanted = BTreeMap::new();
    kept(&folder, &folder, &mut wanted);
    let again = "A_SOCIETY_UPDATE=1 cargo test --test it examples::golden";
    let names = |files: &BTreeMap<String, String>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&found), names(&wanted), "{name}: renew with {again}");
    for (path, text) in &found {
        let is = wanted[path] == *text;
        let difference = || {
            let (lines, kept) = (text.lines(), wanted[path].lines());
            let other = lines.zip(kept).find(|(is, was)| is != was);
            other.map_or_else(String::new, |(is, was)| format!("\n is: {is}\nwas: {was}"))
        };
        assert!(
            is,
            "{name}: {path} is another; renew with {again}{}",
            difference()
        );
    }
}

/// Plays an example to its end, compares what it came to, and folds every view of it anew.
fn plays(name: &str) {
    let play = Play::new(name);
    let flow = play.to_the_end();
    compare(name, play.normal(&flow));
    let before = play.views(&flow);
    let root = play.folder(&flow);
    for path in before.keys() {
        std::fs::remove_file(root.join(path)).unwrap();
    }
    std::fs::remove_file(root.join("views.json")).unwrap();
    let said = play.run(&["rebuild", &flow].map(str::to_owned));
    assert_eq!(said.code, 0, "{name}: {said:?}");
    let after = play.views(&flow);
    for (path, text) in &before {
        assert_eq!(
            after.get(path),
            Some(text),
            "{name}: {path} is folded to other bytes"
        );
    }
    assert_eq!(after.len(), before.len(), "{name}");
}

#[test]
fn hello_comes_to_what_is_kept_and_its_views_come_back_with_the_same_bytes() {
    plays("hello");
}

#[test]
fn review_loop_comes_to_what_is_kept_and_its_views_come_back_with_the_same_bytes() {
    plays("review-loop");
}

#[test]
fn fan_out_comes_to_what_is_kept_and_its_views_come_back_with_the_same_bytes() {
    plays("fan-out");
}

#[test]
fn human_gate_comes_to_what_is_kept_and_its_views_come_back_with_the_same_bytes() {
    plays("human-gate");
}

#[test]
fn command_roles_comes_to_what_is_kept_and_its_views_come_back_with_the_same_bytes() {
    plays("command-roles");
}

#[test]
fn interrupted_comes_to_what_is_kept_and_its_views_come_back_with_the_same_bytes() {
    plays("interrupted");
}

#[test]
fn long_haul_comes_to_what_is_kept_and_its_views_come_back_with_the_same_bytes() {
    plays("long-haul");
}

#[test]
fn release_notes_comes_to_what_is_kept_and_its_views_come_back_with_the_same_bytes() {
    plays("release-notes");
}

#[test]
fn solo_comes_to_what_is_kept_and_its_views_come_back_with_the_same_bytes() {
    plays("solo");
}

#[test]
fn every_example_has_a_test_that_plays_it() {
    let source = include_str!("golden.rs");
    for name in super::names() {
        assert!(source.contains(&format!("plays(\"{name}\")")), "{name}");
        let is_kept = is_update() || kept_in(&name).is_dir();
        assert!(is_kept, "{name}: nothing is kept of it");
    }
}
