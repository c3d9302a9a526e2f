//! What the system tells about processes and folders, as far as a guard needs it.

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, Stat, fstat, openat};
use rustix::process::Pid;

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

pub(super) fn pid_of(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

/// Everything that this process started, and what that started, without those that have ended and
/// only wait to be noticed.
pub(super) fn descendants() -> Vec<u32> {
    let mut children: BTreeMap<u32, Vec<(u32, bool)>> = BTreeMap::new();
    let listed = fs::read_dir("/proc").into_iter().flatten();
    let pids = listed.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    for pid in pids {
        if let Some((parent, lives)) = parent_of(pid) {
            children.entry(parent).or_default().push((pid, lives));
        }
    }
    let mut found = Vec::new();
    let mut open = vec![own_pid()];
    while let Some(parent) = open.pop() {
        for (pid, lives) in children.remove(&parent).unwrap_or_default() {
            if lives {
                found.push(pid);
            }
            open.push(pid);
        }
    }
    found
}

/// The number of this process as the list of processes has it, which may be that of a wider space.
fn own_pid() -> u32 {
    let link = fs::read_link("/proc/self").ok();
    let number = link.and_then(|link| link.to_str()?.parse().ok());
    number.unwrap_or_else(std::process::id)
}

/// Who started a process, and whether it still lives.
fn parent_of(pid: u32) -> Option<(u32, bool)> {
    let bytes = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&bytes);
    // A process's name may hold spaces and brackets; the words that count follow the last one.
    let (_, words) = stat.rsplit_once(')')?;
    let mut words = words.split_ascii_whitespace();
    let state = words.next()?;
    let parent = words.next()?.parse().ok()?;
    Some((parent, !matches!(state, "Z" | "X")))
}
