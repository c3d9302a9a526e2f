//! The folder in which a command runs: the one that was meant, whatever its name is by then.

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, Stat, fstat, openat};

/// The folder in which a command runs, if it is still the one that was meant.
pub(super) fn open_folder(path: &str, id: &str) -> Result<OwnedFd, String> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(CWD, Path::new(path), flags, Mode::empty())
        .map_err(|why| format!("{path} could not be entered: {why}."))?;
    let stat = fstat(&folder).map_err(|why| format!("{path} could not be looked at: {why}."))?;
    if folder_id(&stat) != id {
        return Err(format!("{path} is not the folder any more that it was."));
    }
    Ok(folder)
}

/// What a folder is, whatever its name.
pub(in super::super) fn folder_id(stat: &Stat) -> String {
    format!("{}:{}", stat.st_dev, stat.st_ino)
}

/// A path that leads to what is open, where the system has one.
pub(super) fn path_of(folder: &OwnedFd, path: &str) -> String {
    let open = format!("/proc/self/fd/{}", folder.as_raw_fd());
    if Path::new(&open).exists() {
        open
    } else {
        path.to_owned()
    }
}
