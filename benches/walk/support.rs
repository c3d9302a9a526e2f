//! What the figures share: folders, medians, and the table's lines.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// One run of the figures.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
    words: Vec<String>,
    /// Whether everything is made smaller.
    pub(crate) quick: bool,
}

impl Bench {
    /// Reads what was asked for. The folder lies beside the build, on a real disk: the system's
    /// own folder for temporary files may be memory.
    pub(crate) fn new(words: &[String]) -> Self {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        Self {
            folder: tempfile::tempdir_in(target).unwrap(),
            words: words
                .iter()
                .filter(|word| !word.starts_with("--"))
                .cloned()
                .collect(),
            quick: words.iter().any(|word| word == "--quick"),
        }
    }

    /// Whether a figure was asked for.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| name.contains(word.as_str()))
    }

    /// A folder of its own. It stays until everything is measured: a file system that has just
    /// removed many files makes new ones slowly.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    /// Waits until the system has written what came before, which would slow every sync.
    pub(crate) fn settle() {
        let written = std::process::Command::new("sync").status();
        assert!(
            written.is_ok_and(|status| status.success()),
            "sync did not run"
        );
    }
}

/// How long something takes.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let started = Instant::now();
    let made = work();
    (started.elapsed(), made)
}

/// The middle one.
pub(crate) fn median<T: Copy + PartialOrd>(mut values: Vec<T>) -> T {
    values.sort_by(|a, b| a.partial_cmp(b).unwrap());
    values[values.len() / 2]
}

/// Milliseconds.
pub(crate) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// One line of the table.
pub(crate) fn line(figure: &str, wanted: &str, measured: &str) {
    println!("| {figure} | {wanted} | {measured} |");
}
