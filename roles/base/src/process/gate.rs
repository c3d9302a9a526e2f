//! A process that waits at a gate until its start is recorded, and is ended with all it started.
//!
//! The process that is spawned is a shell which reads one line from its standard input and only
//! then becomes the program. If this process dies before, the shell reads the end of its input and
//! exits. So a program that ran without being recorded cannot exist. What follows the line is the
//! program's own input.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::ChildStdin;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a_society_facts::fact::journal::ProcessName;

use super::capture::Capture;
use super::limits::{GRACE, OUTPUT_GRACE};
use super::supervise::{Exit, ShellStart, Supervised, Timer, await_exit, read_pieces};
use super::tree::{self, ProcessMark};
use crate::stop::StopSignal;
use crate::thread::{self, NoThread};

/// Waits for one line, and becomes the program that is named by its arguments.
const GATE: &str = r#"IFS= read -r gate && [ "$gate" = go ] || exit 125; unset gate; exec "$@""#;

/// The line that opens the gate.
const GO: &[u8] = b"go\n";

/// What is to be run.
#[derive(Debug)]
pub struct ProcessLaunch {
    /// The program and its arguments.
    pub run: Vec<String>,
    /// All that it finds in its environment.
    pub variables: Vec<(String, String)>,
    /// Where it runs.
    pub folder: PathBuf,
    /// The variable by which what it starts is found again.
    pub mark: ProcessMark,
}

/// A process at its gate. One that is dropped never runs: the gate reads the end of its input first.
#[derive(Debug)]
pub struct Gated {
    stdin: Option<ChildStdin>,
    process: Supervised,
}

/// Why a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitCause {
    /// By itself.
    Exited(u8),
    /// By a signal that was not ours.
    Signalled(i32),
    /// We ended it at its time limit.
    TimedOut,
    /// We ended it because the turn was stopped.
    Stopped,
}

/// What is known of a program that ran.
#[derive(Debug)]
pub struct GateReport {
    /// Why it ended.
    pub cause: ExitCause,
    /// What it printed, within the limit.
    pub stdout: String,
    /// What it printed beside, within the limit.
    pub stderr: String,
    /// Whether it printed more than that.
    pub is_cut: bool,
    /// The processes that could not be ended.
    pub survivors: Vec<u32>,
}

/// Something that happens while a program runs.
#[derive(Debug)]
enum GateEvent {
    Exited,
    Closed,
    TimeUp,
    Stop,
}

impl Gated {
    /// Spawns the process. It waits.
    ///
    /// # Errors
    /// When there is nothing to run, or the system does not start it there.
    pub fn spawn(launch: &ProcessLaunch) -> Result<Self, String> {
        // The shell at the gate would become nothing, and call that a success.
        if launch.run.is_empty() {
            return Err("The command is empty.".to_owned());
        }
        let program = launch.run.iter().map(String::as_str);
        let words: Vec<&str> = std::iter::once("command").chain(program).collect();
        let variables = launch.variables.iter();
        let variables: Vec<(&str, &str)> = variables
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let start = ShellStart {
            script: GATE,
            words: &words,
            variables: &variables,
            mark: &launch.mark,
            folder: &launch.folder,
        };
        let mut process = Supervised::spawn(&start).map_err(|why| {
            let folder = launch.folder.display();
            format!("The command could not be started in {folder}: {why}.")
        })?;
        Ok(Self {
            stdin: process.take_input(),
            process,
        })
    }

    /// What the journal calls it.
    #[must_use]
    pub fn name(&self) -> ProcessName {
        self.process.name()
    }

    /// Opens the gate and waits until the program is over, one way or another.
    ///
    /// # Errors
    /// When the system has no thread left. The gate stays closed then.
    pub fn run(
        mut self,
        packet: Vec<u8>,
        time_limit_ms: u64,
        output_limit_bytes: usize,
        stop: &StopSignal,
    ) -> Result<GateReport, NoThread> {
        let (tell, events) = mpsc::channel();
        let stdout = capture(self.process.take_output(), output_limit_bytes, &tell)?;
        let stderr = capture(self.process.take_errors(), output_limit_bytes, &tell)?;
        let (pid, exited, rings) = (self.process.pid(), tell.clone(), tell.clone());
        thread::begin("exit", move || {
            let _exit = await_exit(pid);
            drop(exited.send(GateEvent::Exited));
        })?;
        let _timer = Timer::start(Duration::from_millis(time_limit_ms), move || {
            drop(rings.send(GateEvent::TimeUp));
        })?;
        let stdin = self.stdin.take();
        if !stop.is_raised() {
            feed(stdin, packet)?;
        }
        stop.when_raised(move || drop(tell.send(GateEvent::Stop)));

        let (event, closed) = await_end(&events);
        let survivors = match event {
            GateEvent::TimeUp | GateEvent::Stop => self.process.family().end(GRACE),
            GateEvent::Exited | GateEvent::Closed => {
                tree::kill_group(pid);
                Vec::new()
            }
        };
        await_outputs(&events, closed);
        Ok(GateReport {
            cause: self.cause(&event),
            stdout: text_of(&stdout),
            stderr: text_of(&stderr),
            is_cut: lock(&stdout).is_cut() || lock(&stderr).is_cut(),
            survivors,
        })
    }

    /// Why it ended. Only now is it waited for, so that its number was its own until here.
    fn cause(&mut self, event: &GateEvent) -> ExitCause {
        let exit = self.process.wait();
        match event {
            GateEvent::TimeUp => return ExitCause::TimedOut,
            GateEvent::Stop => return ExitCause::Stopped,
            GateEvent::Exited | GateEvent::Closed => {}
        }
        match exit {
            Exit::Code(code) => {
                u8::try_from(code).map_or(ExitCause::Signalled(0), ExitCause::Exited)
            }
            Exit::Signal(signal) => ExitCause::Signalled(signal),
            Exit::Unknown => ExitCause::Signalled(0),
        }
    }
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
    tell: &Sender<GateEvent>,
) -> Result<Arc<Mutex<Capture>>, NoThread> {
    let kept = Arc::new(Mutex::new(Capture::new(limit_bytes)));
    let (into, tell) = (Arc::downgrade(&kept), tell.clone());
    thread::begin("output", move || {
        if let Some(mut stream) = stream {
            read_pieces(&mut stream, &mut [0; 16 * 1024], |bytes| {
                // The output may not be wanted any more, while a daemon still writes.
                let into = into.upgrade();
                into.is_some_and(|into| {
                    lock(&into).push(bytes);
                    true
                })
            });
        }
        drop(tell.send(GateEvent::Closed));
    })?;
    Ok(kept)
}

fn lock(kept: &Mutex<Capture>) -> MutexGuard<'_, Capture> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

fn text_of(kept: &Mutex<Capture>) -> String {
    lock(kept).text()
}

/// What ended the program, and how many of its outputs are closed.
fn await_end(events: &Receiver<GateEvent>) -> (GateEvent, u32) {
    let mut closed = 0;
    loop {
        match events.recv() {
            Ok(GateEvent::Closed) => closed += 1,
            Ok(cause) => return (cause, closed),
            Err(mpsc::RecvError) => return (GateEvent::Exited, closed),
        }
    }
}

fn await_outputs(events: &Receiver<GateEvent>, closed: u32) {
    let mut closed = closed;
    while closed < 2 {
        match events.recv_timeout(OUTPUT_GRACE) {
            Ok(GateEvent::Closed) => closed += 1,
            Ok(GateEvent::Exited | GateEvent::TimeUp | GateEvent::Stop) => {}
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
            let launch = ProcessLaunch {
                run: ["touch", "ran"].map(str::to_owned).to_vec(),
                variables: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
                folder: folder.path().to_owned(),
                mark: ProcessMark::new("A_SOCIETY_CALL", format!("threads/{threads}")),
            };
            let held = Gated::spawn(&launch).unwrap();
            let run = || held.run(b"{}".to_vec(), 10_000, 1_000, &StopSignal::default());
            let report = thread::with_threads(threads, run);
            match report {
                Ok(report) => {
                    assert_eq!((report.cause, ran.exists()), (ExitCause::Exited(0), true));
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
            let launch = ProcessLaunch {
                run: ["touch", "ran"].map(str::to_owned).to_vec(),
                variables: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
                folder: folder.path().to_owned(),
                mark: ProcessMark::new("A_SOCIETY_CALL", format!("gate/{begun}")),
            };
            let mut held = Gated::spawn(&launch).unwrap();
            let mut stdin = held.stdin.take().unwrap();
            stdin.write_all(begun.as_bytes()).unwrap();
            drop(stdin);
            assert_eq!(held.process.wait(), Exit::Code(125));
            assert!(!folder.path().join("ran").exists());
        }
    }
}
