//! What holds for documents and manifests: maps that lead somewhere, choices that give reasons.

use std::path::Path;

use super::floors::packages;
use super::repository::{TextFile, read, text_files};
use super::{Finding, assert_kept};

/// Folders of one machine, which mean nothing on another. Split, so that this file is no hit.
const MACHINE_PATHS: [&str; 5] = [
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/wo", "rk/"),
    concat!("/fa", "rm/"),
    concat!("/tmp/ba", "sh_jobs"),
];

#[test]
fn no_file_names_a_path_of_one_machine() {
    let findings: Vec<Finding> = text_files().iter().flat_map(machine_paths).collect();
    assert_kept("tracked files name no path of one machine", &findings);
}

#[test]
fn every_crate_says_what_to_do_when_something_is_added() {
    for package in packages() {
        let path = Path::new(&package.folder).join("README.md");
        let path = path.to_string_lossy();
        let found = headings(&read(&path))
            .iter()
            .any(|(_, words)| words.contains("When you add"));
        assert!(found, "{path}: has no heading with \"When you add\"");
    }
}

#[test]
fn the_changelog_has_a_place_for_what_is_not_released() {
    assert!(
        has_unreleased(&read("CHANGELOG.md")),
        "CHANGELOG.md: no heading \"Unreleased\""
    );
}

#[test]
fn every_dependency_has_its_reason() {
    let findings = unexplained("Cargo.toml", &read("Cargo.toml"));
    assert_kept(
        "a comment above each dependency says why it is there",
        &findings,
    );
}

#[test]
fn every_crate_keeps_the_lints_of_the_workspace() {
    for package in packages() {
        let path = Path::new(&package.folder).join("Cargo.toml");
        let path = path.to_string_lossy();
        assert!(
            inherits_lints(&read(&path)),
            "{path}: has no `[lints]` with `workspace = true`"
        );
    }
}

#[test]
fn both_licences_are_there() {
    assert!(read("LICENSE-MIT").contains("the a-society authors"));
    assert!(read("LICENSE-APACHE").contains("the a-society authors"));
}

fn machine_paths(file: &TextFile) -> Vec<Finding> {
    numbered(&file.text)
        .flat_map(|(line, text)| {
            MACHINE_PATHS
                .iter()
                .filter(move |path| text.contains(*path))
                .map(move |path| Finding::new(&file.path, line, format!("names `{path}`")))
        })
        .collect()
}

pub(super) fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
}

/// The lines of a document that are prose: fenced blocks are not.
pub(super) fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut fenced = false;
    numbered(text)
        .filter(|(_, line)| {
            let is_fence = line.trim_start().starts_with("```");
            fenced ^= is_fence;
            !fenced && !is_fence
        })
        .collect()
}

pub(super) fn headings(text: &str) -> Vec<(usize, &str)> {
    prose(text)
        .into_iter()
        .filter(|(_, line)| line.starts_with('#'))
        .map(|(number, line)| (number, line.trim_start_matches('#').trim()))
        .collect()
}

fn has_unreleased(changelog: &str) -> bool {
    headings(changelog)
        .iter()
        .any(|(_, words)| words.trim_matches(['[', ']']) == "Unreleased")
}

/// Dependencies without a reason. A crate of the family above, as `clap_mangen` below `clap`,
/// shares the reason given there.
fn unexplained(path: &str, manifest: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut inside = false;
    let mut above = "";
    let mut family = "";
    for (number, line) in numbered(manifest) {
        let line = line.trim();
        if line.starts_with('[') {
            inside = line == "[workspace.dependencies]";
        } else if let Some((name, source)) = line.split_once('=').filter(|_| inside) {
            let name = name.trim();
            let explained = above.starts_with('#');
            let is_relative = !family.is_empty() && name.starts_with(family);
            let is_ours = source.contains("path =");
            if explained {
                family = name;
            } else if !is_ours && !is_relative && !line.starts_with('#') {
                findings.push(Finding::new(
                    path,
                    number,
                    format!("`{name}` has no reason"),
                ));
            }
        }
        above = line;
    }
    findings
}

fn inherits_lints(manifest: &str) -> bool {
    let mut lines = manifest
        .lines()
        .map(str::trim)
        .skip_while(|line| *line != "[lints]");
    lines.next().is_some() && lines.next() == Some("workspace = true")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> TextFile {
        TextFile {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_path_of_one_machine_is_found_with_its_line() {
        for path in MACHINE_PATHS {
            let findings = machine_paths(&file("x.md", &format!("one\nsee {path}x\n")));
            assert_eq!(
                findings.iter().map(|it| it.line).collect::<Vec<_>>(),
                [2],
                "{path}"
            );
        }
        assert_eq!(machine_paths(&file("x.md", "target/work, /tmp/x")), []);
    }

    #[test]
    fn headings_in_fenced_blocks_are_none() {
        assert_eq!(
            headings("# A\n```sh\n# B\n```\n## C\n"),
            [(1, "A"), (5, "C")]
        );
    }

    #[test]
    fn the_unreleased_heading_is_told_from_a_mention() {
        assert!(has_unreleased("# Changelog\n\n## [Unreleased]\n"));
        assert!(has_unreleased("## Unreleased\n"));
        assert!(!has_unreleased("# Changelog\n\nUnreleased changes\n"));
    }

    #[test]
    fn a_dependency_without_a_reason_is_found() {
        let manifest = "[workspace.dependencies]\nours = { path = \"ours\" }\n# Why = because.\n\
                        clap = \"4\"\nclap_mangen = \"0.3\"\nrand = \"0.9\"\n[lints]\nx = \"y\"\n";
        let findings = unexplained("Cargo.toml", manifest);
        assert_eq!(
            findings,
            [Finding::new("Cargo.toml", 6, "`rand` has no reason")]
        );
    }

    #[test]
    fn lints_must_be_inherited() {
        assert!(inherits_lints("[package]\n\n[lints]\nworkspace = true\n"));
        assert!(!inherits_lints("[package]\n[lints]\n"));
        assert!(!inherits_lints("[package]\nworkspace = true\n"));
    }
}
