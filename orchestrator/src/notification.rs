//! One run of the operator's notification command, held by the supervisor of all child processes.

use std::io::{self, PipeReader, Write as _};
use std::os::fd::{AsFd, BorrowedFd};

use a_society_base::process::supervise::{Exit, Supervised, await_exit};
use a_society_base::process::tree::ProcessMark;
use a_society_base::thread;
use a_society_facts::id::ClientId;

use crate::mint::{self, SystemMint};

/// The variable by which what the command starts is found again.
const MARK: &str = "A_SOCIETY_NOTIFICATION";

/// A notification command that runs. It is ended with all that it started when this is dropped before
/// [`Self::outcome`].
#[derive(Debug)]
pub struct NotifyCommand {
    child: Supervised,
    exited: PipeReader,
}

impl AsFd for NotifyCommand {
    /// Can be read from once the command has exited.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.exited.as_fd()
    }
}

impl NotifyCommand {
    /// Starts the command, with these variables besides those of this process, and gives it its input.
    ///
    /// # Errors
    /// When the system does not start it.
    pub fn start(command: &[String], variables: &[(&str, &str)], input: &str) -> io::Result<Self> {
        let value: ClientId = mint::name(&mut SystemMint, "notify").map_err(io::Error::other)?;
        let mark = ProcessMark::new(MARK, value.to_string());
        let mut child = Supervised::spawn_beside(command, variables, &mark)?;
        if let Some(mut pipe) = child.take_input() {
            // A command that does not read it is fine; it fits into any pipe.
            drop(pipe.write_all(input.as_bytes()));
        }
        let (exited, exits) = io::pipe()?;
        let pid = child.pid();
        let waits = thread::begin("notify-exit", move || {
            let _exit = await_exit(pid);
            drop(exits);
        });
        waits.map_err(io::Error::other)?;
        Ok(Self { child, exited })
    }

    /// How it exited; this waits for it. What it left running goes on.
    ///
    /// # Errors
    /// In words, when it failed.
    pub fn outcome(mut self) -> Result<(), String> {
        match self.child.wait() {
            Exit::Code(0) => Ok(()),
            Exit::Code(code) => Err(format!("exit status: {code}")),
            Exit::Signal(signal) => Err(format!("signal: {signal}")),
            Exit::Unknown => Err("its exit status is not known".to_owned()),
        }
    }
}
