//! The guard of a command: a process of this program's own, between us and what a command does.
//!
//! It is the gate: before it reads the word that opens it, the command does not exist. It is the
//! wall: what it takes from itself, it takes from all that it starts. And it is the end: whatever
//! was started, in however many sessions, is its descendant, and does not outlive it. It ends all
//! of it when the command ends, when its time is up, when it gets a stop, and when the
//! process that started it is gone, which it notices by the end of its input.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use a_society_base::process::supervise::{Exit, Timer, await_exit, read_pieces};
use a_society_base::process::tree::Family;
use a_society_base::process::{GRACE, OUTPUT_GRACE};
use a_society_base::thread::{self, NoThread};

use super::frame::{self, CommandEnd, GO, GuardFrame, GuardOrder, GuardReport, READY};
use super::limits::ORDER_BYTES;
use super::{process, wall};

/// What happens while a command runs.
#[derive(Debug)]
enum GuardEvent {
    /// It could not be started.
    NotStarted(String),
    /// It runs, without these walls, and writes into this pipe.
    Started(Child, Vec<String>, io::PipeReader),
    Exited,
    Closed,
    TimeUp,
    /// The process that started us closed our input, or is gone.
    Stop,
}

/// Guards one command. This is what the program does when it is started with the words of
/// [`crate::tool::Guard`]; only a person who looks reads the exit code.
#[must_use]
pub fn guard(input: impl Read + Send + 'static, output: impl Write + Send + 'static) -> u8 {
    let mut output = output;
    let mut input = BufReader::new(input);
    let Some(order) = ordered(&mut input) else {
        return 125;
    };
    // A session of its own has no terminal that could be asked or written to. It fails for one
    // that has it already.
    let _session = rustix::process::setsid();
    if writeln!(output, "\n{READY}")
        .and_then(|()| output.flush())
        .is_err()
    {
        return 125;
    }
    if line(&mut input).as_deref() != Some(GO) {
        return 125;
    }
    let output = Arc::new(Mutex::new(output));
    let report = run(&order, input, &output);
    let code = u8::from(matches!(report.end, CommandEnd::NotStarted(_)));
    say(&output, &GuardFrame::End(report));
    code
}

fn ordered(input: &mut impl BufRead) -> Option<GuardOrder> {
    serde_json::from_str(&line(input)?).ok()
}

/// One line, if it is whole.
fn line(input: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    let mut bounded = input.take(ORDER_BYTES);
    bounded.read_line(&mut line).ok()?;
    line.strip_suffix('\n').map(str::to_owned)
}

fn say(output: &Mutex<impl Write>, frame: &GuardFrame) {
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    // The listener may be gone; then the end of our input reports that too.
    let _heard = frame::write(frame, &mut *output);
}

fn run(
    order: &GuardOrder,
    input: impl Read + Send + 'static,
    output: &Arc<Mutex<impl Write + Send + 'static>>,
) -> GuardReport {
    let (tell, events) = mpsc::channel();
    wall::bound_process();
    let scratch = wall::scratch();
    let watchers = Watchers::begin(input, output, order.time_limit_ms, &tell);
    let begun = watchers.and_then(|watchers| {
        start(order.clone(), scratch.clone(), tell)?;
        Ok(watchers)
    });
    let watchers = match begun {
        Ok(watchers) => watchers,
        Err(why) => {
            wall::remove_scratch(scratch);
            return not_started(&why);
        }
    };
    let mut missing = Vec::new();
    let mut child = None;
    let mut is_closed = false;
    let cause = loop {
        match events.recv() {
            Ok(GuardEvent::Started(started, without, written)) => {
                missing = without;
                watchers.watch(&started, written);
                child = Some(started);
            }
            Ok(GuardEvent::Closed) => is_closed = true,
            Ok(cause) => break cause,
            Err(mpsc::RecvError) => break GuardEvent::Stop,
        }
    };
    drop(watchers);
    if child.is_none() && matches!(cause, GuardEvent::Stop | GuardEvent::TimeUp) {
        child = await_start(&events);
    }
    let leader = child.as_ref().map(Child::id);
    let family = Family::Descendants { leader };
    let survivors = match cause {
        GuardEvent::TimeUp | GuardEvent::Stop => family.end(GRACE),
        GuardEvent::Exited
        | GuardEvent::NotStarted(_)
        | GuardEvent::Started(..)
        | GuardEvent::Closed => family.kill(),
    };
    if child.is_some() && !is_closed {
        await_output(&events);
    }
    let end = how(cause, child);
    wall::remove_scratch(scratch);
    GuardReport {
        end,
        missing,
        survivors,
    }
}

fn not_started(why: &NoThread) -> GuardReport {
    GuardReport {
        end: CommandEnd::NotStarted(format!("The command did not run: {why}.")),
        missing: Vec::new(),
        survivors: Vec::new(),
    }
}

/// The threads that look after a command. All of them are there before the command is, because one
/// that runs without them cannot be followed to its end.
struct Watchers {
    written: Sender<io::PipeReader>,
    exit: Sender<u32>,
    _timer: Timer,
}

impl Watchers {
    fn begin(
        input: impl Read + Send + 'static,
        output: &Arc<Mutex<impl Write + Send + 'static>>,
        time_limit_ms: u64,
        tell: &Sender<GuardEvent>,
    ) -> Result<Self, NoThread> {
        watch_input(input, tell.clone())?;
        watch_signals(tell.clone())?;
        let rings = tell.clone();
        Ok(Self {
            written: pump(output, tell)?,
            exit: watch_exit(tell.clone())?,
            _timer: Timer::start(Duration::from_millis(time_limit_ms), move || {
                drop(rings.send(GuardEvent::TimeUp));
            })?,
        })
    }

    /// The command is there. Each of them waits for its part of it.
    fn watch(&self, child: &Child, written: io::PipeReader) {
        // They block on this, so that they are ready.
        let _heard = self.written.send(written);
        let _heard = self.exit.send(child.id());
    }
}

/// The command that is being started while it is to be ended already: it must not come to life
/// when we are gone.
fn await_start(events: &Receiver<GuardEvent>) -> Option<Child> {
    loop {
        match events.recv() {
            Ok(GuardEvent::Started(child, ..)) => return Some(child),
            Ok(GuardEvent::NotStarted(_)) | Err(mpsc::RecvError) => return None,
            Ok(GuardEvent::Exited | GuardEvent::Closed | GuardEvent::TimeUp | GuardEvent::Stop) => {
            }
        }
    }
}

/// Starts the command on a thread of its own: walls apply to a thread, and to what it starts.
fn start(
    order: GuardOrder,
    scratch: Option<String>,
    tell: Sender<GuardEvent>,
) -> Result<(), NoThread> {
    thread::begin("start", move || {
        let event = match spawn(&order, scratch) {
            Ok((child, missing, written)) => GuardEvent::Started(child, missing, written),
            Err(why) => GuardEvent::NotStarted(why),
        };
        drop(tell.send(event));
    })
    .map(drop)
}

/// A command that runs, the walls that it runs without, and the pipe into which it writes.
type Spawned = (Child, Vec<String>, io::PipeReader);

fn spawn(order: &GuardOrder, scratch: Option<String>) -> Result<Spawned, String> {
    use std::os::unix::process::CommandExt as _;

    let folder = process::open_folder(&order.folder, &order.folder_id)?;
    let missing = wall::put_up(&order.walls, scratch.as_deref())?;
    let (program, arguments) = order.run.split_first().ok_or("The command is empty.")?;
    let mut variables = order.variables.clone();
    if let Some(scratch) = scratch {
        variables.push(("TMPDIR".to_owned(), scratch));
    }
    // One pipe for both, so that errors appear between the lines where they occurred.
    let no_pipe = |why: io::Error| format!("There is no pipe for its output: {why}.");
    let (written, writer) = io::pipe().map_err(no_pipe)?;
    let errors = writer.try_clone().map_err(no_pipe)?;
    Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(variables)
        .current_dir(process::path_of(&folder, &order.folder))
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(errors)
        .process_group(0)
        .spawn()
        .map(|child| (child, missing, written))
        .map_err(|why| format!("{program} could not be started: {why}."))
}

fn watch_input(
    input: impl Read + Send + 'static,
    tell: Sender<GuardEvent>,
) -> Result<(), NoThread> {
    thread::begin("input", move || {
        // No further input is expected; discard it until the end.
        let mut input = input;
        let _all = io::copy(&mut input, &mut io::sink());
        drop(tell.send(GuardEvent::Stop));
    })
    .map(drop)
}

/// A guard that gets a signal ends its command first. Recovery after a crash sends one.
fn watch_signals(tell: Sender<GuardEvent>) -> Result<(), NoThread> {
    use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM};

    if let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGTERM, SIGINT, SIGHUP]) {
        thread::begin("signals", move || {
            for _signal in signals.forever() {
                if tell.send(GuardEvent::Stop).is_err() {
                    break;
                }
            }
        })?;
    }
    Ok(())
}

/// Hands on what the stream that it is given holds.
fn pump<R: Read + Send + 'static>(
    output: &Arc<Mutex<impl Write + Send + 'static>>,
    tell: &Sender<GuardEvent>,
) -> Result<Sender<R>, NoThread> {
    let (output, tell) = (Arc::clone(output), tell.clone());
    let (give, given) = mpsc::channel::<R>();
    thread::begin("output", move || {
        let Ok(mut stream) = given.recv() else {
            return;
        };
        read_pieces(&mut stream, &mut vec![0; frame::FRAME_BYTES], |piece| {
            say(&output, &GuardFrame::Output(piece.to_vec()));
            true
        });
        drop(tell.send(GuardEvent::Closed));
    })?;
    Ok(give)
}

/// Tells when the command has ended, and leaves it to be waited for, so that its number stays its
/// own until all that it started has ended.
fn watch_exit(tell: Sender<GuardEvent>) -> Result<Sender<u32>, NoThread> {
    let (give, given) = mpsc::channel();
    thread::begin("exit", move || {
        let Ok(pid) = given.recv() else {
            return;
        };
        let _exit = await_exit(pid);
        drop(tell.send(GuardEvent::Exited));
    })?;
    Ok(give)
}

fn await_output(events: &Receiver<GuardEvent>) {
    loop {
        match events.recv_timeout(OUTPUT_GRACE) {
            Ok(GuardEvent::Closed) | Err(_) => return,
            Ok(_) => {}
        }
    }
}

fn how(cause: GuardEvent, child: Option<Child>) -> CommandEnd {
    match cause {
        GuardEvent::NotStarted(why) => return CommandEnd::NotStarted(why),
        GuardEvent::TimeUp => return CommandEnd::TimedOut,
        GuardEvent::Stop => return CommandEnd::Stopped,
        GuardEvent::Exited | GuardEvent::Started(..) | GuardEvent::Closed => {}
    }
    let Some(Ok(status)) = child.map(|mut child| child.wait()) else {
        return CommandEnd::Signalled(0);
    };
    match Exit::from(status) {
        Exit::Code(code) => u8::try_from(code).map_or(CommandEnd::Signalled(0), CommandEnd::Exited),
        Exit::Signal(signal) => CommandEnd::Signalled(signal),
        Exit::Unknown => CommandEnd::Signalled(0),
    }
}
