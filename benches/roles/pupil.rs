//! The process that takes the turns, and what it says about itself.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command as Process, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::view::flow::FlowStatus;
use a_society_orchestrator::control::message::Command;
use a_society_orchestrator::driver::core::Core;
use a_society_orchestrator::driver::task::drive;
use serde_json::{Value, json};

use crate::counted::{CountedDisk, bare};
use crate::server::Server;
use crate::{flow, session};

/// The word by which this program is such a process.
const WORD: &str = "--pupil";

/// A flow that has not ended by then never will.
const LONGEST: Duration = Duration::from_secs(600);

/// What it is to do.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Work {
    /// A chain of so many nodes, each with a session of its own.
    Empty(usize),
    /// A chain of so many nodes, all of a session that holds so many messages of 1 KB.
    Grown(usize, usize),
    /// So many nodes beside one another.
    Fan(usize),
    /// A chain of so many nodes of one session.
    Long(usize),
}

impl Work {
    fn words(self) -> [String; 3] {
        let (name, count, more) = match self {
            Self::Empty(nodes) => ("empty", nodes, 0),
            Self::Grown(nodes, messages) => ("grown", nodes, messages),
            Self::Fan(nodes) => ("fan", nodes, 0),
            Self::Long(nodes) => ("long", nodes, 0),
        };
        [name.to_owned(), count.to_string(), more.to_string()]
    }
}

/// Runs as such a process if that is asked for.
pub(crate) fn asked(words: &[String]) -> bool {
    let [word, root, name, count, more] = words else {
        return false;
    };
    if word != WORD {
        return false;
    }
    let number = |text: &str| -> usize { text.parse().unwrap() };
    let work = match name.as_str() {
        "empty" => Work::Empty(number(count)),
        "grown" => Work::Grown(number(count), number(more)),
        "fan" => Work::Fan(number(count)),
        _ => Work::Long(number(count)),
    };
    take(Path::new(root), work);
    true
}

/// Takes the turns, and prints what that took.
fn take(root: &Path, work: Work) {
    // The client of HTTP and its certificates are made once in a process.
    let first = flow::store(&root.join("first"), Arc::new(CountedDisk::default()));
    walk(flow::begun(
        &first,
        &root.join("first"),
        &flow::chain(4, false),
    ));
    let disk = CountedDisk::default();
    let store = flow::store(root, Arc::new(disk.clone()));
    let mut core = match work {
        Work::Empty(nodes) => flow::begun(&store, root, &flow::chain(nodes, false)),
        Work::Grown(nodes, messages) => {
            let core = flow::begun(&store, root, &flow::chain(nodes, true));
            session::grown(&store, core, root, messages, 1024)
        }
        Work::Fan(nodes) => flow::begun(&store, root, &flow::fan(nodes)),
        Work::Long(nodes) => flow::begun(&store, root, &flow::chain(nodes, true)),
    };
    core.limit_turns(Some(32));
    let folder = PathBuf::from(core.flow().folder().root());
    say(&json!({ "ready": true }));
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    disk.take();
    let (began, cpu) = (Instant::now(), cpu());
    let wall = walk(core);
    let counts = disk.take();
    let share = (self::cpu() - cpu).as_secs_f64() / began.elapsed().as_secs_f64();
    say(&json!({
        "wall_us": micros(wall.0),
        "resting_us": micros(wall.1),
        "syncs": counts.syncs.len(),
        "bare_us": micros(bare(root, &counts.syncs)),
        "bytes": counts.bytes.values().sum::<u64>(),
        "kinds": counts.bytes,
        "cpu": share,
        "folder": folder,
    }));
}

/// Walks a flow until its forward work is done: how long that took, and how long until all of it
/// was at rest and closed.
fn walk(core: Core) -> (Duration, Duration) {
    let started = Instant::now();
    let driven = drive(core, None).unwrap();
    let mut after = 0;
    loop {
        if let Some(seen) = driven.handle.wait(after, Duration::from_secs(1)) {
            if seen.live == 0 && seen.state.status == FlowStatus::AwaitingImprovementChoice {
                break;
            }
            assert!(!seen.over, "it ended: {:?}", seen.ended);
            let waits = seen
                .state
                .waits()
                .next()
                .map(|(_, waiting)| format!("{waiting:?}"));
            assert!(seen.live > 0 || waits.is_none(), "it waits: {waits:?}");
            after = seen.seq;
        }
        assert!(started.elapsed() < LONGEST, "it does not come to its end");
    }
    let walked = started.elapsed();
    let mode = ImprovementMode::None;
    driven.handle.obey(Command::Improve { mode }, None).unwrap();
    driven.task.join().unwrap().unwrap();
    (walked, started.elapsed())
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap()
}

/// The processor's time that this process has taken.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, rest) = stat.rsplit_once(')').unwrap();
    let fields: Vec<u64> = rest
        .split_whitespace()
        .filter_map(|it| it.parse().ok())
        .collect();
    // Without the state the fields begin with the parent; user and system time are the eleventh and
    // the twelfth of them, in hundredths of a second.
    Duration::from_millis((fields[10] + fields[11]) * 10)
}

fn say(value: &Value) {
    println!("{value}");
    std::io::stdout().flush().unwrap();
}

/// Such a process, ready to begin.
pub(crate) struct Pupil {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Pupil {
    /// Starts one whose models are those of a server.
    pub(crate) fn start(root: &Path, server: &Server, work: Work) -> Self {
        let config = root.join("config.yaml");
        let url = &server.url;
        let text = format!(
            "providers:\n  p: {{ wire: anthropic, base-url: '{url}' }}\nmodels:\n  \
             m: {{ provider: p, id: m, window: 1000000000 }}\nmodel: m\n"
        );
        std::fs::write(&config, text).unwrap();
        let mut child = Process::new(std::env::current_exe().unwrap())
            .arg(WORD)
            .arg(root)
            .args(work.words())
            .env("A_SOCIETY_CONFIG", config)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let mut pupil = Self { child, out };
        pupil.hear();
        server.take();
        pupil
    }

    /// Lets it begin.
    pub(crate) fn go(&mut self) {
        self.child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    }

    /// The kilobytes of memory that it holds now.
    pub(crate) fn memory_kb(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|text| text.trim().trim_end_matches(" kB").parse().ok())
            .unwrap_or(0)
    }

    /// What it says next.
    pub(crate) fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Pupil {
    fn drop(&mut self) {
        drop(self.child.wait());
    }
}
