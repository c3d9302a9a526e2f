//! A disk without locks, for file systems that have none.
//!
//! Two processes that write one flow over such a disk damage it, and nothing would stop them. It
//! is used only where the operator asked for it in so many words.

use std::io;
use std::path::{Path, PathBuf};

use super::{About, Disk, DiskFile, Entry, How, Locked, SharedDisk};

/// Another disk, whose locks are all granted.
#[derive(Debug)]
pub struct UnlockedDisk(pub SharedDisk);

#[derive(Debug)]
struct UnlockedFile(Box<dyn DiskFile>);

impl Disk for UnlockedDisk {
    fn open(&self, path: &Path, how: How) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(UnlockedFile(self.0.open(path, how)?)))
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.0.create_folder(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.0.sync_folder(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.link(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.0.remove_file(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.0.remove_folder(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        self.0.list(path)
    }

    fn about(&self, path: &Path) -> io::Result<About> {
        self.0.about(path)
    }

    fn whole(&self, path: &Path) -> io::Result<PathBuf> {
        self.0.whole(path)
    }

    fn keep_private(&self, path: &Path) -> io::Result<u64> {
        self.0.keep_private(path)
    }

    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        self.0.free_bytes(path)
    }
}

impl DiskFile for UnlockedFile {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(offset, into)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.append(bytes)
    }

    fn set_size(&mut self, size_bytes: u64) -> io::Result<()> {
        self.0.set_size(size_bytes)
    }

    fn reserve(&mut self, size_bytes: u64) -> io::Result<()> {
        self.0.reserve(size_bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync()
    }

    fn size_bytes(&self) -> io::Result<u64> {
        self.0.size_bytes()
    }

    fn share(&self) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(Self(self.0.share()?)))
    }

    fn try_lock(&mut self) -> io::Result<Locked> {
        Ok(Locked::Yes)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::disk::RealDisk;

    #[test]
    fn every_lock_is_granted_and_nothing_else_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let disk = UnlockedDisk(Arc::new(RealDisk));
        let open = || disk.open(&path, How::CreateOrAppend).unwrap();
        let (mut first, mut second) = (open(), open());
        assert_eq!(first.try_lock().unwrap(), Locked::Yes);
        assert_eq!(second.try_lock().unwrap(), Locked::Yes);
        first.append(b"told").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"told");
    }
}
