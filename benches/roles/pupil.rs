//! The process that drives the flows, and its own figures.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command as Process, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use a_society_facts::Verb;
use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::view::flow::FlowStatus;
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
    /// No flow at all: so many pairs of requests, the last so many bytes long, by the barest client.
    Bare(usize, Bodies),
}

/// How long the requests of the barest client are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bodies {
    /// Each so many bytes.
    Same(usize),
    /// Longer by as much each time, up to so many bytes.
    Growing(usize),
}

impl Work {
    fn words(self) -> [String; 3] {
        let (name, count, more) = match self {
            Self::Empty(nodes) => ("empty", nodes, 0),
            Self::Grown(nodes, messages) => ("grown", nodes, messages),
            Self::Fan(nodes) => ("fan", nodes, 0),
            Self::Long(nodes) => ("long", nodes, 0),
            Self::Bare(pairs, Bodies::Same(bytes)) => ("same", pairs, bytes),
            Self::Bare(pairs, Bodies::Growing(bytes)) => ("growing", pairs, bytes),
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
        "same" => Work::Bare(number(count), Bodies::Same(number(more))),
        "growing" => Work::Bare(number(count), Bodies::Growing(number(more))),
        _ => Work::Long(number(count)),
    };
    take(Path::new(root), work);
    true
}

/// After this long a configuration is not being edited, as it is nearly always.
const CONFIG_SETTLED: Duration = Duration::from_secs(4);

/// Drives the flows, and prints what that took.
fn take(root: &Path, work: Work) {
    if let Work::Bare(pairs, bodies) = work {
        return ask(root, pairs, bodies);
    }
    // The client of HTTP and its certificates are made once in a process.
    let first = flow::store(&root.join("first"), Arc::new(CountedDisk::default()));
    let four = flow::chain(4, false);
    walk(flow::begun(&first, &root.join("first"), &four), || ());
    let disk = CountedDisk::default();
    let store = flow::store(root, Arc::new(disk.clone()));
    let mut core = match work {
        Work::Empty(nodes) => flow::begun(&store, root, &flow::chain(nodes, false)),
        Work::Grown(nodes, messages) => {
            let core = flow::begun(&store, root, &flow::chain(nodes, true));
            session::grown(&store, core, root, messages, 1024)
        }
        Work::Fan(nodes) => flow::begun(&store, root, &flow::fan(nodes)),
        Work::Long(nodes) | Work::Bare(nodes, _) => {
            flow::begun(&store, root, &flow::chain(nodes, true))
        }
    };
    core.limit_turns(Some(32));
    let folder = PathBuf::from(core.flow().folder().root());
    std::thread::sleep(CONFIG_SETTLED);
    ready();
    disk.take();
    let before = cpu();
    let mut cpu = Duration::ZERO;
    // The threads of the turns are there for a while after them, and the flow's until it is closed.
    let wall = walk(core, || cpu = self::cpu().saturating_sub(before));
    let counts = disk.take();
    let share = cpu.as_secs_f64() / wall.0.as_secs_f64();
    say(&json!({
        "wall_us": micros(wall.0),
        "resting_us": micros(wall.1),
        "syncs": counts.syncs.len(),
        "bare_us": micros(bare(root, &counts.syncs)),
        "bytes": counts.bytes.values().sum::<u64>(),
        "kinds": counts.bytes,
        "cpu": share,
        "cpu_us": micros(cpu),
        "folder": folder,
    }));
}

/// Says that it can begin, and waits until it may.
fn ready() {
    say(&json!({ "ready": true }));
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
}

/// Asks the server for as many answers over one connection, and does nothing else.
fn ask(root: &Path, pairs: usize, bodies: Bodies) {
    const HEAD_BYTES_MAX: usize = 128;
    const FIRST: &[u8] = b"Write to n0.";
    const SECOND: &[u8] = b"Write to n0. \"type\":\"tool_result\"";
    let config = std::fs::read_to_string(root.join("config.yaml")).unwrap();
    let address = config.split("http://").nth(1).unwrap();
    let address = address.split('\'').next().unwrap();
    let (Bodies::Same(longest) | Bodies::Growing(longest)) = bodies;
    // Every body is a tail of the longest one, and the head of its request is written just before it.
    let mut whole = vec![b'x'; HEAD_BYTES_MAX + longest.max(SECOND.len())];
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut some = vec![0; 64 * 1024];
    ready();
    let (began, before) = (Instant::now(), cpu());
    for request in 0..pairs * 2 {
        let tail = if request % 2 == 0 { FIRST } else { SECOND };
        let bytes = match bodies {
            Bodies::Same(bytes) => bytes,
            Bodies::Growing(bytes) => bytes * (request + 1) / (pairs * 2),
        };
        let bytes = bytes.max(tail.len());
        let head = format!("POST /v1/messages HTTP/1.1\r\ncontent-length: {bytes}\r\n\r\n");
        let end = whole.len();
        whole[end - tail.len()..].copy_from_slice(tail);
        let start = end - bytes - head.len();
        whole[start..start + head.len()].copy_from_slice(head.as_bytes());
        stream.write_all(&whole[start..]).unwrap();
        whole[start..start + head.len()].fill(b'x');
        let mut last = [0; 7];
        while last != *b"\r\n0\r\n\r\n" {
            let count = stream.read(&mut some).unwrap();
            assert!(count > 0, "the server went away");
            for byte in some[..count].iter().rev().take(last.len()).rev() {
                last.rotate_left(1);
                last[6] = *byte;
            }
        }
    }
    say(&json!({
        "wall_us": micros(began.elapsed()),
        "cpu_us": micros(cpu() - before),
    }));
}

/// Walks a flow until its forward work is done: how long that took, and how long until all of it
/// was at rest and closed. In between, `walked` is called.
fn walk(core: Core, walked: impl FnOnce()) -> (Duration, Duration) {
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
    let walk = started.elapsed();
    walked();
    let mode = ImprovementMode::None;
    driven.handle.obey(Verb::Improve { mode }, None).unwrap();
    driven.task.join().unwrap().unwrap();
    (walk, started.elapsed())
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap()
}

/// The processor's time that this process has taken. What its threads say is exact, but those that ended
/// say nothing any more; what the system says of them all is counted in hundredths of a second.
fn cpu() -> Duration {
    exact_cpu().max(whole_cpu())
}

fn whole_cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The name may hold spaces; after it, the twelfth and thirteenth are the times of user and system.
    let (_, after) = stat.rsplit_once(')').unwrap();
    let times = after.split_whitespace().skip(11).take(2);
    let ticks = times.map(|ticks| ticks.parse::<u64>().unwrap());
    Duration::from_millis(ticks.sum::<u64>() * 10)
}

fn exact_cpu() -> Duration {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let spent = threads.filter_map(|thread| {
        // The first number is nanoseconds. A thread may end meanwhile.
        let text = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(spent.sum::<u64>())
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
