//! A workspace that vanishes, with flows made through the library, and the program run in it.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use a_society_facts::fact::flow::{FactAuthor, FlowCancelled};
use a_society_facts::fact::journal::ProcessName;
use a_society_facts::{At, Fact};
use a_society_samples::{id, walk};
use a_society_state::clock::CountingClock;
use a_society_state::disk::RealDisk;
use a_society_state::{Flow, FlowRef, Ground, Store};

/// When the made-up time of every flow begins: 2026-05-27T14:30:00Z.
const BEGINS_MS: i64 = 1_779_892_200_000;

/// How many facts of the sample walk bring a flow to its first question.
fn until_question(facts: &[Fact]) -> usize {
    let asked = facts
        .iter()
        .position(|fact| matches!(fact, Fact::NodeSuspended(_)));
    // The turn that asked ends with the next fact.
    asked.expect("the walk asks something") + 2
}

/// A workspace that vanishes.
pub(crate) struct Workspace {
    folder: tempfile::TempDir,
}

/// What a run of the program came to.
#[derive(Debug)]
pub(crate) struct Said {
    /// The exit code; -1 if a signal ended it.
    pub(crate) code: i32,
    /// What it printed.
    pub(crate) out: String,
    /// Its standard error.
    pub(crate) err: String,
}

impl Said {
    /// Both streams and the code, for a snapshot.
    pub(crate) fn whole(&self) -> String {
        super::steady(&format!(
            "{}\n--- stderr ---\n{}\n--- exit code {} ---",
            self.out.trim_end(),
            self.err.trim_end(),
            self.code
        ))
    }

    /// What it printed, as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|why| panic!("{why}: {self:?}"))
    }
}

impl Workspace {
    /// An empty one, beside the build: the system's own folder may be memory.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        std::fs::create_dir(folder.path().join(".a-society")).unwrap();
        Self { folder }
    }

    /// Makes a folder that roles work on by itself, because it had flows before.
    pub(crate) fn make_project(&self, name: &str) {
        std::fs::create_dir(self.path().join(name)).unwrap();
        let mut private = std::fs::DirBuilder::new();
        private.recursive(true).mode(0o700);
        private.create(self.state().join(name)).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where the flows lie.
    pub(crate) fn state(&self) -> PathBuf {
        self.path().join(".a-society/state")
    }

    /// The folder of a flow of the project `demo`.
    pub(crate) fn flow_folder(&self, flow: &str) -> PathBuf {
        self.state().join("demo").join(flow)
    }

    /// The first segment of such a flow.
    pub(crate) fn segment(&self, flow: &str) -> PathBuf {
        self.flow_folder(flow).join("journal/00000001.jsonl")
    }

    /// The flows, with time and process made up.
    pub(crate) fn store(&self) -> Store {
        let ground = Ground {
            disk: Arc::new(RealDisk),
            clock: Arc::new(CountingClock::from(At::from_ms(BEGINS_MS))),
            process: ProcessName {
                pid: 4711,
                start_ticks: 1,
                boot_id: "test".to_owned(),
            },
            ledger: None,
        };
        Store::new(ground, self.state())
    }

    /// A new flow with the first facts of the sample walk, still open for writing.
    pub(crate) fn begin(&self, project: &str, flow: &str, title: &str, facts: usize) -> Flow {
        let mut walk = walk().into_iter();
        let created = walk.by_ref().find_map(|fact| {
            let Fact::FlowCreated(created) = fact else {
                return None;
            };
            Some(created)
        });
        let mut created = created.expect("the walk creates its flow");
        created.project = id(project);
        created.title = title.to_owned();
        let mut opened = self
            .store()
            .create(id::<a_society_facts::id::FlowId>(flow), created)
            .unwrap();
        let rest = walk
            .take(facts)
            .filter(|fact| !matches!(fact, Fact::WriterOpened(_) | Fact::SegmentStarted(_)));
        for fact in rest {
            opened.append(fact).unwrap();
        }
        opened.sync().unwrap();
        opened
    }

    /// A flow that waits for an answer, closed in good order.
    pub(crate) fn waiting(&self, project: &str, flow: &str, title: &str) {
        let facts = walk();
        let created = facts
            .iter()
            .position(|fact| matches!(fact, Fact::FlowCreated(_)));
        let facts = until_question(&facts) - created.expect("it is created") - 1;
        self.close(self.begin(project, flow, title, facts));
    }

    /// A flow that was cancelled.
    pub(crate) fn cancelled(&self, project: &str, flow: &str, title: &str) {
        let mut opened = self.begin(project, flow, title, 0);
        let cancelled = FlowCancelled {
            client: None,
            by: FactAuthor::Operator,
            why: None,
        };
        opened.append(Fact::FlowCancelled(cancelled)).unwrap();
        self.close(opened);
    }

    /// Takes the last two records of a flow's first segment away, as a restored backup would.
    pub(crate) fn shorten(&self, project: &str, flow: &str) {
        let segment = self
            .state()
            .join(project)
            .join(flow)
            .join("journal/00000001.jsonl");
        let text = std::fs::read_to_string(&segment).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let kept = lines[..lines.len() - 2].join("\n");
        std::fs::write(segment, kept + "\n").unwrap();
    }

    /// Opens a flow of the project `demo` for writing, as another process would.
    pub(crate) fn open(&self, flow: &str) -> Flow {
        let named = FlowRef {
            project: id("demo"),
            flow: id(flow),
        };
        self.wait_until_free(&named);
        self.store().open(&named).unwrap().0
    }

    /// Closes a flow in good order and waits until its lock is free.
    pub(crate) fn close(&self, flow: Flow) {
        let named = FlowRef {
            project: flow.project().clone(),
            flow: flow.id().clone(),
        };
        flow.close().unwrap();
        self.wait_until_free(&named);
    }

    /// Another test of this process may just be starting a program, which holds a copy of our
    /// lock until it is exec'd.
    fn wait_until_free(&self, flow: &FlowRef) {
        let folder = self.store().folder(flow);
        for _ in 0..1000 {
            if a_society_state::lock::is_held(&RealDisk, &folder)
                .unwrap()
                .is_none()
            {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        panic!("{flow} is still locked");
    }

    /// The program with these words, in this workspace and with nothing else from outside.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_a-society"));
        command
            .args(words)
            .current_dir(self.path())
            .env_clear()
            // Whatever is configured on this machine must not be met here.
            .env("A_SOCIETY_CONFIG", self.path().join("config.yaml"))
            .stdin(Stdio::null());
        command
    }

    /// Runs it.
    pub(crate) fn run(&self, words: &[&str]) -> Said {
        self.heard(&mut self.command(words))
    }

    /// Runs it with something on stdin.
    pub(crate) fn run_with(&self, words: &[&str], input: &[u8]) -> Said {
        let mut file = tempfile::tempfile_in(self.path()).unwrap();
        file.write_all(input).unwrap();
        std::io::Seek::rewind(&mut file).unwrap();
        self.heard(self.command(words).stdin(file))
    }

    /// Runs a command to its end.
    pub(crate) fn heard(&self, command: &mut Command) -> Said {
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| {
            let place = self.path().display().to_string();
            String::from_utf8_lossy(bytes).replace(&place, "WORKSPACE")
        };
        Said {
            code: output.status.code().unwrap_or(-1),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }

    /// Every file of the workspace with its bytes, by its path.
    pub(crate) fn contents(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        gather(&self.state(), &mut found);
        found
    }
}

fn gather(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        let about = std::fs::symlink_metadata(&path).unwrap();
        if about.is_dir() {
            gather(&path, found);
            found.insert(path, Vec::new());
        } else if about.is_symlink() {
            let target = std::fs::read_link(&path).unwrap();
            found.insert(path, target.to_string_lossy().into_owned().into_bytes());
        } else {
            let bytes = std::fs::read(&path).unwrap();
            found.insert(path, bytes);
        }
    }
}

/// A folder with all that is in it, in another place.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}
