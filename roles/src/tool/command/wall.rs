//! The walls around a command, each put up by the guard around the thread that starts it.
//!
//! Landlock says which files can be reached, seccomp which system calls can be made; and in spaces
//! of its own, the state of flows is out of sight, the insides of repositories can only be read,
//! and there is no network. A wall that this system does not have is reported with the call.

#[cfg(target_os = "linux")]
mod linux;

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

use rustix::process::{Resource, Rlimit, setrlimit};

use super::frame::Walls;
use super::limits::{
    FILE_BYTES, OPEN_FILES, REPOSITORY_DEPTH, REPOSITORY_FOLDERS, SETTINGS_DEPTH, SETTINGS_ENTRIES,
};

/// The right of every user to read a file.
const OTHERS_READ: u32 = 0o004;

/// The rights of every user to list a folder and to reach what is in it.
const OTHERS_ENTER: u32 = 0o005;

/// Where folders for temporary files are made.
const TEMPORARY: &str = "/tmp";

/// How many names are tried for one.
const NAMES: u32 = 64;

/// What bounds every command, and makes its orphans ours.
pub(super) fn bound_process() {
    let limits = [
        (Resource::Core, 0),
        (Resource::Fsize, FILE_BYTES),
        (Resource::Nofile, OPEN_FILES),
    ];
    for (resource, most) in limits {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        // A bound that is lower already stays.
        let _lower = setrlimit(resource, limit);
    }
    #[cfg(target_os = "linux")]
    linux::adopt_orphans();
}

/// A folder of its own for temporary files.
pub(super) fn scratch() -> Option<String> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    // In a space of its own every guard has the same number, so its start tells them apart.
    let begun = fs::metadata("/proc/self").and_then(|it| it.modified()).ok();
    let begun = begun
        .and_then(|it| it.duration_since(UNIX_EPOCH).ok())
        .unwrap_or_default();
    for _ in 0..NAMES {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{TEMPORARY}/a-society-{}-{count}", begun.as_nanos());
        if fs::DirBuilder::new().mode(0o700).create(&name).is_ok() {
            return Some(name);
        }
    }
    None
}

/// Removes it with all that was left in it.
pub(super) fn remove_scratch(scratch: Option<String>) {
    if let Some(scratch) = scratch {
        // What cannot be removed is the system's temporary folder's to clean.
        let _left = fs::remove_dir_all(Path::new(&scratch));
    }
}

/// Whether this system has walls at all.
pub(super) const ARE_THERE: bool = cfg!(target_os = "linux");

/// Which walls this system does not have.
pub(super) fn missing() -> Vec<String> {
    #[cfg(target_os = "linux")]
    return linux::missing();
    #[cfg(not(target_os = "linux"))]
    vec!["every wall: this system has none".to_owned()]
}

/// Puts up the walls around this thread. Gives those that could not be put up.
pub(super) fn put_up(walls: &Walls, scratch: Option<&str>) -> Result<Vec<String>, String> {
    if !walls.are_up {
        return Ok(vec!["every wall: this scope has none".to_owned()]);
    }
    #[cfg(target_os = "linux")]
    let missing = linux::put_up(walls, scratch)?;
    #[cfg(not(target_os = "linux"))]
    let missing = {
        let _ = scratch;
        missing()
    };
    if walls.must_all && !missing.is_empty() {
        return Err(format!("It would run without {}.", missing.join("; ")));
    }
    Ok(missing)
}

/// What every user may read of a folder: the folder itself, if that is all of it, or its parts. What was not
/// looked at is left out.
pub(super) fn open_to_all(folder: &Path) -> Vec<PathBuf> {
    let mut left = SETTINGS_ENTRIES;
    match shared(folder, 0, &mut left) {
        None => vec![folder.to_owned()],
        Some(parts) => parts,
    }
}

/// Nothing if every user may read all of a folder, else the parts that every user may read.
fn shared(folder: &Path, depth: usize, left: &mut usize) -> Option<Vec<PathBuf>> {
    let (mut parts, mut is_whole) = (Vec::new(), true);
    let Ok(entries) = fs::read_dir(folder) else {
        return Some(parts);
    };
    for entry in entries {
        let about = entry.as_ref().map(|entry| (entry.path(), entry.metadata()));
        let Ok((path, Ok(about))) = about else {
            is_whole = false;
            continue;
        };
        *left = left.saturating_sub(1);
        let mode = about.permissions().mode();
        if about.is_symlink() {
            // Where it leads is decided there.
        } else if *left == 0 {
            is_whole = false;
        } else if about.is_file() && mode & OTHERS_READ != 0 {
            parts.push(path);
        } else if about.is_dir() && mode & OTHERS_ENTER == OTHERS_ENTER && depth < SETTINGS_DEPTH {
            match shared(&path, depth + 1, left) {
                None => parts.push(path),
                Some(within) => {
                    parts.extend(within);
                    is_whole = false;
                }
            }
        } else {
            is_whole = false;
        }
    }
    (!is_whole).then_some(parts)
}

/// The insides of the repositories within a folder, as deep as they are looked for.
pub(super) fn repositories(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut seen) = (Vec::new(), 0);
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if entry.file_name() == ".git" && !kind.is_symlink() {
                found.push(entry.path());
            } else if kind.is_dir() && depth < REPOSITORY_DEPTH && seen < REPOSITORY_FOLDERS {
                seen += 1;
                open.push((entry.path(), depth + 1));
            }
        }
    }
    found
}
