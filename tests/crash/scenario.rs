//! A run of the scripted append-and-fold scenario, plain or under `strace`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The flow of every run.
pub(super) const FLOW: &str = "20260527T143000123Z-a1b2c3";
/// Its project.
pub(super) const PROJECT: &str = "demo";
/// How many steps a run takes.
pub(super) const STEPS: u32 = 24;
/// Segments so small that a run sees several.
pub(super) const ROTATE_AT_BYTES: u32 = 4096;

/// A workspace that vanishes.
pub(super) struct Place {
    folder: tempfile::TempDir,
}

/// The report of one run.
#[derive(Debug)]
pub(super) struct Said {
    /// The records it acknowledged.
    pub(super) acknowledged: Vec<u64>,
    /// The last record it found when it opened the flow.
    pub(super) folded: Option<u64>,
    /// How it ended and what else it printed.
    pub(super) output: Output,
}

impl Place {
    /// A new workspace, beside the build: the system's own folder may be memory.
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        std::fs::create_dir(folder.path().join(".a-society")).unwrap();
        Self { folder }
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A file outside the workspace's own folder.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Runs the program with these words.
    pub(super) fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_a-society"));
        self.quietly(command.args(words))
    }

    /// Runs the scenario, under `strace` with these words if there are any.
    pub(super) fn scenario(&self, strace: &[&str], resume: bool) -> Said {
        let program = env!("CARGO_BIN_EXE_a-society");
        let mut command = if strace.is_empty() {
            Command::new(program)
        } else {
            let mut command = Command::new("strace");
            command.args(strace).arg(program);
            command
        };
        command.arg("--workspace").arg(self.path());
        command.args(["__scenario", "--flow", FLOW, "--project", PROJECT]);
        command.args(["--steps", &STEPS.to_string()]);
        command.args(["--rotate-at", &ROTATE_AT_BYTES.to_string()]);
        if resume {
            command.arg("--resume");
        }
        heard(self.quietly(&mut command))
    }

    fn quietly(&self, command: &mut Command) -> Output {
        command
            .current_dir(self.path())
            .env_remove("A_SOCIETY_WORKSPACE")
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }
}

fn heard(output: Output) -> Said {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers = |word: &str| -> Vec<u64> {
        let lines = text.lines().filter_map(|line| line.strip_prefix(word));
        lines
            .filter_map(|number| number.trim().parse().ok())
            .collect()
    };
    Said {
        acknowledged: numbers("ack "),
        folded: numbers("folded ").pop(),
        output,
    }
}

/// Whether `strace` is there and may trace. If not, a note is printed.
pub(crate) fn strace_works(what: &str) -> bool {
    let works = Command::new("strace")
        .args(["-o", "/dev/null", "true"])
        .stdin(Stdio::null())
        .output()
        .is_ok_and(|output| output.status.success());
    if !works {
        // Not by `eprintln!`, which the test runner keeps to itself while a test passes.
        writeln!(
            std::io::stderr(),
            "NOT MEASURED: {what}: strace is missing or may not trace"
        )
        .unwrap();
    }
    works
}
