//! The tracked files of the repository, as text.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the repository.
pub(super) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A path of the repository on this machine.
pub(super) fn at(path: &str) -> PathBuf {
    root().join(path)
}

/// One text file of the repository.
#[derive(Debug)]
pub(super) struct TextFile {
    /// Path from the root, with forward slashes.
    pub(super) path: String,
    /// All of it.
    pub(super) text: String,
}

impl TextFile {
    /// Whether the file name ends so.
    pub(super) fn is(&self, extension: &str) -> bool {
        Path::new(&self.path)
            .extension()
            .is_some_and(|found| found == extension)
    }
}

/// Every tracked or soon to be tracked file that is text.
pub(super) fn text_files() -> Vec<TextFile> {
    paths()
        .into_iter()
        .filter_map(|path| {
            let bytes = std::fs::read(at(&path)).ok()?;
            let text = String::from_utf8(bytes).ok()?;
            (!text.contains('\0')).then_some(TextFile { path, text })
        })
        .collect()
}

/// The Rust files among them.
pub(super) fn rust_files() -> Vec<TextFile> {
    let files: Vec<TextFile> = text_files()
        .into_iter()
        .filter(|file| file.is("rs"))
        .collect();
    assert!(files.len() > 5, "the rules found no sources to look at");
    files
}

/// One file that must be there.
pub(super) fn read(path: &str) -> String {
    std::fs::read_to_string(at(path)).unwrap_or_else(|why| panic!("{path} must be there: {why}"))
}

/// The paths of all of them, from the root.
pub(super) fn paths() -> Vec<String> {
    let listed = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root())
        .output()
        .expect("git lists the files that the rules look at");
    assert!(
        listed.status.success(),
        "git ls-files: {}",
        String::from_utf8_lossy(&listed.stderr)
    );
    let mut paths: Vec<String> = String::from_utf8_lossy(&listed.stdout)
        .split_terminator('\0')
        .map(ToOwned::to_owned)
        .collect();
    // A file with a merge conflict is listed once for each side.
    paths.sort();
    paths.dedup();
    paths
}
