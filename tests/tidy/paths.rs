//! Paths in documents lead somewhere: links, the headings that links name, and files of this
//! repository in backticks or in commands.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::documents::{headings, numbered, prose};
use super::repository::{TextFile, paths, text_files};
use super::{Finding, assert_kept};

/// What a file with one of these endings is: source of this repository, wherever it is named.
const SOURCES: [&str; 5] = [".rs", ".ts", ".mjs", ".svelte", ".toml"];

/// Folders whose documents belong to a project, to a recorded flow or to a test's case, and
/// speak of files there.
const ELSEWHERE: [&str; 4] = ["a-docs", "template", "expected", "cases"];

/// What is tracked: the files, and the folders that hold them.
struct Tree {
    files: BTreeSet<String>,
    folders: BTreeSet<String>,
}

impl Tree {
    fn new(files: impl IntoIterator<Item = String>) -> Self {
        let files: BTreeSet<String> = files.into_iter().collect();
        let above = |file: &String| -> Vec<String> {
            Path::new(file)
                .ancestors()
                .skip(1)
                .map(|folder| folder.to_string_lossy().into_owned())
                .collect()
        };
        let folders = files.iter().flat_map(above).collect();
        Self { files, folders }
    }

    /// Whether there is such a file or folder. A module may be named without its extension.
    fn has(&self, path: &str) -> bool {
        self.files.contains(path)
            || self.folders.contains(path)
            || self.files.contains(&format!("{path}.rs"))
    }

    /// Whether a file of this name is somewhere below a folder.
    fn has_name(&self, folder: &str, name: &str) -> bool {
        let below = |file: &&String| folder.is_empty() || Path::new(file).starts_with(folder);
        let mut names = self.files.iter().filter(below);
        names.any(|file| Path::new(file).file_name().is_some_and(|it| it == name))
    }
}

#[test]
fn links_between_documents_lead_somewhere() {
    let tree = Tree::new(paths());
    let documents = documents();
    let mut findings = Vec::new();
    for document in &documents {
        findings.extend(dead_links(document, &tree));
        findings.extend(dead_headings(document, &documents));
    }
    assert_kept(
        "relative links lead to files and headings that exist",
        &findings,
    );
}

#[test]
fn files_that_documents_name_are_there() {
    let tree = Tree::new(paths());
    let documents = documents();
    // What the log says of the past was so then.
    let current = documents.iter().filter(|it| it.path != "CHANGELOG.md");
    let findings: Vec<Finding> = current.flat_map(|it| missing(it, &tree)).collect();
    assert_kept(
        "a path in backticks starts at the document's folder or at the root, and exists",
        &findings,
    );
}

fn documents() -> Vec<TextFile> {
    let is_ours = |file: &TextFile| {
        let mut parts = file.path.split('/');
        file.is("md") && !parts.any(|part| ELSEWHERE.contains(&part))
    };
    text_files().into_iter().filter(is_ours).collect()
}

fn dead_links(document: &TextFile, tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, text) in prose(&document.text) {
        for (target, _) in links(text) {
            if !target.is_empty() && !tree.has(&resolve(&document.path, target)) {
                let what = format!("`{target}` is not there");
                findings.push(Finding::new(&document.path, line, what));
            }
        }
    }
    findings
}

/// Links whose document exists, but without the heading.
fn dead_headings(document: &TextFile, all: &[TextFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, text) in prose(&document.text) {
        for (target, heading) in links(text) {
            let path = match target {
                "" => document.path.clone(),
                target => resolve(&document.path, target),
            };
            let known = all.iter().find(|it| it.path == path);
            let is_there = |it: &TextFile| {
                let mut found = headings(&it.text).into_iter();
                found.any(|(_, words)| anchor(words) == heading)
            };
            if !heading.is_empty() && known.is_some_and(|it| !is_there(it)) {
                let what = format!("{path} has no heading `#{heading}`");
                findings.push(Finding::new(&document.path, line, what));
            }
        }
    }
    findings
}

/// The links of a line that stay in the repository: the file, empty for the document itself, and
/// the heading.
fn links(line: &str) -> Vec<(&str, &str)> {
    line.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .filter(|(target, _)| !target.contains(':'))
        .map(|(target, _)| target.split_once('#').unwrap_or((target, "")))
        .collect()
}

/// What a heading is called in a link.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        _ => c.is_alphanumeric().then(|| c.to_ascii_lowercase()),
    });
    kept.collect()
}

/// A link's path from the root, given the document that holds it.
fn resolve(document: &str, target: &str) -> String {
    let mut path = folder_of(document);
    for part in Path::new(target).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::Normal(name) => path.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    path.to_string_lossy().into_owned()
}

fn folder_of(document: &str) -> PathBuf {
    let folder = Path::new(document).parent();
    folder.map_or_else(PathBuf::new, Path::to_path_buf)
}

/// Paths of this repository that a document names, in prose or in a command, and that do not exist.
fn missing(document: &TextFile, tree: &Tree) -> Vec<Finding> {
    let prose: BTreeSet<usize> = prose(&document.text)
        .into_iter()
        .map(|(line, _)| line)
        .collect();
    let mut findings = Vec::new();
    for (line, text) in numbered(&document.text) {
        let named: Vec<&str> = if prose.contains(&line) {
            text.split('`').skip(1).step_by(2).collect()
        } else {
            // What a program prints or a file holds may look like a path of ours; what is typed
            // names an example.
            let words = text.split_whitespace();
            words.filter(|it| it.starts_with("examples/")).collect()
        };
        let lost = named.into_iter().filter(|it| !is_found(document, it, tree));
        findings.extend(lost.map(|path| {
            let what = format!("`{path}` is not there");
            Finding::new(&document.path, line, what)
        }));
    }
    findings
}

/// Whether what stands in backticks is no path of this repository, or one that exists.
fn is_found(document: &TextFile, named: &str, tree: &Tree) -> bool {
    let is_path = |c: char| c.is_ascii_alphanumeric() || "._-/<>{}*".contains(c);
    let folder = folder_of(&document.path).to_string_lossy().into_owned();
    let path = before_placeholder(named.trim_end_matches('/'));
    if path.is_empty() || path.starts_with('/') || !named.chars().all(is_path) {
        return true;
    }
    let is_source = SOURCES.iter().any(|end| path.ends_with(end));
    let Some((first, _)) = path.split_once('/') else {
        let is_name = is_source && !path.starts_with('.') && path == named;
        return !is_name || tree.has_name(&folder, path);
    };
    let homes = ["", folder.as_str()].map(PathBuf::from);
    let within = |path: &str| {
        let mut found = homes.iter().map(|home| home.join(path));
        found.any(|path| tree.has(&path.to_string_lossy()))
    };
    let is_ours = is_source || within(first);
    !is_ours || within(path)
}

/// A path up to the folder in which a part is left open: `wire` of `wire/<name>/write.rs`.
fn before_placeholder(path: &str) -> &str {
    match path.find(['<', '{', '*']) {
        Some(at) => path[..at].rsplit_once('/').map_or("", |(folder, _)| folder),
        None => path,
    }
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

    fn tree(files: &[&str]) -> Tree {
        Tree::new(files.iter().map(ToString::to_string))
    }

    fn said(findings: &[Finding]) -> Vec<String> {
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_dead_link_is_found_and_a_foreign_one_left_alone() {
        let text = "[a](b.md) [c](../d.md#e) [f](https://g) [h](#i)\n```\n[x](y.md)\n```\n";
        let dead = |known: &str| said(&dead_links(&file("docs/z.md", text), &tree(&[known])));
        assert_eq!(dead("d.md"), ["  docs/z.md:1: `b.md` is not there"]);
        assert_eq!(dead("docs/b.md"), ["  docs/z.md:1: `../d.md` is not there"]);
    }

    #[test]
    fn a_heading_that_a_link_names_must_exist() {
        let all = [
            file(
                "a.md",
                "# A\n## What `is` here, now\n[x](#what-is-here-now)\n",
            ),
            file("docs/b.md", "[a](../a.md#a) [b](../a.md#b) [c](#d)\n"),
        ];
        assert_eq!(said(&dead_headings(&all[0], &all)), Vec::<String>::new());
        assert_eq!(
            said(&dead_headings(&all[1], &all)),
            [
                "  docs/b.md:1: a.md has no heading `#b`",
                "  docs/b.md:1: docs/b.md has no heading `#d`"
            ]
        );
    }

    #[test]
    fn a_path_that_does_not_exist_is_found() {
        let tree = tree(&[
            "src/main.rs",
            "room/src/driver/tests/sim.rs",
            "examples/a/flow.yaml",
        ]);
        let lost = |path: &str, text: &str| said(&missing(&file(path, text), &tree)).len();
        for (text, expected) in [
            ("`src/driver/sim.rs`", 1),
            ("`src/driver/tests/sim.rs`, `room/src/driver`, `sim.rs`", 0),
            ("`driver/tests/sim.rs`", 1),
            ("`other.rs`", 1),
            ("`room/src/<name>/write.rs`, `src/driver/*.rs`", 0),
            ("`room/gone/<name>/write.rs`", 1),
            ("`a-docs/roles/owner.md`, `/room/gone`, `edits:src`", 0),
            ("```sh\nrun examples/b/flow.yaml\n```", 1),
            ("```sh\nrun examples/a/flow.yaml room/x\n```", 0),
        ] {
            assert_eq!(lost("room/README.md", text), expected, "{text}");
        }
        assert_eq!(lost("README.md", "`main.rs` `src/main`"), 0);
    }
}
