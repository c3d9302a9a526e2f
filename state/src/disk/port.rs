//! The only door to the file system for state.
//!
//! Everything that a journal, a view, a blob or a lock does to a disk goes through [`Disk`] and
//! [`DiskFile`], so that a test can put a failing, lying or crashing disk in their place. The
//! port is narrow on purpose: what is not here, state does not do.

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A disk that many parts of the program share.
pub type SharedDisk = Arc<dyn Disk>;

/// The kind of node at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// Anything else: a symbolic link, a socket, a device. State never follows one.
    Other,
}

/// What is known about a path without opening it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// What it is. Symbolic links are not followed.
    pub kind: Kind,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Last change, in milliseconds since 1970.
    pub modified_ms: i64,
}

/// One name in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name, without its folder. Names that are not UTF-8 are shown lossily and are not ours.
    pub name: String,
    /// What it is.
    pub kind: Kind,
}

/// How a file is opened. No way of opening follows a symbolic link at the last component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// For reading only.
    Read,
    /// For reading and appending; must exist.
    Append,
    /// For reading and appending; must not exist.
    CreateNew,
    /// For reading and appending; created when missing.
    CreateOrAppend,
}

/// The result of a request for the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Locked {
    /// This handle holds it until it is dropped.
    Yes,
    /// Another handle holds it, in this process or in another.
    Busy,
}

/// The file system, as state sees it.
pub trait Disk: Debug + Send + Sync {
    /// Opens a file. The descriptor is closed on exec and never follows a symbolic link.
    fn open(&self, path: &Path, how: How) -> io::Result<Box<dyn DiskFile>>;
    /// Creates one folder whose parent exists.
    fn create_folder(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
    /// Replaces `to` by `from` in one step.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives a file a second name, which must be free and lie on the same file system. Both names
    /// mean the same bytes from then on, and removing one leaves the other. A power cut leaves the
    /// name or does not, until its folder is synced; the bytes are as durable as they were.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes one file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Removes one empty folder.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;
    /// Names in a folder, sorted.
    fn list(&self, path: &Path) -> io::Result<Vec<Entry>>;
    /// The node at a path; `NotFound` if there is none.
    fn about(&self, path: &Path) -> io::Result<About>;
    /// A path that is there as it is behind links and dots. A disk without links gives it back as it is.
    fn whole(&self, path: &Path) -> io::Result<PathBuf> {
        self.about(path).map(|_| path.to_owned())
    }
    /// Gives a folder and all that is in it to its owner alone, and returns how many names others could
    /// use before. A folder that is private is taken to hold only what is, and links are left alone.
    fn keep_private(&self, path: &Path) -> io::Result<u64>;
    /// Free bytes on the file system that holds the path.
    fn free_bytes(&self, path: &Path) -> io::Result<u64>;
}

/// One open file.
pub trait DiskFile: Debug + Send {
    /// Reads at an offset; may return fewer bytes than asked for, and 0 at the end.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize>;
    /// One `write` at the end of the file; returns how many bytes it took.
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// Cuts (or extends with zeros) to a size.
    fn set_size(&mut self, size_bytes: u64) -> io::Result<()>;
    /// Takes real space up to a size. A smaller file grows to that size with zeros, a larger one
    /// stays as it is, and a refused one keeps the size it had.
    fn reserve(&mut self, size_bytes: u64) -> io::Result<()>;
    /// Makes contents and size durable (`fdatasync`).
    fn sync(&mut self) -> io::Result<()>;
    /// The size now.
    fn size_bytes(&self) -> io::Result<u64>;
    /// A second handle on the same open file, such as a program that is being started holds for a
    /// moment. A failed sync of either is a failed sync of both.
    fn share(&self) -> io::Result<Box<dyn DiskFile>>;
    /// Asks for the exclusive lock (`flock`), without waiting.
    fn try_lock(&mut self) -> io::Result<Locked>;
}
