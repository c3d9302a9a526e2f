//! Files of the repository that are made from code, compared in a test.

use std::path::Path;

use super::repository::at;

/// Fails if a generated file is not what the code makes now; rewrites it if the environment
/// variable `A_SOCIETY_UPDATE` is `1`. The path starts at the root of the repository.
pub(crate) fn expect_generated(path: &str, contents: &str) {
    let update = std::env::var("A_SOCIETY_UPDATE").is_ok_and(|value| value == "1");
    let outcome = compare(&at(path), contents, update);
    assert!(
        outcome.is_ok(),
        "{path} {}",
        outcome.err().unwrap_or_default()
    );
}

fn compare(path: &Path, contents: &str, update: bool) -> Result<(), String> {
    let found = std::fs::read_to_string(path).unwrap_or_default();
    if found == contents {
        return Ok(());
    }
    if !update {
        let line = first_difference(&found, contents);
        return Err(format!(
            "differs from what the code makes, first in line {line}.\n\
             Run `A_SOCIETY_UPDATE=1 cargo test --test it generated_files`, then look at the diff."
        ));
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|why| format!("has no folder: {why}"))?;
    }
    std::fs::write(path, contents).map_err(|why| format!("cannot be written: {why}"))
}

/// The first line, from 1, that is not the same in both.
fn first_difference(one: &str, other: &str) -> usize {
    let same = one
        .split('\n')
        .zip(other.split('\n'))
        .take_while(|(one, other)| one == other);
    same.count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_file_is_found_and_only_rewritten_when_asked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("docs/made.md");
        assert!(compare(&path, "a\nb\n", false).is_err(), "missing");
        compare(&path, "a\nb\n", true).unwrap();
        compare(&path, "a\nb\n", false).unwrap();
        let why = compare(&path, "a\nc\n", false).unwrap_err();
        assert!(why.contains("line 2"), "{why}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a\nb\n");
    }

    #[test]
    fn the_first_difference_is_counted_from_one() {
        assert_eq!(first_difference("a\nb", "x\nb"), 1);
        assert_eq!(first_difference("a\nb\n", "a\nb"), 3);
    }
}
