//! Calls that wait until the test lets them go, as on a network file system whose server is gone.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::limits::PATIENCE;
use super::trace::DiskCall;

/// Which calls hang.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HangingCalls {
    /// Everything that is done to this folder and to what is in it.
    Below(PathBuf),
    /// Every sync of a file.
    Syncs,
}

impl HangingCalls {
    fn holds(&self, call: &DiskCall) -> bool {
        match self {
            Self::Below(folder) => path_of(call).is_some_and(|path| path.starts_with(folder)),
            Self::Syncs => matches!(call, DiskCall::Sync { .. }),
        }
    }
}

/// Calls hang until this is opened.
#[derive(Debug, Clone)]
pub struct HangGate {
    calls: HangingCalls,
    state: Arc<(Mutex<GateState>, Condvar)>,
}

#[derive(Debug, Default)]
struct GateState {
    is_reached: bool,
    is_open: bool,
}

impl HangGate {
    pub(super) fn new(calls: HangingCalls) -> Self {
        let state = Arc::default();
        Self { calls, state }
    }

    /// Lets all calls go, those to come as well.
    pub fn open(&self) {
        self.state().is_open = true;
        self.state.1.notify_all();
    }

    /// Waits until a call hangs, or hung. Panics when none comes.
    pub fn wait_until_reached(&self) {
        self.wait(|state| state.is_reached);
    }

    /// Whether this call has to wait.
    pub(super) fn holds(&self, call: &DiskCall) -> bool {
        self.calls.holds(call) && !self.state().is_open
    }

    /// The call hangs.
    pub(super) fn pass(&self) {
        self.state().is_reached = true;
        self.state.1.notify_all();
        self.wait(|state| state.is_open);
    }

    fn state(&self) -> MutexGuard<'_, GateState> {
        self.state.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, until: impl Fn(&GateState) -> bool) {
        let state = self.state();
        let waited = self
            .state
            .1
            .wait_timeout_while(state, PATIENCE, |state| !until(state));
        let timed_out = waited.is_ok_and(|(_, waited)| waited.timed_out());
        assert!(!timed_out, "{:?} hang for too long", self.calls);
    }
}

fn path_of(call: &DiskCall) -> Option<&Path> {
    match call {
        DiskCall::Open { path, .. }
        | DiskCall::CreateFolder { path }
        | DiskCall::SyncFolder { path }
        | DiskCall::RemoveFile { path }
        | DiskCall::RemoveFolder { path }
        | DiskCall::List { path }
        | DiskCall::About { path }
        | DiskCall::FreeBytes { path }
        | DiskCall::Read { path, .. }
        | DiskCall::Append { path, .. }
        | DiskCall::SetSize { path, .. }
        | DiskCall::Reserve { path, .. }
        | DiskCall::Sync { path }
        | DiskCall::Size { path }
        | DiskCall::Share { path }
        | DiskCall::TryLock { path } => Some(path),
        DiskCall::Rename { to, .. } | DiskCall::Link { to, .. } => Some(to),
        DiskCall::Mark { .. } => None,
        DiskCall::Failed { op, .. } => path_of(op),
    }
}
