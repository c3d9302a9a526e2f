//! What was done to the disk, in order, so that a test can say what must come before what.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;

use a_society_state::disk::How;

use super::limits::MAX_TRACED_OPERATIONS;

/// One operation. The path of an open file is the one it was opened by.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "the fields are the parameters of the port's methods"
)]
pub enum DiskCall {
    /// `Disk::open`.
    Open { path: PathBuf, how: How },
    /// `Disk::create_folder`.
    CreateFolder { path: PathBuf },
    /// `Disk::sync_folder`.
    SyncFolder { path: PathBuf },
    /// `Disk::rename`.
    Rename { from: PathBuf, to: PathBuf },
    /// `Disk::link`.
    Link { from: PathBuf, to: PathBuf },
    /// `Disk::remove_file`.
    RemoveFile { path: PathBuf },
    /// `Disk::remove_folder`.
    RemoveFolder { path: PathBuf },
    /// `Disk::list`.
    List { path: PathBuf },
    /// `Disk::about`.
    About { path: PathBuf },
    /// `Disk::free_bytes`.
    FreeBytes { path: PathBuf },
    /// `DiskFile::read_at`; the bytes that came, or that were asked for if it failed.
    Read {
        path: PathBuf,
        offset: u64,
        bytes: usize,
    },
    /// `DiskFile::append`; the bytes that were taken, or that were given if it failed.
    Append { path: PathBuf, bytes: usize },
    /// `DiskFile::set_size`.
    SetSize { path: PathBuf, size_bytes: u64 },
    /// `DiskFile::reserve`.
    Reserve { path: PathBuf, size_bytes: u64 },
    /// `DiskFile::sync`.
    Sync { path: PathBuf },
    /// `DiskFile::size_bytes`.
    Size { path: PathBuf },
    /// `DiskFile::share`.
    Share { path: PathBuf },
    /// `DiskFile::try_lock`.
    TryLock { path: PathBuf },
    /// What a test wrote into the trace, such as the moment of an acknowledgement.
    Mark { text: String },
    /// An operation that returned an error.
    Failed { op: Box<Self>, kind: io::ErrorKind },
}

/// The trace of one disk, once it is switched on.
#[derive(Debug, Default)]
pub(super) struct Trace {
    ops: Option<VecDeque<DiskCall>>,
}

impl Trace {
    pub(super) fn start(&mut self) {
        self.ops.get_or_insert_default();
    }

    /// The operation is only described when the trace is on, since that copies its path.
    pub(super) fn note(&mut self, op: impl FnOnce() -> DiskCall) {
        let Some(ops) = &mut self.ops else { return };
        if ops.len() == MAX_TRACED_OPERATIONS {
            ops.pop_front();
        }
        ops.push_back(op());
    }

    pub(super) fn ops(&self) -> Vec<DiskCall> {
        self.ops.iter().flatten().cloned().collect()
    }
}
