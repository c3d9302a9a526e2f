//! A driver for a chat that no process drives: this program, in a process of its own, which goes on when the sender
//! ends.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use a_society_state::{FlowRef, Store};

use crate::config::programs;
use crate::project::place::workspace_of;

/// How often one is started for one message. A driver that ends at once would end again.
const STARTS_MAX: u32 = 3;

/// Starts drivers of one chat, one at a time.
#[derive(Debug)]
pub(super) struct DriverStarts {
    words: Vec<OsString>,
    begun: Mutex<(u32, Option<Child>)>,
}

impl DriverStarts {
    /// For a chat of this store. A store without locks has to say so.
    pub(super) fn new(store: &Store, flow: &FlowRef, without_locks: bool) -> Self {
        let mut words: Vec<OsString> = vec!["--workspace".into(), workspace_of(store).into()];
        words.extend(without_locks.then(|| "--unsafe-no-lock".into()));
        words.extend(["resume".into(), flow.to_string().into(), "--quiet".into()]);
        Self {
            words,
            begun: Mutex::default(),
        }
    }

    /// Starts one, unless the last one has not ended.
    pub(super) fn start(&self) -> Result<(), String> {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let (times, last) = &mut *begun;
        if let Some(child) = last {
            match child.try_wait() {
                Ok(None) => return Ok(()),
                Ok(Some(ended)) if *times >= STARTS_MAX => {
                    return Err(format!(
                        "it was started {times} times, and ended with {ended}"
                    ));
                }
                Ok(Some(_)) => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        let mut command = Command::new(programs::own());
        command
            .args(&self.words)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C at the terminal of the sender is not meant for it.
            .process_group(0);
        let child = command.spawn();
        *last = Some(child.map_err(|error| format!("it was not started: {error}"))?);
        *times += 1;
        Ok(())
    }
}

impl Drop for DriverStarts {
    /// A process that lives on must not keep what is left of one that ended.
    fn drop(&mut self) {
        let begun = self.begun.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(mut child) = begun.1.take()
            && matches!(child.try_wait(), Ok(None))
        {
            let waits = std::thread::Builder::new().name("driver".to_owned());
            drop(waits.spawn(move || child.wait()));
        }
    }
}
