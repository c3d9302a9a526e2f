//! Replacing a file in one step: a temporary file beside it, then a rename.
//!
//! Views are replaced without a sync of their own, because one that does not verify is rebuilt.
//! Checkpoints, blobs and archives are replaced durably: file, rename, folder.

use std::io;
use std::path::{Path, PathBuf};

use crate::disk::{Disk, How};
use crate::error::Error;
use crate::files::{append_all, remove_if_there, sync_folder, uninterrupted};

/// The name a file has while it is being made.
fn temporary(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".tmp");
    path.with_file_name(name)
}

fn write_beside(disk: &dyn Disk, path: &Path, bytes: &[u8], sync: bool) -> Result<PathBuf, Error> {
    let beside = temporary(path);
    let mut file = match uninterrupted(|| disk.open(&beside, How::CreateNew)) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // A leftover of a process that died here does no harm: the flow's lock is ours.
            remove_if_there(disk, &beside)?;
            uninterrupted(|| disk.open(&beside, How::CreateNew))
        }
        opened => opened,
    }
    .map_err(|e| Error::io("create", &beside, e))?;
    append_all(file.as_mut(), bytes).map_err(|e| Error::io("write", &beside, e))?;
    if sync {
        uninterrupted(|| file.sync()).map_err(|e| Error::io("sync", &beside, e))?;
    }
    Ok(beside)
}

fn step_in(disk: &dyn Disk, beside: &Path, path: &Path) -> Result<(), Error> {
    uninterrupted(|| disk.rename(beside, path)).map_err(|e| Error::io("replace", path, e))
}

/// Replaces a file that can be rebuilt.
///
/// # Errors
/// When the file system refuses; the old file is then what it was.
pub fn replace(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let beside = write_beside(disk, path, bytes, false)?;
    step_in(disk, &beside, path)
}

/// Replaces a file so that it survives a power cut from the moment this returns.
///
/// # Errors
/// When the file system refuses; which of the two files a power cut then leaves is not known.
pub fn replace_durably(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let beside = write_beside(disk, path, bytes, true)?;
    step_in(disk, &beside, path)?;
    sync_folder(disk, path.parent().unwrap_or(Path::new(".")))
}
