//! A command at its gate, from our side: the guard that holds it.

use std::io::{BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use a_society_base::process::capture::Capture;
use a_society_base::process::supervise::{Supervised, Timer};
use a_society_base::process::tree::{Family, ProcessMark};
use a_society_base::redact::{RedactedStream, Redactor};
use a_society_base::stop::StopSignal;
use a_society_base::thread::NoThread;
use a_society_facts::fact::journal::ProcessName;

use super::frame::{self, CommandEnd, GO, GuardFrame, GuardOrder, GuardReport};
use super::limits::GUARD_GRACE;
use super::spaces;
use crate::tool::output::Length;
use crate::tool::stopwatch::Stopwatch;

/// A command that waits at its gate. One that is dropped never runs: its guard reads the end of its
/// input first, and exits by itself.
#[derive(Debug)]
pub(in super::super) struct HeldCommand {
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    guard: Supervised,
    time_limit: Duration,
}

/// What a command that ran came to.
#[derive(Debug)]
pub(super) struct Ran {
    pub report: GuardReport,
    pub output: String,
    /// How long the output was, if a part of it was dropped.
    pub full: Option<Length>,
    pub took: Duration,
}

/// The gate stays closed.
fn not_started(why: &NoThread) -> GuardReport {
    GuardReport {
        end: CommandEnd::NotStarted(format!("The command did not run: {why}.")),
        missing: Vec::new(),
        survivors: Vec::new(),
    }
}

impl HeldCommand {
    /// Starts the guard, and waits until it is one.
    pub(super) fn spawn(
        guard: &[String],
        order: &GuardOrder,
        mark: ProcessMark,
    ) -> Result<Self, String> {
        let mut order = order.clone();
        let (name, value) = mark.variable();
        order.variables.push((name.to_owned(), value.to_owned()));
        let mut words = Vec::new();
        if order.walls.spaces.are_there() {
            words.extend(spaces::words(&order.walls));
        }
        words.extend(guard.iter().cloned());
        let child = start(&words, &mark, order.walls.spaces.are_there())
            .map_err(|why| format!("The guard of commands could not be started: {why}."))?;
        let mut guard = Supervised::new(child, mark);
        let stdout = guard.take_output();
        let stdout = stdout.ok_or("The guard of commands has no output.")?;
        let mut held = Self {
            stdin: guard.take_input(),
            stdout: BufReader::new(stdout),
            guard,
            time_limit: Duration::from_millis(order.time_limit_ms),
        };
        let mut line = serde_json::to_vec(&order).map_err(|why| why.to_string())?;
        line.push(b'\n');
        let _timer = held
            .start_timer(GUARD_GRACE)
            .map_err(|why| format!("The command was not started: {why}."))?;
        let told = held
            .stdin
            .as_mut()
            .map_or(Ok(()), |stdin| stdin.write_all(&line));
        told.and_then(|()| frame::await_ready(&mut held.stdout))
            .map_err(|why| format!("The guard of commands did not answer: {why}."))?;
        Ok(held)
    }

    /// What the journal calls it.
    pub(in super::super) fn name(&self) -> ProcessName {
        self.guard.name()
    }

    /// How long it may take.
    pub(super) fn time_limit_ms(&self) -> u64 {
        u64::try_from(self.time_limit.as_millis()).unwrap_or(u64::MAX)
    }

    /// Opens the gate and waits until everything has ended, one way or another.
    pub(super) fn run(self, redactor: &Redactor, limit: usize, stop: &StopSignal) -> Ran {
        let mut text = CommandText::new(redactor, limit);
        let (report, took) = self.run_into(&mut |bytes| text.push(bytes), stop);
        let (output, full) = text.finish();
        Ran {
            report,
            output,
            full,
            took,
        }
    }

    /// The same, and what is written is handed on piece by piece.
    pub(super) fn run_into(
        mut self,
        hear: &mut dyn FnMut(&[u8]),
        stop: &StopSignal,
    ) -> (GuardReport, Duration) {
        let begun = Stopwatch::start();
        let _timer = match self.start_timer(self.time_limit + GUARD_GRACE) {
            Ok(timer) => timer,
            Err(why) => return (not_started(&why), begun.elapsed()),
        };
        let stdin = Arc::new(Mutex::new(self.stdin.take()));
        let opened = with(&stdin, |it| writeln!(it, "{GO}"));
        let at_stop = Arc::clone(&stdin);
        // The end of its input ends the guard, and the guard all that it started.
        stop.when_raised(move || drop(lock(&at_stop).take()));
        let report = loop {
            match frame::read(&mut self.stdout) {
                Ok(Some(GuardFrame::Output(bytes))) => hear(&bytes),
                Ok(Some(GuardFrame::End(report))) => break report,
                Ok(None) | Err(_) => break self.lost(opened.is_ok()),
            }
        };
        let took = begun.elapsed();
        drop(lock(&stdin).take());
        self.guard.wait();
        (report, took)
    }

    /// The guard is gone, and nothing else ends what it started.
    fn lost(&self, was_opened: bool) -> GuardReport {
        let survivors = self.guard.family().kill();
        let why = if was_opened {
            "The guard of the command was lost. What the command did is not known: check it before \
             you run it again."
        } else {
            "The guard of the command was lost before it ran."
        };
        GuardReport {
            end: CommandEnd::NotStarted(why.to_owned()),
            missing: Vec::new(),
            survivors,
        }
    }

    /// A guard that hangs is killed, with all that it started.
    fn start_timer(&self, limit: Duration) -> Result<Timer, NoThread> {
        let (leader, mark) = (self.guard.pid(), self.guard.mark().clone());
        Timer::start(limit, move || {
            let mark = &mark;
            Family::Marked { leader, mark }.kill();
        })
    }
}

fn start(words: &[String], mark: &ProcessMark, has_spaces: bool) -> std::io::Result<Child> {
    use std::os::unix::process::CommandExt as _;

    let Some((program, arguments)) = words.split_first() else {
        return Err(std::io::Error::other("it has no name"));
    };
    let (name, value) = mark.variable();
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .env(name, value)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    if has_spaces {
        // Without, the guard makes a session of its own, which a leader of a group cannot.
        command.process_group(0);
    }
    command.spawn()
}

fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with<T: Write>(
    of: &Mutex<Option<T>>,
    write: impl FnOnce(&mut T) -> std::io::Result<()>,
) -> std::io::Result<()> {
    match lock(of).as_mut() {
        Some(it) => write(it).and_then(|()| it.flush()),
        None => Err(std::io::ErrorKind::BrokenPipe.into()),
    }
}

/// What a command writes: text without secrets, its beginning and its end.
#[derive(Debug)]
pub(super) struct CommandText {
    stream: RedactedStream,
    /// The beginning of a character whose end has not arrived.
    torn: Vec<u8>,
    kept: Capture,
    redactor: Redactor,
    limit: usize,
}

impl CommandText {
    pub(super) fn new(redactor: &Redactor, limit: usize) -> Self {
        Self {
            stream: RedactedStream::new(redactor.clone()),
            torn: Vec::new(),
            kept: Capture::new(limit),
            redactor: redactor.clone(),
            limit,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.torn.extend_from_slice(bytes);
        let torn = std::mem::take(&mut self.torn);
        let mut text = String::new();
        let mut chunks = torn.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            let invalid = chunk.invalid();
            if invalid.is_empty() {
                continue;
            }
            if chunks.peek().is_none() && is_begun(invalid) {
                self.torn = invalid.to_vec();
            } else {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        self.kept.push(self.stream.push(&text).as_bytes());
    }

    /// The text, and how long it was if a part of it was dropped.
    pub(super) fn finish(mut self) -> (String, Option<Length>) {
        self.take(true)
    }

    /// The text since it was taken last. At its end nothing is held back.
    pub(super) fn take(&mut self, is_over: bool) -> (String, Option<Length>) {
        if is_over {
            if !std::mem::take(&mut self.torn).is_empty() {
                let last = self.stream.push("\u{fffd}");
                self.kept.push(last.as_bytes());
            }
            let rest =
                std::mem::replace(&mut self.stream, RedactedStream::new(self.redactor.clone()));
            self.kept.push(rest.finish().as_bytes());
        }
        let kept = std::mem::replace(&mut self.kept, Capture::new(self.limit));
        let full = kept.is_cut().then(|| Length {
            bytes: kept.bytes(),
            lines: kept.lines(),
        });
        (kept.text(), full)
    }
}

/// Whether bytes at the end could become a character with those that follow.
fn is_begun(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|why| why.error_len().is_none())
}
