//! A child process that does not outlive the value that holds it, and what every supervisor of one
//! needs: how it exits, a timer, and a loop that reads its pipes.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use a_society_facts::fact::journal::ProcessName;
use rustix::process::{WaitId, WaitIdOptions, waitid};

use super::tree::{self, Family, ProcessMark};
use crate::thread::{self, NoThread};

/// How a process exited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// The system did not tell.
    Unknown,
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        use std::os::unix::process::ExitStatusExt as _;

        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::Unknown,
        }
    }
}

/// A shell script and the program that it becomes.
#[derive(Debug)]
pub struct ShellStart<'s> {
    /// The script, which ends in `exec "$@"`.
    pub script: &'s str,
    /// The first is the script's `$0`; the others are the program and its arguments.
    pub words: &'s [&'s str],
    /// All variables of the program, except for the mark.
    pub variables: &'s [(&'s str, &'s str)],
    /// The variable by which everything that the program starts is found again.
    pub mark: &'s ProcessMark,
    /// Where it runs.
    pub folder: &'s Path,
}

/// A child process. It is killed with everything that it started when this value is dropped.
#[derive(Debug)]
pub struct Supervised {
    child: Child,
    mark: ProcessMark,
    is_over: bool,
}

impl Supervised {
    /// Supervises a child that leads a group or a session of its own.
    #[must_use]
    pub fn new(child: Child, mark: ProcessMark) -> Self {
        Self {
            child,
            mark,
            is_over: false,
        }
    }

    /// Starts a shell with three pipes and no variables but those that it is given.
    ///
    /// # Errors
    /// When the system starts no process there.
    pub fn spawn(start: &ShellStart<'_>) -> io::Result<Self> {
        use std::os::unix::process::CommandExt as _;

        // In a session of its own no terminal can be asked or written to.
        let mut alone = Command::new("/usr/bin/setsid");
        alone.arg("/bin/sh");
        let child = spawn(alone, start).or_else(|_| {
            // Where there is no such tool, a group of its own has to do.
            let mut grouped = Command::new("/bin/sh");
            grouped.process_group(0);
            spawn(grouped, start)
        })?;
        Ok(Self::new(child, start.mark.clone()))
    }

    /// Starts a program of the operator's own with the variables of this process and these besides, with an
    /// input and without any output. Its group is its own, so that Ctrl-C does not reach it.
    ///
    /// # Errors
    /// When no program is named, or the system does not start it.
    pub fn spawn_beside(
        words: &[String],
        variables: &[(&str, &str)],
        mark: &ProcessMark,
    ) -> io::Result<Self> {
        use std::os::unix::process::CommandExt as _;

        let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let (name, value) = mark.variable();
        let child = Command::new(program)
            .args(arguments)
            .envs(variables.iter().copied())
            .env(name, value)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(Self::new(child, mark.clone()))
    }

    /// Its number, which is its own until [`Self::wait`].
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What the journal calls it.
    #[must_use]
    pub fn name(&self) -> ProcessName {
        tree::name_of(self.pid())
    }

    /// What belongs to it.
    #[must_use]
    pub fn family(&self) -> Family<'_> {
        Family::Marked {
            leader: self.pid(),
            mark: &self.mark,
        }
    }

    /// Its input, once.
    pub fn take_input(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Its output, once.
    pub fn take_output(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// What it writes beside its output, once.
    pub fn take_errors(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// The variable by which what it starts is found.
    #[must_use]
    pub fn mark(&self) -> &ProcessMark {
        &self.mark
    }

    /// Waits until it has exited. From then on its number may be given to another process.
    pub fn wait(&mut self) -> Exit {
        let status = self.child.wait();
        self.is_over = true;
        status.map_or(Exit::Unknown, Exit::from)
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        if !self.is_over {
            self.family().kill();
            self.wait();
        }
    }
}

fn spawn(mut shell: Command, start: &ShellStart<'_>) -> io::Result<Child> {
    let (name, value) = start.mark.variable();
    shell
        .args(["-c", start.script])
        .args(start.words)
        .env_clear()
        .envs(start.variables.iter().copied())
        .env(name, value)
        .current_dir(start.folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

/// Blocks until a child has exited, and leaves it to be waited for, so that its number stays its own
/// until its whole family is gone.
#[must_use]
pub fn await_exit(pid: u32) -> Exit {
    let Some(pid) = tree::pid_of(pid) else {
        return Exit::Unknown;
    };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let status = loop {
        match waitid(WaitId::Pid(pid), options) {
            Err(why) if why == rustix::io::Errno::INTR => {}
            waited => break waited.ok().flatten(),
        }
    };
    let Some(status) = status else {
        return Exit::Unknown;
    };
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Unknown,
    }
}

/// A timer, which ends without ringing when it is dropped.
#[derive(Debug)]
pub struct Timer {
    _keep: Sender<()>,
}

impl Timer {
    /// Calls `ring` when the time is up.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(limit: Duration, ring: impl FnOnce() + Send + 'static) -> Result<Self, NoThread> {
        let (keep, over) = mpsc::channel::<()>();
        thread::begin("timer", move || {
            if over.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                ring();
            }
        })?;
        Ok(Self { _keep: keep })
    }
}

/// Reads a stream to its end, in pieces as large as the buffer at most, for as long as `hear` wants more.
pub fn read_pieces(stream: &mut impl Read, buffer: &mut [u8], mut hear: impl FnMut(&[u8]) -> bool) {
    loop {
        match stream.read(buffer) {
            Ok(0) => return,
            Ok(read) => {
                if !hear(buffer.get(..read).unwrap_or_default()) {
                    return;
                }
            }
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
