//! What all benches share: what was asked for, folders, medians, and the table's lines.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A figure by its name.
pub(crate) type Figure = (&'static str, fn(&Bench));

/// What was asked for, without what cargo adds.
pub(crate) fn words() -> Vec<String> {
    std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect()
}

/// Takes the figures that were asked for, and prints them as one table.
pub(crate) fn take(words: &[String], figures: &[Figure]) {
    let bench = Bench::new(words);
    println!("| figure | wanted | measured |\n| --- | --- | --- |");
    for (name, figure) in figures {
        if bench.wants(name) {
            Bench::settle();
            figure(&bench);
        }
    }
}

/// One run of the figures.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
    words: Vec<String>,
    /// Whether everything is made smaller.
    quick: bool,
}

impl Bench {
    /// Reads the options. The folder is beside the build, on a real disk: the system's
    /// own folder for temporary files may be memory. `--in=FOLDER` names another place, where no
    /// build has removed thousands of files a moment ago.
    pub(crate) fn new(words: &[String]) -> Self {
        let named = words.iter().find_map(|word| word.strip_prefix("--in="));
        let place = Path::new(named.unwrap_or(env!("CARGO_TARGET_TMPDIR")));
        Self {
            folder: tempfile::tempdir_in(place).unwrap(),
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

    /// One of two, the second when it should be quick.
    pub(crate) fn either<T>(&self, whole: T, quick: T) -> T {
        if self.quick { quick } else { whole }
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
