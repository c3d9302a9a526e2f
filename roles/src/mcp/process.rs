//! The process of a server: alone with its pipes, and ended with all that it started.
//!
//! What is spawned is a shell that starts a watcher and then becomes the server. The watcher waits
//! at the end of a pipe whose other end is ours alone; when we die, however we die, the pipe ends,
//! and the watcher kills the whole group, itself included. While we live, everything that the
//! server started is found by its group and by a variable that names the server.

use std::collections::BTreeMap;
use std::io::{PipeWriter, Read};
use std::os::fd::AsRawFd;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::io::FdFlags;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use tokio::sync::watch;

use super::limits::{ASIDE_BYTES, ASIDE_SHOWN_BYTES, END_GRACE};
use super::plain;
use crate::taker::command::tree::{self, Mark};
use crate::thread::{self, NoThread};
use crate::tool::redact::Redactor;

/// Starts the watcher, and becomes the program that is named by its arguments. The first argument
/// names the watcher's pipe.
const BECOME: &str = r#"
( IFS= read -r gone; kill -s KILL -- "-$$" ) <"$0" >/dev/null 2>&1 &
exec "$@"
"#;

/// The variable by which what a server starts is found again.
const MARK: &str = "A_SOCIETY_MCP_SERVER";

/// What is to be run.
#[derive(Debug)]
pub(super) struct Launch<'t> {
    pub(super) server: &'t str,
    pub(super) command: &'t str,
    pub(super) arguments: &'t [String],
    pub(super) variables: BTreeMap<String, String>,
    pub(super) folder: &'t str,
}

/// A server that runs.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    pid: u32,
    mark: Mark,
    /// Its end is what the watcher waits for.
    _lifeline: PipeWriter,
    aside: Aside,
    end: watch::Receiver<Option<End>>,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Exited(i32),
    Signalled(i32),
    Unknown,
}

/// The end of a server's stderr.
#[derive(Debug, Clone, Default)]
pub(super) struct Aside(Arc<Mutex<Vec<u8>>>);

impl Aside {
    pub(super) fn push(&self, bytes: &[u8]) {
        let mut kept = lock(&self.0);
        let bytes = bytes
            .get(bytes.len().saturating_sub(ASIDE_BYTES)..)
            .unwrap_or(bytes);
        let excess = (kept.len() + bytes.len()).saturating_sub(ASIDE_BYTES);
        let excess = excess.min(kept.len());
        kept.drain(..excess);
        kept.extend_from_slice(bytes);
    }

    /// As part of a sentence; empty if stderr was empty.
    pub(super) fn shown(&self, redactor: &Redactor) -> String {
        let text = String::from_utf8_lossy(&lock(&self.0)).into_owned();
        let text = redactor.redact(&text);
        plain::tail(&plain::line(&text), ASIDE_SHOWN_BYTES)
    }
}

impl Process {
    /// Spawns the server.
    pub(super) fn start(launch: &Launch<'_>) -> Result<(Self, ChildStdin, ChildStdout), String> {
        let cannot = |why: std::io::Error| format!("It could not be started: {why}.");
        let (watched, lifeline) = std::io::pipe().map_err(cannot)?;
        // Only this end is inherited. Other programs that are spawned in this moment inherit it
        // too, and can do nothing with it.
        rustix::io::fcntl_setfd(&watched, FdFlags::empty()).map_err(|why| cannot(why.into()))?;
        let watched_path = format!("/dev/fd/{}", watched.as_raw_fd());
        let mark = (MARK.to_owned(), unique_mark(launch.server));
        let mut child = spawn_alone(launch, &watched_path, &mark)
            .or_else(|_| spawn_in_group(launch, &watched_path, &mark))
            .map_err(cannot)?;
        drop(watched);
        let pipes = (child.stdin.take(), child.stdout.take());
        let stderr = child.stderr.take();
        let pid = child.id();
        let (tell, end) = watch::channel(None);
        // A server whose handle is dropped is ended with this value.
        let process = Self {
            end,
            child,
            pid,
            mark: Mark::new(&mark),
            _lifeline: lifeline,
            aside: Aside::default(),
        };
        listen(stderr, process.aside.clone())
            .and_then(|()| watch_exit(pid, tell))
            .map_err(|why| format!("It could not be started: {why}."))?;
        match pipes {
            (Some(stdin), Some(stdout)) => Ok((process, stdin, stdout)),
            _ => Err("It has no pipes.".to_owned()),
        }
    }

    /// Its stderr.
    pub(super) fn aside(&self) -> &Aside {
        &self.aside
    }

    /// Whether it still runs.
    pub(super) fn is_alive(&self) -> bool {
        self.end.borrow().is_none()
    }

    /// Waits until it has ended and its last output can be read.
    pub(super) async fn gone(&self, last_words: Duration) {
        let mut end = self.end.clone();
        // The sender is dropped only after it has reported the end.
        let _said = end.wait_for(Option::is_some).await;
        tokio::time::sleep(last_words).await;
    }

    /// How it ended, in words, if it did.
    pub(super) fn end_in_words(&self) -> Option<String> {
        let end = *self.end.borrow();
        Some(match end? {
            End::Exited(127) => "its program was not found (exit code 127)".to_owned(),
            End::Exited(code) => format!("it ended with exit code {code}"),
            End::Signalled(signal) => format!("it was ended by signal {signal}"),
            End::Unknown => "it ended".to_owned(),
        })
    }

    /// Ends it and all that it started: asks first, then kills.
    pub(super) fn leave(&self) {
        let _left = tree::end(self.pid, &self.mark, END_GRACE);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _left = tree::kill(self.pid, &self.mark);
        let _status = self.child.wait();
    }
}

/// No two servers of this machine bear the same mark at the same time.
fn unique_mark(server: &str) -> String {
    static STARTED: AtomicU64 = AtomicU64::new(0);
    let number = STARTED.fetch_add(1, Ordering::Relaxed);
    format!("{server}/{}/{number}", std::process::id())
}

/// In a session of its own, where no terminal can be asked or written to.
fn spawn_alone(
    launch: &Launch<'_>,
    watched: &str,
    mark: &(String, String),
) -> std::io::Result<Child> {
    let mut command = Command::new("/usr/bin/setsid");
    command.arg("/bin/sh");
    spawn(command, launch, watched, mark)
}

/// In a group of its own, where there is no such tool.
fn spawn_in_group(
    launch: &Launch<'_>,
    watched: &str,
    mark: &(String, String),
) -> std::io::Result<Child> {
    use std::os::unix::process::CommandExt as _;

    let mut command = Command::new("/bin/sh");
    command.process_group(0);
    spawn(command, launch, watched, mark)
}

fn spawn(
    mut command: Command,
    launch: &Launch<'_>,
    watched: &str,
    (name, value): &(String, String),
) -> std::io::Result<Child> {
    command
        .args(["-c", BECOME, watched, launch.command])
        .args(launch.arguments)
        .env_clear()
        .envs(&launch.variables)
        .env(name, value)
        .current_dir(launch.folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

/// Keeps the end of what comes, for as long as it comes.
fn listen(stream: Option<impl Read + Send + 'static>, aside: Aside) -> Result<(), NoThread> {
    let Some(mut stream) = stream else {
        return Ok(());
    };
    let keep = move || {
        let mut bytes = [0; 4 * 1024];
        loop {
            match stream.read(&mut bytes) {
                Ok(0) => return,
                Ok(read) => aside.push(bytes.get(..read).unwrap_or(&bytes)),
                Err(why) if why.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    };
    thread::begin("aside", keep).map(drop)
}

/// Tells how the process has ended, and leaves it to be waited for, so that its number stays its
/// own until its whole group is gone.
fn watch_exit(pid: u32, tell: watch::Sender<Option<End>>) -> Result<(), NoThread> {
    let watch = move || {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        tell.send_replace(Some(pid.map_or(End::Unknown, end_of)));
    };
    thread::begin("exit", watch).map(drop)
}

fn end_of(pid: Pid) -> End {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let status = loop {
        match waitid(WaitId::Pid(pid), options) {
            Err(why) if why == rustix::io::Errno::INTR => {}
            waited => break waited.ok().flatten(),
        }
    };
    let Some(status) = status else {
        return End::Unknown;
    };
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => End::Exited(code),
        (None, Some(signal)) => End::Signalled(signal),
        (None, None) => End::Unknown,
    }
}

fn lock<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::io::BufRead as _;
    use std::path::Path;

    use super::*;

    fn start(script: &str) -> (Process, ChildStdin, ChildStdout) {
        let arguments = ["-c".to_owned(), script.to_owned()];
        let launch = Launch {
            server: "test",
            command: "/bin/sh",
            arguments: &arguments,
            variables: [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into(),
            folder: "/",
        };
        Process::start(&launch).unwrap()
    }

    fn first_line(stdout: ChildStdout) -> String {
        let mut line = String::new();
        std::io::BufReader::new(stdout)
            .read_line(&mut line)
            .unwrap();
        line.trim().to_owned()
    }

    fn runs(pid: &str) -> bool {
        let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
        stat.is_ok_and(|stat| !stat.contains(") Z ") && !stat.contains(") X "))
    }

    fn ends(pid: &str) -> bool {
        (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            !runs(pid)
        })
    }

    const WITH_CHILDREN: &str = "sleep 900 & a=$!; setsid sleep 900 & b=$!; echo $$ $a $b; wait";

    #[test]
    fn a_server_that_is_dropped_takes_all_that_it_started_with_it() {
        let (process, _stdin, stdout) = start(WITH_CHILDREN);
        let line = first_line(stdout);
        let pids: Vec<&str> = line.split(' ').collect();
        assert!(
            pids.len() == 3 && pids.iter().all(|pid| runs(pid)),
            "{line}"
        );
        drop(process);
        assert!(pids.iter().all(|pid| ends(pid)), "{line}");
    }

    /// What our own end looks like to the watcher: its pipe ends.
    #[test]
    fn a_server_dies_with_us_and_so_does_its_group() {
        let (mut process, _stdin, stdout) =
            start("trap '' TERM HUP INT; sleep 900 & echo $$ $!; wait");
        let line = first_line(stdout);
        let pids: Vec<&str> = line.split(' ').collect();
        assert!(
            pids.len() == 2 && pids.iter().all(|pid| runs(pid)),
            "{line}"
        );
        let (_, other) = std::io::pipe().unwrap();
        drop(std::mem::replace(&mut process._lifeline, other));
        assert!(pids.iter().all(|pid| ends(pid)), "{line}");
    }

    #[test]
    fn the_environment_is_what_was_given() {
        let (_process, _stdin, stdout) = start("exec env");
        let mut text = String::new();
        std::io::BufReader::new(stdout)
            .read_to_string(&mut text)
            .unwrap();
        let mut names: Vec<&str> = text
            .lines()
            .filter_map(|line| line.split('=').next())
            .collect();
        names.sort_unstable();
        names.retain(|name| !matches!(*name, "PWD" | "OLDPWD" | "SHLVL" | "_"));
        assert_eq!(names, [MARK, "PATH"], "{text}");
    }

    #[test]
    fn how_it_ended_is_told_with_what_it_said_last() {
        let (process, stdin, stdout) = start("echo bad thing >&2; exit 3");
        drop((stdin, first_line(stdout)));
        let ended = (0..500).find_map(|_| {
            std::thread::sleep(Duration::from_millis(10));
            process
                .end_in_words()
                .filter(|_| !process.aside().shown(&Redactor::new(&[])).is_empty())
        });
        assert_eq!(ended.as_deref(), Some("it ended with exit code 3"));
        assert_eq!(process.aside().shown(&Redactor::new(&[])), "bad thing");
    }

    #[test]
    fn only_the_end_of_what_is_said_aside_is_kept() {
        let aside = Aside::default();
        for _ in 0..3 {
            aside.push(&vec![b'x'; ASIDE_BYTES]);
        }
        aside.push(b"end");
        assert_eq!(lock(&aside.0).len(), ASIDE_BYTES);
        assert!(aside.shown(&Redactor::new(&[])).ends_with("xend"));
    }
}
