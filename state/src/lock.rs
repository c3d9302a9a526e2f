//! One writer a flow: an exclusive lock held for as long as the flow is open.
//!
//! The lock is the system's own and ends with the process, however it ends. The contents of the
//! lock file are for people: who holds it. They are never read to decide anything, and a lock is never
//! taken over because it looks old.

use std::io;

use a_society_facts::fact::journal::ProcessName;

use crate::disk::{Disk, DiskFile, How, Locked};
use crate::error::Error;
use crate::files::{append_all, read_whole, uninterrupted};
use crate::flow_ref::FlowRef;
use crate::layout::FlowFolder;
use crate::ledger::{Claimed, LedgerAccess, LedgerClaim};
use crate::limits::{LOCK_PAUSE, LOCK_TRIES};

/// The longest text in a lock file that is shown.
const HOLDER_BYTES_MAX: u64 = 4096;

/// The lock of a flow; it is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct FlowLock {
    // Given back first: while the file is locked, no process of this machine asks for the claim.
    claim: Option<Box<dyn LedgerClaim>>,
    _file: Box<dyn DiskFile>,
}

impl FlowLock {
    /// Takes the lock of a flow whose folder exists.
    ///
    /// # Errors
    /// When another process holds it, or the file system has no locks.
    pub(crate) fn take(
        disk: &dyn Disk,
        folder: &FlowFolder,
        process: &ProcessName,
    ) -> Result<Self, Error> {
        let path = folder.lock();
        let mut file = uninterrupted(|| disk.open(&path, How::CreateOrAppend))
            .map_err(|e| Error::io("open", &path, e))?;
        match patiently(file.as_mut()) {
            Ok(Locked::Yes) => {}
            Ok(Locked::Busy) => {
                return Err(Error::Busy {
                    holder: holder(disk, folder),
                });
            }
            Err(error) if error.kind() == io::ErrorKind::Unsupported || has_no_locks(&error) => {
                return Err(Error::NoLocks {
                    path,
                    source: error,
                });
            }
            Err(error) => return Err(Error::io("lock", &path, error)),
        }
        // The holder's name is for people; failing to write it does no harm.
        let told = uninterrupted(|| file.set_size(0))
            .and_then(|()| append_all(file.as_mut(), describe(process).as_bytes()));
        drop(told);
        Ok(Self {
            claim: None,
            _file: file,
        })
    }

    /// Claims the flow in a ledger, too, so that no worker of another machine begins with it.
    ///
    /// # Errors
    /// When another worker has it, or the ledger fails.
    pub(crate) fn claim(&mut self, flow: &FlowRef, access: &LedgerAccess) -> Result<(), Error> {
        match access.ledger.claim(flow, &access.worker)? {
            Claimed::Yes(claim) => self.claim = Some(claim),
            Claimed::Busy { holder } => return Err(Error::Busy { holder }),
        }
        Ok(())
    }

    /// Whether the ledger still grants the flow; yes where there is no ledger.
    #[must_use]
    pub(crate) fn is_granted(&self) -> bool {
        self.claim.as_ref().is_none_or(|claim| claim.is_held())
    }
}

/// Asks for the lock a few times: a process that checks whether it is held has it for a moment. The kernel gives no
/// lock that is waited for with a limit, so that this looks again after a pause.
fn patiently(file: &mut dyn DiskFile) -> io::Result<Locked> {
    for _ in 1..LOCK_TRIES {
        match uninterrupted(|| file.try_lock())? {
            Locked::Yes => return Ok(Locked::Yes),
            Locked::Busy => std::thread::sleep(LOCK_PAUSE),
        }
    }
    uninterrupted(|| file.try_lock())
}

fn has_no_locks(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    code == Some(rustix::io::Errno::NOLCK.raw_os_error())
        || code == Some(rustix::io::Errno::OPNOTSUPP.raw_os_error())
}

fn describe(process: &ProcessName) -> String {
    format!(
        "process {}, started at tick {} of boot {}\n",
        process.pid,
        process.start_ticks,
        if process.boot_id.is_empty() {
            "unknown"
        } else {
            &process.boot_id
        }
    )
}

/// The holder of a flow's lock, from the lock file.
fn holder(disk: &dyn Disk, folder: &FlowFolder) -> String {
    let said = read_whole(disk, &folder.lock(), HOLDER_BYTES_MAX).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    // The tick and the boot distinguish processes of one number, and are not for people.
    let said = said.split(", started at tick").next().unwrap_or_default();
    let said: String = said.trim().chars().filter(|c| !c.is_control()).collect();
    if said.is_empty() {
        "a process that did not say which".to_owned()
    } else {
        said
    }
}

/// Whether a process holds a flow's lock right now.
///
/// # Errors
/// When the lock file cannot be asked.
pub fn is_held(disk: &dyn Disk, folder: &FlowFolder) -> Result<Option<String>, Error> {
    let path = folder.lock();
    let mut file = match uninterrupted(|| disk.open(&path, How::Read)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("open", &path, error)),
    };
    match uninterrupted(|| file.try_lock()).map_err(|e| Error::io("lock", &path, e))? {
        Locked::Yes => Ok(None),
        Locked::Busy => Ok(Some(holder(disk, folder))),
    }
}
