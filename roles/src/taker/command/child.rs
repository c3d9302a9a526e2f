//! A process that waits at a gate until its start is recorded, and is ended with all it started.
//!
//! The process that is spawned is a shell which reads one line from its standard input and only
//! then becomes the program. If this process dies before, the shell reads the end of its input and
//! exits. So a program that ran without being recorded cannot exist. What follows the line is the
//! program's own input.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a_society_facts::fact::journal::ProcessName;
use a_society_facts::id::{CallId, FlowId};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::capture::Capture;
use super::input;
use super::limits::{GRACE, OUTPUT_GRACE};
use super::report::{How, Report};
use super::tree::{self, Mark};
use crate::thread::{self, NoThread};
use crate::turn::stop::StopSignal;

/// Waits for one line, and becomes the program that is named by its arguments.
const GATE: &str = r#"IFS= read -r gate && [ "$gate" = go ] || exit 125; unset gate; exec "$@""#;

/// The line that opens the gate.
const GO: &[u8] = b"go\n";

/// What is to be run.
#[derive(Debug)]
pub(super) struct Launch {
    pub run: Vec<String>,
    pub variables: Vec<(String, String)>,
    pub folder: PathBuf,
    /// The variable by which what it starts is found again.
    pub mark: (String, String),
}

/// A process at its gate.
#[derive(Debug)]
pub(super) struct Held {
    child: Child,
    stdin: Option<ChildStdin>,
    mark: Mark,
    is_over: bool,
}

/// Something that happens while a program runs.
#[derive(Debug)]
enum Event {
    Exited,
    Closed,
    TimeUp,
    Stop,
}

/// Ends whatever is left of a call's program after a crash of this process. Whether there was
/// anything left.
pub fn end_survivor(process: &ProcessName, flow: &FlowId, call: &CallId) -> bool {
    let mark = Mark::new(&input::mark(flow.as_str(), call));
    tree::end_stranger(process, &mark)
}

impl Held {
    /// Spawns the process. It waits.
    pub(super) fn spawn(launch: &Launch) -> Result<Self, String> {
        // The shell at the gate would become nothing, and call that a success.
        if launch.run.is_empty() {
            return Err("The command is empty.".to_owned());
        }
        let mut child = spawn_alone(launch)
            .or_else(|_| spawn_in_group(launch))
            .map_err(|why| {
                let folder = launch.folder.display();
                format!("The command could not be started in {folder}: {why}.")
            })?;
        Ok(Self {
            stdin: child.stdin.take(),
            child,
            mark: Mark::new(&launch.mark),
            is_over: false,
        })
    }

    /// What the journal calls it.
    pub(super) fn name(&self) -> ProcessName {
        tree::name_of(self.child.id())
    }

    /// Opens the gate and waits until the program is over, one way or another.
    ///
    /// # Errors
    /// When the system has no thread left. The gate stays closed then.
    pub(super) fn run(
        mut self,
        packet: Vec<u8>,
        time_limit_ms: u64,
        output_limit_bytes: usize,
        stop: &StopSignal,
    ) -> Result<Report, NoThread> {
        let (tell, events) = mpsc::channel();
        let stdout = capture(self.child.stdout.take(), output_limit_bytes, &tell)?;
        let stderr = capture(self.child.stderr.take(), output_limit_bytes, &tell)?;
        watch_exit(self.child.id(), tell.clone())?;
        // The timer ends when this is dropped.
        let _timer = start_timer(time_limit_ms, tell.clone())?;
        let stdin = self.stdin.take();
        if !stop.is_raised() {
            feed(stdin, packet)?;
        }
        stop.when_raised(move || drop(tell.send(Event::Stop)));

        let (cause, closed) = await_end(&events);
        let left = match cause {
            Event::TimeUp | Event::Stop => tree::end(self.child.id(), &self.mark, GRACE),
            Event::Exited | Event::Closed => {
                tree::kill_group(self.child.id());
                Vec::new()
            }
        };
        await_outputs(&events, closed);
        let how = self.how(&cause);
        let mut report = Report {
            how,
            stdout: text_of(&stdout),
            stderr: text_of(&stderr),
        };
        if !left.is_empty() {
            let note = format!("\n[processes that could not be ended: {left:?}]\n");
            report.stderr.push_str(&note);
        }
        Ok(report)
    }

    /// How it ended. Only now is it waited for, so that its number was its own until here.
    fn how(&mut self, cause: &Event) -> How {
        use std::os::unix::process::ExitStatusExt as _;

        let status = self.child.wait();
        self.is_over = true;
        match cause {
            Event::TimeUp => return How::TimedOut,
            Event::Stop => return How::Stopped,
            Event::Exited | Event::Closed => {}
        }
        let Ok(status) = status else {
            return How::Signalled(0);
        };
        match status.code().and_then(|code| u8::try_from(code).ok()) {
            Some(code) => How::Exited(code),
            None => How::Signalled(status.signal().unwrap_or(0)),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        // At its closed gate it exits by itself; a program that ran is killed with its tree.
        drop(self.stdin.take());
        tree::kill(self.child.id(), &self.mark);
        let _status = self.child.wait();
    }
}

/// In a session of its own, where no terminal can be asked or written to.
fn spawn_alone(launch: &Launch) -> std::io::Result<Child> {
    let mut command = Command::new("/usr/bin/setsid");
    command.arg("/bin/sh");
    spawn(command, launch)
}

/// In a group of its own, where there is no such tool.
fn spawn_in_group(launch: &Launch) -> std::io::Result<Child> {
    use std::os::unix::process::CommandExt as _;

    let mut command = Command::new("/bin/sh");
    command.process_group(0);
    spawn(command, launch)
}

fn spawn(mut command: Command, launch: &Launch) -> std::io::Result<Child> {
    command
        .args(["-c", GATE, "command"])
        .args(&launch.run)
        .env_clear()
        .envs(launch.variables.iter().map(|(name, value)| (name, value)))
        .current_dir(&launch.folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

/// Opens the gate and gives the program its input, as far as it wants it.
fn feed(stdin: Option<ChildStdin>, packet: Vec<u8>) -> Result<(), NoThread> {
    let Some(mut stdin) = stdin else {
        return Ok(());
    };
    // A program that does not read its input is no fault.
    let write = move || drop(stdin.write_all(GO).and_then(|()| stdin.write_all(&packet)));
    thread::begin("input", write).map(drop)
}

fn capture(
    stream: Option<impl Read + Send + 'static>,
    limit_bytes: usize,
    tell: &Sender<Event>,
) -> Result<Arc<Mutex<Capture>>, NoThread> {
    let kept = Arc::new(Mutex::new(Capture::new(limit_bytes)));
    let (into, tell) = (Arc::downgrade(&kept), tell.clone());
    thread::begin("output", move || {
        let mut bytes = [0; 16 * 1024];
        let mut stream = stream;
        while let Some(read) = stream.as_mut().and_then(|it| read_some(it, &mut bytes)) {
            // The reader of the output is gone, and a daemon still writes.
            let Some(into) = into.upgrade() else {
                break;
            };
            lock(&into).push(&bytes[..read]);
        }
        drop(tell.send(Event::Closed));
    })?;
    Ok(kept)
}

/// How much was read; nothing at the end.
fn read_some(stream: &mut impl Read, bytes: &mut [u8]) -> Option<usize> {
    loop {
        match stream.read(bytes) {
            Ok(read) => return (read > 0).then_some(read),
            Err(why) if why.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

fn lock(kept: &Mutex<Capture>) -> MutexGuard<'_, Capture> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

fn text_of(kept: &Mutex<Capture>) -> String {
    lock(kept).text()
}

/// Tells when the process has ended, and leaves it to be waited for.
fn watch_exit(pid: u32, tell: Sender<Event>) -> Result<(), NoThread> {
    let watch = move || {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        if let Some(pid) = pid {
            let again = rustix::io::Errno::INTR;
            while waitid(WaitId::Pid(pid), options).is_err_and(|why| why == again) {}
        }
        drop(tell.send(Event::Exited));
    };
    thread::begin("exit", watch).map(drop)
}

fn start_timer(ms: u64, tell: Sender<Event>) -> Result<Sender<()>, NoThread> {
    let (keep, over) = mpsc::channel::<()>();
    thread::begin("timer", move || {
        let waited = over.recv_timeout(Duration::from_millis(ms));
        if waited == Err(mpsc::RecvTimeoutError::Timeout) {
            drop(tell.send(Event::TimeUp));
        }
    })?;
    Ok(keep)
}

/// What ended the program, and how many of its outputs are closed.
fn await_end(events: &Receiver<Event>) -> (Event, u32) {
    let mut closed = 0;
    loop {
        match events.recv() {
            Ok(Event::Closed) => closed += 1,
            Ok(cause) => return (cause, closed),
            Err(mpsc::RecvError) => return (Event::Exited, closed),
        }
    }
}

fn await_outputs(events: &Receiver<Event>, closed: u32) {
    let mut closed = closed;
    while closed < 2 {
        match events.recv_timeout(OUTPUT_GRACE) {
            Ok(Event::Closed) => closed += 1,
            Ok(Event::Exited | Event::TimeUp | Event::Stop) => {}
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_for_which_the_system_has_too_few_threads_does_not_run() {
        let folder = tempfile::tempdir().unwrap();
        let ran = folder.path().join("ran");
        for threads in 0.. {
            let launch = Launch {
                run: ["touch", "ran"].map(str::to_owned).to_vec(),
                variables: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
                folder: folder.path().to_owned(),
                mark: ("A_SOCIETY_CALL".to_owned(), format!("threads/{threads}")),
            };
            let held = Held::spawn(&launch).unwrap();
            let run = || held.run(b"{}".to_vec(), 10_000, 1_000, &StopSignal::default());
            let report = thread::with_threads(threads, run);
            match report {
                Ok(report) => {
                    assert_eq!((report.how, ran.exists()), (How::Exited(0), true));
                    assert_eq!(threads, 5);
                    return;
                }
                Err(why) => assert!(why.to_string().contains("gave no thread"), "{why}"),
            }
            assert!(!ran.exists(), "{threads}");
        }
    }

    /// What the end of this process looks like to the one at the gate: its input ends, perhaps in
    /// the middle of the line.
    #[test]
    fn a_gate_that_is_never_opened_lets_nothing_through() {
        let folder = tempfile::tempdir().unwrap();
        for begun in ["", "g", "go"] {
            let launch = Launch {
                run: ["touch", "ran"].map(str::to_owned).to_vec(),
                variables: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
                folder: folder.path().to_owned(),
                mark: ("A_SOCIETY_CALL".to_owned(), format!("gate/{begun}")),
            };
            let mut held = Held::spawn(&launch).unwrap();
            let mut stdin = held.stdin.take().unwrap();
            stdin.write_all(begun.as_bytes()).unwrap();
            drop(stdin);
            assert_eq!(held.child.wait().unwrap().code(), Some(125));
            held.is_over = true;
            assert!(!folder.path().join("ran").exists());
        }
    }
}
