//! Whole files and whole folders, on top of the port's single operations.
//!
//! Interrupted calls are tried again a bounded number of times, short reads are continued, and a
//! folder that is made is made durable up to the first one that was there before.

use std::io;
use std::path::Path;

use crate::disk::{Disk, DiskFile, How, Kind};
use crate::error::Error;
use crate::limits::INTERRUPTED_RETRIES_MAX;

/// Repeats an operation while the system says that it was interrupted. One that never gets through
/// fails in another way, because a caller that is not ours would try an interrupted one for ever.
pub(crate) fn uninterrupted<T>(mut operation: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 0..INTERRUPTED_RETRIES_MAX {
        match operation() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
    Err(io::Error::other("it was interrupted again and again"))
}

/// Fills `into` from an offset; returns how much there was.
pub(crate) fn read_full(file: &dyn DiskFile, offset: u64, into: &mut [u8]) -> io::Result<usize> {
    let mut done = 0;
    while done < into.len() {
        let read = uninterrupted(|| file.read_at(offset + done as u64, &mut into[done..]))?;
        if read == 0 {
            break;
        }
        done += read;
    }
    Ok(done)
}

/// Reads a file from an offset to its end into `into`, whose old contents are dropped.
pub(crate) fn read_from(
    file: &dyn DiskFile,
    offset: u64,
    max_bytes: u64,
    into: &mut Vec<u8>,
) -> io::Result<()> {
    let size = uninterrupted(|| file.size_bytes())?;
    let wanted = size.saturating_sub(offset);
    if wanted > max_bytes {
        let what = format!("it holds {size} bytes, more than the {max_bytes} that are read");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    let wanted = usize::try_from(wanted).map_err(io::Error::other)?;
    // Growing without clearing first keeps the zeroing to the part that is new.
    into.truncate(wanted);
    into.resize(wanted, 0);
    let read = read_full(file, offset, into)?;
    into.truncate(read);
    Ok(())
}

/// What stands at a path, or behind the links that stand there; nothing if that cannot be found out.
pub fn kind_behind(disk: &dyn Disk, path: &Path) -> Option<Kind> {
    match disk.about(path).ok()?.kind {
        Kind::Other => {
            let whole = disk.whole(path).ok()?;
            Some(disk.about(&whole).ok()?.kind)
        }
        kind @ (Kind::File | Kind::Folder) => Some(kind),
    }
}

/// Reads a whole file of at most so many bytes.
///
/// # Errors
/// When it is not there, is larger, or cannot be read.
pub fn read_whole(disk: &dyn Disk, path: &Path, max_bytes: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    uninterrupted(|| disk.open(path, How::Read))
        .and_then(|file| read_from(file.as_ref(), 0, max_bytes, &mut bytes))
        .map_err(|e| Error::io("read", path, e))?;
    Ok(bytes)
}

/// Appends all bytes to a file with a single writer; how many calls it takes does not matter.
pub(crate) fn append_all(file: &mut dyn DiskFile, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let wrote = uninterrupted(|| file.append(bytes))?;
        if wrote == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = &bytes[wrote..];
    }
    Ok(())
}

/// Makes a folder and those above it, durably. Those that are there already are left alone.
///
/// # Errors
/// When one of them cannot be made, or its path is taken by something else.
pub fn make_folders(disk: &dyn Disk, path: &Path) -> Result<(), Error> {
    match uninterrupted(|| disk.about(path)) {
        Ok(about) if about.kind == Kind::Folder => return Ok(()),
        Ok(_) => {
            return Err(Error::Unfit {
                path: path.to_owned(),
                what: "is in the way: a folder is wanted here".to_owned(),
            });
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(Error::io("look at", path, error)),
    }
    let Some(parent) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    else {
        return Err(Error::io("make", path, io::ErrorKind::NotFound.into()));
    };
    make_folders(disk, parent)?;
    match uninterrupted(|| disk.create_folder(path)) {
        Ok(()) => sync_folder(disk, parent).inspect_err(|_| {
            // One that is there counts as durable, so this one may not stay.
            drop(disk.remove_folder(path));
        }),
        // Another process made it in between.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => sync_folder(disk, parent),
        Err(error) => Err(Error::io("make", path, error)),
    }
}

/// Makes a folder and those above it for files that are rebuilt when they are missing. Nothing
/// waits until it is durable.
pub(crate) fn make_folders_of_views(disk: &dyn Disk, path: &Path) -> Result<(), Error> {
    match uninterrupted(|| disk.create_folder(path)) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let Some(parent) = path.parent() else {
                return Err(Error::io("make", path, error));
            };
            make_folders_of_views(disk, parent)?;
            uninterrupted(|| disk.create_folder(path)).map_err(|e| Error::io("make", path, e))
        }
        // Whether it is a folder shows when something is put into it.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(Error::io("make", path, error)),
    }
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(disk: &dyn Disk, path: &Path) -> Result<(), Error> {
    uninterrupted(|| disk.sync_folder(path)).map_err(|e| Error::io("sync", path, e))
}

/// Removes a file; that it is not there is fine.
pub(crate) fn remove_if_there(disk: &dyn Disk, path: &Path) -> Result<(), Error> {
    match uninterrupted(|| disk.remove_file(path)) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::io("remove", path, error)),
    }
}
