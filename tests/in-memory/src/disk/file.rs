//! One open file of the faulty disk.

use std::io;
use std::path::PathBuf;

use a_society_state::disk::{DiskFile, Locked};
use rustix::io::Errno;

use super::fault::{Class, InjectedFault};
use super::faulty::FaultyDisk;
use super::node::Id;
use super::trace::DiskCall;
use super::tree::Tree;

/// An open file. Dropping it closes it and releases its lock.
#[derive(Debug)]
pub(super) struct FaultyFile {
    pub(super) disk: FaultyDisk,
    pub(super) id: Id,
    pub(super) handle: u64,
    /// The path it was opened by, for the trace.
    pub(super) path: PathBuf,
    pub(super) writes: bool,
}

impl FaultyFile {
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    fn size_in(&self, tree: &Tree) -> io::Result<u64> {
        Ok(tree.file(self.id)?.size() as u64)
    }

    /// What Linux answers to a write through a descriptor that may only read.
    fn writable_or(&self, refusal: Errno) -> io::Result<()> {
        if self.writes {
            Ok(())
        } else {
            Err(refusal.into())
        }
    }

    /// How many bytes a read of up to `asked` would return.
    fn readable(&self, tree: &Tree, offset: u64, asked: usize) -> usize {
        let left = self.size_in(tree).map(|size| size.saturating_sub(offset));
        usize::try_from(left.unwrap_or(0)).map_or(asked, |left| left.min(asked))
    }
}

impl DiskFile for FaultyFile {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let asked = into.len();
        self.disk.operate(
            |tree| Class::Read {
                bytes: self.readable(tree, offset, asked),
            },
            |done| DiskCall::Read {
                path: self.path(),
                offset,
                bytes: done.copied().unwrap_or(asked),
            },
            |world, fault| {
                // Linux refuses an offset that does not fit into a signed number.
                let start = i64::try_from(offset).map_err(|_| Errno::INVAL)?;
                let readable = self.readable(&world.tree, offset, asked);
                let wanted = fault.map_or(readable, |fault| fault.shorten(readable));
                let start = usize::try_from(start).unwrap_or(usize::MAX);
                let file = world.tree.file(self.id)?;
                Ok(file.live().read_at(start, &mut into[..wanted]))
            },
        )
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.operate(
            |_| Class::Append { bytes: bytes.len() },
            |done| DiskCall::Append {
                path: self.path(),
                bytes: done.copied().unwrap_or(bytes.len()),
            },
            |world, fault| {
                self.writable_or(Errno::BADF)?;
                let taken = fault.map_or(bytes.len(), |fault| fault.shorten(bytes.len()));
                world.tree.append(self.id, &bytes[..taken])
            },
        )
    }

    fn set_size(&mut self, size_bytes: u64) -> io::Result<()> {
        self.disk.operate(
            |tree| Class::SetSize {
                grows: self.size_in(tree).is_ok_and(|size| size_bytes > size),
            },
            |_| DiskCall::SetSize {
                path: self.path(),
                size_bytes,
            },
            |world, _| {
                self.writable_or(Errno::INVAL)?;
                world.tree.set_size(self.id, size_bytes)
            },
        )
    }

    fn reserve(&mut self, size_bytes: u64) -> io::Result<()> {
        self.disk.operate(
            |_| Class::Reserve,
            |_| DiskCall::Reserve {
                path: self.path(),
                size_bytes,
            },
            |world, _| {
                if size_bytes == 0 {
                    return Ok(());
                }
                self.writable_or(Errno::BADF)?;
                // Every byte of this disk takes real space, so only growing needs more of it.
                let size = self.size_in(&world.tree)?;
                world.tree.set_size(self.id, size.max(size_bytes))
            },
        )
    }

    fn sync(&mut self) -> io::Result<()> {
        self.disk.operate(
            |_| Class::Sync,
            |_| DiskCall::Sync { path: self.path() },
            |world, fault| {
                let file = world.tree.file_mut(self.id)?;
                if fault == Some(InjectedFault::SyncFailsThenLies) {
                    file.lose_unsynced();
                    return Err(Errno::IO.into());
                }
                file.sync();
                Ok(())
            },
        )
    }

    fn size_bytes(&self) -> io::Result<u64> {
        self.disk.operate(
            |_| Class::Ask,
            |_| DiskCall::Size { path: self.path() },
            |world, _| self.size_in(&world.tree),
        )
    }

    fn share(&self) -> io::Result<Box<dyn DiskFile>> {
        let handle = self.disk.operate(
            |_| Class::Open {
                writes: false,
                creates: false,
            },
            |_| DiskCall::Share { path: self.path() },
            |world, _| {
                let handle = world.next_handle;
                world.next_handle += 1;
                world.tree.file_mut(self.id)?.handles.insert(handle);
                Ok(handle)
            },
        )?;
        Ok(Box::new(Self {
            disk: self.disk.clone(),
            id: self.id,
            handle,
            path: self.path(),
            writes: self.writes,
        }))
    }

    fn try_lock(&mut self) -> io::Result<Locked> {
        self.disk.operate(
            |_| Class::Ask,
            |_| DiskCall::TryLock { path: self.path() },
            |world, _| {
                let file = world.tree.file_mut(self.id)?;
                let holder = *file.lock.get_or_insert(self.handle);
                Ok(if holder == self.handle {
                    Locked::Yes
                } else {
                    Locked::Busy
                })
            },
        )
    }
}

impl Drop for FaultyFile {
    fn drop(&mut self) {
        self.disk.world().tree.close(self.id, self.handle);
    }
}
