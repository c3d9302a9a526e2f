//! The hearts: crates that compute and touch nothing, so that every run of them can be repeated.

use super::floors::{Package, packages};
use super::repository::{TextFile, read, rust_files};
use super::rust::{is_for_tests, lines_with, shipped_code};
use super::{Finding, assert_kept};

const HEARTS: [&str; 3] = ["yaml", "state/facts", "orchestrator/flow"];

/// Crates that neither touch the world nor ask it, besides our own.
const PURE_CRATES: [&str; 9] = [
    "a-society-facts",
    "a-society-yaml",
    "crc32c",
    "petgraph",
    "serde",
    "serde-saphyr",
    "serde_json",
    "sha2",
    "thiserror",
];

/// What a heart never says. Clippy's fence knows paths; this also knows groups of imports.
const IMPURE: [&str; 13] = [
    "std::fs",
    "fs::",
    "std::net",
    "net::",
    "std::process",
    "std::env",
    "env::",
    "SystemTime",
    "Instant::now",
    "thread_rng",
    "thread::",
    "HashMap",
    "HashSet",
];

/// What the fence of a heart must hold at the least.
const FENCE: [&str; 15] = [
    "std::fs::File",
    "std::fs::OpenOptions",
    "std::fs::read",
    "std::fs::write",
    "std::net::TcpStream",
    "std::net::UdpSocket",
    "std::process::Command",
    "std::process::exit",
    "std::env::var",
    "std::time::Instant",
    "std::time::SystemTime",
    "std::thread::sleep",
    "std::thread::spawn",
    "std::collections::HashMap",
    "std::collections::HashSet",
];

#[test]
fn hearts_depend_only_on_pure_crates() {
    let packages = packages();
    let hearts: Vec<&Package> = packages
        .iter()
        .filter(|package| HEARTS.contains(&package.folder.as_str()))
        .collect();
    assert_eq!(hearts.len(), HEARTS.len(), "every heart is a crate");
    let findings: Vec<Finding> = hearts.into_iter().flat_map(impure_crates).collect();
    assert_kept(
        "a heart depends only on crates that touch nothing",
        &findings,
    );
}

#[test]
fn hearts_have_their_fence() {
    for heart in HEARTS {
        let path = format!("{heart}/clippy.toml");
        assert_kept("the fence of a heart is whole", &gaps(&path, &read(&path)));
    }
}

#[test]
fn hearts_touch_nothing() {
    let findings: Vec<Finding> = rust_files()
        .iter()
        .filter(|file| {
            HEARTS
                .iter()
                .any(|heart| file.path.starts_with(&format!("{heart}/")))
        })
        .flat_map(impure_words)
        .collect();
    assert_kept("a heart computes and touches nothing", &findings);
}

fn impure_crates(heart: &Package) -> Vec<Finding> {
    let manifest = format!("{}/Cargo.toml", heart.folder);
    heart
        .normal
        .iter()
        .filter(|name| !PURE_CRATES.contains(&name.as_str()))
        .map(|name| {
            Finding::new(
                &manifest,
                0,
                format!("`{name}` is not on the list of pure crates"),
            )
        })
        .collect()
}

fn gaps(path: &str, fence: &str) -> Vec<Finding> {
    let entries: Vec<&str> = fence
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("{ path = "))
        .collect();
    FENCE
        .iter()
        .filter(|wanted| {
            let quoted = format!("\"{wanted}\"");
            !entries.iter().any(|entry| entry.contains(&quoted))
        })
        .map(|wanted| Finding::new(path, 0, format!("does not forbid `{wanted}`")))
        .collect()
}

fn impure_words(file: &TextFile) -> Vec<Finding> {
    if is_for_tests(&file.path) {
        return Vec::new();
    }
    let code = shipped_code(&file.text);
    IMPURE
        .iter()
        .flat_map(|word| {
            lines_with(&code, word)
                .into_iter()
                .map(move |line| (line, word))
        })
        .map(|(line, word)| Finding::new(&file.path, line, format!("`{word}` in a heart")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_impure_crate_is_found() {
        let heart = Package {
            folder: "state/facts".to_owned(),
            normal: ["serde", "rand"]
                .into_iter()
                .map(ToOwned::to_owned)
                .collect(),
            ..Package::default()
        };
        let findings: Vec<String> = impure_crates(&heart)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            findings,
            ["  state/facts/Cargo.toml: `rand` is not on the list of pure crates"]
        );
    }

    #[test]
    fn a_gap_in_the_fence_is_found_even_if_it_is_only_commented_out() {
        let whole: String = FENCE
            .iter()
            .map(|it| format!("  {{ path = \"{it}\" }},\n"))
            .collect();
        assert_eq!(gaps("clippy.toml", &whole), []);
        let gap = whole.replace(
            "  { path = \"std::env::var\"",
            "  # { path = \"std::env::var\"",
        );
        assert_eq!(
            gaps("clippy.toml", &gap)[0].what,
            "does not forbid `std::env::var`"
        );
    }

    #[test]
    fn each_impure_word_is_found_and_tests_are_free() {
        for word in IMPURE {
            let text = format!("fn f() {{ {word} }}");
            let file = TextFile {
                path: "state/facts/src/id.rs".to_owned(),
                text,
            };
            assert!(!impure_words(&file).is_empty(), "{word}");
            let text = format!("#[cfg(test)]\nmod tests {{ {word} }}");
            let file = TextFile {
                path: "state/facts/src/id.rs".to_owned(),
                text,
            };
            assert!(impure_words(&file).is_empty(), "{word}");
        }
    }
}
