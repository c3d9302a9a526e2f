//! The process of a server: alone with its pipes, and ended with all that it started.
//!
//! What is spawned is a shell that starts a watcher and then becomes the server. The watcher waits
//! at the end of a pipe whose other end is ours alone; when we die, however we die, the pipe ends,
//! and the watcher kills the whole group, itself included. While we live, everything that the
//! server started is found by its group and by a variable that names the server.

use std::collections::BTreeMap;
use std::io::PipeWriter;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a_society_base::process::supervise::{Exit, ShellStart, Supervised, await_exit, read_pieces};
use a_society_base::process::tree::ProcessMark;
use a_society_base::redact::Redactor;
use a_society_base::thread::{self, NoThread};
use rustix::io::FdFlags;
use tokio::sync::watch;

use super::limits::{ASIDE_BYTES, ASIDE_SHOWN_BYTES, END_GRACE};
use super::plain;

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
pub(super) struct ServerLaunch<'t> {
    pub(super) server: &'t str,
    pub(super) command: &'t str,
    pub(super) arguments: &'t [String],
    pub(super) variables: BTreeMap<String, String>,
    pub(super) folder: &'t str,
}

/// A server that runs. It is killed with all that it started when this is dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Supervised,
    /// Its end is what the watcher waits for.
    _lifeline: PipeWriter,
    aside: StderrTail,
    exit: watch::Receiver<Option<Exit>>,
}

/// The end of a server's stderr.
#[derive(Debug, Clone, Default)]
pub(super) struct StderrTail(Arc<Mutex<Vec<u8>>>);

impl StderrTail {
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
    pub(super) fn start(
        launch: &ServerLaunch<'_>,
    ) -> Result<(Self, ChildStdin, ChildStdout), String> {
        let cannot = |why: std::io::Error| format!("It could not be started: {why}.");
        let (watched, lifeline) = std::io::pipe().map_err(cannot)?;
        // Only this end is inherited. Other programs that are spawned in this moment inherit it
        // too, and can do nothing with it.
        rustix::io::fcntl_setfd(&watched, FdFlags::empty()).map_err(|why| cannot(why.into()))?;
        let watched_path = format!("/dev/fd/{}", watched.as_raw_fd());
        let mark = ProcessMark::new(MARK, unique_mark(launch.server));
        let arguments = launch.arguments.iter().map(String::as_str);
        let words: Vec<&str> = [watched_path.as_str(), launch.command]
            .into_iter()
            .chain(arguments)
            .collect();
        let variables = launch.variables.iter();
        let variables: Vec<(&str, &str)> = variables
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let start = ShellStart {
            script: BECOME,
            words: &words,
            variables: &variables,
            mark: &mark,
            folder: Path::new(launch.folder),
        };
        let mut child = Supervised::spawn(&start).map_err(cannot)?;
        drop(watched);
        let (pipes, stderr) = (
            (child.take_input(), child.take_output()),
            child.take_errors(),
        );
        let (tell, exit) = watch::channel(None);
        let process = Self {
            exit,
            child,
            _lifeline: lifeline,
            aside: StderrTail::default(),
        };
        process
            .watch(stderr, tell)
            .map_err(|why| format!("It could not be started: {why}."))?;
        match pipes {
            (Some(stdin), Some(stdout)) => Ok((process, stdin, stdout)),
            _ => Err("It has no pipes.".to_owned()),
        }
    }

    /// Keeps what it says aside, and tells how it exits.
    fn watch(
        &self,
        stderr: Option<ChildStderr>,
        tell: watch::Sender<Option<Exit>>,
    ) -> Result<(), NoThread> {
        if let Some(mut stderr) = stderr {
            let aside = self.aside.clone();
            thread::begin("aside", move || {
                read_pieces(&mut stderr, &mut [0; 4 * 1024], |piece| {
                    aside.push(piece);
                    true
                });
            })?;
        }
        let pid = self.child.pid();
        let watch = move || {
            tell.send_replace(Some(await_exit(pid)));
        };
        thread::begin("exit", watch).map(drop)
    }

    /// What it said beside the protocol.
    pub(super) fn aside(&self) -> &StderrTail {
        &self.aside
    }

    /// Whether it still runs.
    pub(super) fn is_alive(&self) -> bool {
        self.exit.borrow().is_none()
    }

    /// Waits until it has ended and its last output can be read.
    pub(super) async fn gone(&self, last_words: Duration) {
        let mut exit = self.exit.clone();
        // The sender is dropped only after it has said so.
        let _said = exit.wait_for(Option::is_some).await;
        tokio::time::sleep(last_words).await;
    }

    /// How it ended, in words, if it did.
    pub(super) fn end_in_words(&self) -> Option<String> {
        let exit = *self.exit.borrow();
        Some(match exit? {
            Exit::Code(127) => "its program was not found (exit code 127)".to_owned(),
            Exit::Code(code) => format!("it ended with exit code {code}"),
            Exit::Signal(signal) => format!("it was ended by signal {signal}"),
            Exit::Unknown => "it ended".to_owned(),
        })
    }

    /// Ends it and all that it started: asks first, then kills.
    pub(super) fn leave(&self) {
        let _left = self.child.family().end(END_GRACE);
    }
}

/// No two servers of this machine bear the same mark at the same time.
fn unique_mark(server: &str) -> String {
    static STARTED: AtomicU64 = AtomicU64::new(0);
    let number = STARTED.fetch_add(1, Ordering::Relaxed);
    format!("{server}/{}/{number}", std::process::id())
}

fn lock<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, Read as _};

    use super::*;

    fn start(script: &str) -> (Process, ChildStdin, ChildStdout) {
        let arguments = ["-c".to_owned(), script.to_owned()];
        let launch = ServerLaunch {
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
        let aside = StderrTail::default();
        for _ in 0..3 {
            aside.push(&vec![b'x'; ASIDE_BYTES]);
        }
        aside.push(b"end");
        assert_eq!(lock(&aside.0).len(), ASIDE_BYTES);
        assert!(aside.shown(&Redactor::new(&[])).ends_with("xend"));
    }
}
