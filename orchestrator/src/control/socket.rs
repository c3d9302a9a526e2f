//! The path of a flow's control socket, and how one is made and reached.
//!
//! It is in the flow's folder, readable and writable by its owner only. Paths of sockets are
//! short everywhere, and folders of flows need not be; a long one is reached through a descriptor
//! of its folder. A socket that a dead process left is removed only by the holder of the lock.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use a_society_state::FlowPlace;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use super::limits::{CONNECTIONS_MAX, LAST_ANSWERS_TIME, PATH_BYTES_MAX};

/// Only the owner may connect.
const OURS_ONLY: Mode = Mode::RUSR.union(Mode::WUSR);

/// A socket that other processes of the operator may knock at. It goes when this is dropped.
#[derive(Debug)]
pub struct ControlDoor {
    place: FlowPlace,
    listener: Arc<UnixListener>,
    closed: Arc<AtomicBool>,
    answering: Arc<CountedPlaces>,
}

/// What the listening thread shares with the door.
pub(super) struct DoorParts {
    /// Who listens.
    pub(super) listener: Arc<UnixListener>,
    /// What says that it should end.
    pub(super) closed: Arc<AtomicBool>,
    /// How many clients have sent a command and have no answer yet.
    pub(super) answering: Arc<CountedPlaces>,
}

/// How many there are of something: clients, or answers that are owed.
#[derive(Debug, Default)]
pub(super) struct CountedPlaces {
    taken: Mutex<usize>,
    emptied: Condvar,
}

impl CountedPlaces {
    /// Counts one more for as long as the place is kept; none if there are as many already.
    pub(super) fn take(self: &Arc<Self>, at_most: usize) -> Option<CountedPlace> {
        let mut taken = self.taken();
        if *taken >= at_most {
            return None;
        }
        *taken += 1;
        Some(CountedPlace(Arc::clone(self)))
    }

    /// Waits until there is none, but not for ever.
    fn await_none(&self) {
        let emptied = &self.emptied;
        drop(emptied.wait_timeout_while(self.taken(), LAST_ANSWERS_TIME, |taken| *taken > 0));
    }

    fn taken(&self) -> MutexGuard<'_, usize> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One that is counted until this is dropped.
#[derive(Debug)]
pub(super) struct CountedPlace(Arc<CountedPlaces>);

impl Drop for CountedPlace {
    fn drop(&mut self) {
        let mut taken = self.0.taken();
        *taken -= 1;
        if *taken == 0 {
            self.0.emptied.notify_all();
        }
    }
}

/// A path short enough for a socket, and the folder it goes through, kept open for as long.
struct Way {
    path: PathBuf,
    _folder: Option<OwnedFd>,
}

fn way(place: &FlowPlace) -> io::Result<Way> {
    let path = place.control();
    if path.as_os_str().as_bytes().len() <= PATH_BYTES_MAX {
        return Ok(Way {
            path,
            _folder: None,
        });
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(place.path(), flags, Mode::empty())?;
    let name = path.file_name().unwrap_or_default();
    let through = PathBuf::from(format!("/proc/self/fd/{}", opened.as_raw_fd()));
    Ok(Way {
        path: through.join(name),
        _folder: Some(opened),
    })
}

impl ControlDoor {
    /// Makes the socket of a flow whose lock the caller holds.
    ///
    /// # Errors
    /// When the file system has no sockets, or something else bears the name.
    pub(crate) fn open(place: &FlowPlace) -> io::Result<Self> {
        remove_stale(&place.control())?;
        let way = way(place)?;
        let flags = SocketFlags::CLOEXEC;
        let socket =
            rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        // Before it has a name, so that there is no moment at which another user may connect.
        rustix::fs::fchmod(&socket, OURS_ONLY)?;
        rustix::net::bind(&socket, &SocketAddrUnix::new(&way.path)?)?;
        rustix::fs::chmod(&way.path, OURS_ONLY)?;
        rustix::net::listen(&socket, i32::try_from(CONNECTIONS_MAX).unwrap_or(1))?;
        Ok(Self {
            place: place.clone(),
            listener: Arc::new(UnixListener::from(socket)),
            closed: Arc::new(AtomicBool::new(false)),
            answering: Arc::default(),
        })
    }

    /// What the listening thread needs of it.
    pub(super) fn parts(&self) -> DoorParts {
        DoorParts {
            listener: Arc::clone(&self.listener),
            closed: Arc::clone(&self.closed),
            answering: Arc::clone(&self.answering),
        }
    }
}

impl Drop for ControlDoor {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::SeqCst);
        // A last connection wakes the listener; then the name goes. What fails here leaves a stale
        // name that the next holder of the lock removes.
        drop(connect(&self.place));
        drop(remove_stale(&self.place.control()));
        // The process may end right after this, and pending clients should get their answers.
        self.answering.await_none();
    }
}

fn remove_stale(path: &Path) -> io::Result<()> {
    match rustix::fs::lstat(path) {
        Ok(about) if FileType::from_raw_mode(about.st_mode) == FileType::Socket => {
            Ok(rustix::fs::unlink(path)?)
        }
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(rustix::io::Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Knocks at the socket of a flow.
///
/// # Errors
/// When there is none, or it has no listener.
pub(crate) fn connect(place: &FlowPlace) -> io::Result<UnixStream> {
    UnixStream::connect(way(place)?.path)
}
