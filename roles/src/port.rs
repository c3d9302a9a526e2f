//! The one way from here to files: a flow's own folder, by paths that cannot lead out of it.
//!
//! Takers that are not models write artifacts through [`RecordAccess`], which the driver of the flow
//! implements over the real folder and tests over memory.

#[cfg(test)]
use std::collections::BTreeMap;
use std::fmt;
#[cfg(test)]
use std::sync::{Mutex, PoisonError};

/// Longest path within a record folder; file systems stop at 4096 bytes for the whole of it.
const MAX_PATH_BYTES: usize = 1024;

/// A path within the record folder: relative, with plain names only.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordPath(String);

impl RecordPath {
    /// Takes a path as it is written, or says why it could lead out of the folder.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Err("the path is empty");
        }
        if text.len() > MAX_PATH_BYTES {
            return Err("the path is longer than 1024 bytes");
        }
        if text.starts_with('/') || text.contains('\\') || text.contains(':') {
            return Err("the path must be relative, with `/` between its names");
        }
        if text.chars().any(char::is_control) {
            return Err("the path has a control character");
        }
        text.split('/').try_for_each(check_name)?;
        Ok(Self(text.to_owned()))
    }

    /// A path that is made of names of ours. Whatever could mean something to a file system
    /// becomes a dash.
    #[must_use]
    pub fn of_name(name: &str) -> Self {
        let fits = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
        let safe: String = name
            .chars()
            .map(|letter| if fits(letter) { letter } else { '-' })
            .collect();
        match safe.trim_start_matches('.') {
            "" => Self("artifact".to_owned()),
            name => Self(name.to_owned()),
        }
    }

    /// The path as text, within the record folder.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path as roles write it: from the project folder, where `record/` is this folder.
    #[must_use]
    pub(crate) fn project_path(&self) -> String {
        format!("record/{}", self.0)
    }
}

fn check_name(name: &str) -> Result<(), &'static str> {
    if name.is_empty() || name == "." {
        return Err("the path has an empty name");
    }
    if name == ".." {
        return Err("the path leads out of the record folder");
    }
    if name.eq_ignore_ascii_case(".git") || name.eq_ignore_ascii_case(".a-society") {
        return Err("the path leads into a folder that roles may not write to");
    }
    Ok(())
}

impl fmt::Display for RecordPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a file could not be read or written, in words that a role may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFault(pub String);

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FileFault {}

/// The files of a flow's record folder.
///
/// Implementations refuse links that lead elsewhere, and files that are not regular.
pub trait RecordAccess: Send + Sync + fmt::Debug {
    /// The bytes of a file, or nothing if there is none.
    fn read(&self, path: &RecordPath) -> Result<Option<Vec<u8>>, FileFault>;

    /// Writes a file as a whole, with the folders above it. A file that was there is replaced.
    fn write(&self, path: &RecordPath, bytes: &[u8]) -> Result<(), FileFault>;
}

/// A record folder in memory, for tests and simulations.
#[cfg(test)]
#[derive(Debug, Default)]
pub(crate) struct MemoryFiles {
    files: Mutex<BTreeMap<RecordPath, Vec<u8>>>,
}

#[cfg(test)]
impl MemoryFiles {
    /// Every file with its text, in the order of their paths.
    #[must_use]
    pub(crate) fn texts(&self) -> BTreeMap<String, String> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files
            .iter()
            .map(|(path, bytes)| {
                let text = String::from_utf8_lossy(bytes).into_owned();
                (path.to_string(), text)
            })
            .collect()
    }
}

#[cfg(test)]
impl RecordAccess for MemoryFiles {
    fn read(&self, path: &RecordPath) -> Result<Option<Vec<u8>>, FileFault> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(files.get(path).cloned())
    }

    fn write(&self, path: &RecordPath, bytes: &[u8]) -> Result<(), FileFault> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.insert(path.clone(), bytes.to_vec());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_could_lead_out_of_the_record_folder_is_refused() {
        for text in [
            "",
            "/etc/passwd",
            "../x",
            "a/../../x",
            "a//b",
            "./a",
            "a/.",
            "a/",
            "a\\b",
            "C:x",
            "a\0b",
            "a\nb",
            ".git/config",
            "a/.GIT/hooks/x",
            ".a-society/x",
        ] {
            assert!(RecordPath::parse(text).is_err(), "{text:?} was taken");
        }
        for text in [
            "notes.md",
            "findings/owner-findings.md",
            "ü ö.md",
            "~x",
            "a..b",
        ] {
            assert!(RecordPath::parse(text).is_ok(), "{text:?} was refused");
        }
    }

    #[test]
    fn a_path_of_names_is_always_one_that_may_be_taken() {
        for name in ["draft-to-review.md", "../x", "a/b:c\\d\0e.md", "..."] {
            let path = RecordPath::of_name(name);
            assert_eq!(RecordPath::parse(path.as_str()), Ok(path));
        }
    }
}
