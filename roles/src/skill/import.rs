//! Importing a skill from a folder.
//!
//! A skill is text that a model will follow and files that it may run. So it is checked before anything
//! is copied, copied without files that do not belong in one, and appears as a whole or not at all. It
//! runs with no more rights than the role that reads it.

use std::fmt;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::limits::{BYTES, DEPTH, FILES};
use super::parse::Heading;
use super::store::read;

/// Why a skill is not taken over; all reasons at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportFault(pub Vec<String>);

impl fmt::Display for ImportFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

/// Copies the skill of one folder into a folder of skills.
pub fn import(from: &Path, into: &Path) -> Result<Heading, ImportFault> {
    let one = |why: String| ImportFault(vec![why]);
    let heading = read(from).map_err(|why| one(why.to_string()))?;
    let files = checked(from)?;
    let target = into.join(&heading.name);
    if fs::symlink_metadata(&target).is_ok() {
        return Err(one(format!("there is a skill {:?} already", heading.name)));
    }
    let temporary = into.join(format!(
        ".{}-{}.importing",
        heading.name,
        std::process::id()
    ));
    let copied = copy(from, &temporary, &files)
        .and_then(|()| fs::rename(&temporary, &target))
        .map_err(|why| one(format!("it could not be copied: {why}")));
    if copied.is_err() {
        // The original fault is reported; a folder with such a name is never a skill.
        let _left = fs::remove_dir_all(&temporary);
    }
    copied.map(|()| heading)
}

/// The files of a skill, from its folder, if all of them may be taken over.
fn checked(folder: &Path) -> Result<Vec<PathBuf>, ImportFault> {
    let walk = walked(folder);
    if walk.faults.is_empty() {
        return Ok(walk.files.into_iter().map(|(path, _)| path).collect());
    }
    Err(ImportFault(walk.faults))
}

/// The contents of the folder of a skill: its files in order, and what does not belong in one.
#[derive(Debug, Default)]
pub(super) struct SkillWalk {
    pub(super) files: Vec<(PathBuf, fs::Metadata)>,
    pub(super) faults: Vec<String>,
}

/// Looks through the folder of a skill, within bounds.
pub(super) fn walked(folder: &Path) -> SkillWalk {
    let (mut walk, mut bytes) = (SkillWalk::default(), 0);
    let mut open = vec![(PathBuf::new(), 0)];
    'all: while let Some((below, depth)) = open.pop() {
        let entries = match fs::read_dir(folder.join(&below)) {
            Ok(entries) => entries,
            Err(why) => {
                let why = format!("{} could not be read: {why}", below.display());
                walk.faults.push(why);
                continue;
            }
        };
        for entry in entries.flatten() {
            let path = below.join(entry.file_name());
            let shown = path.display();
            let Ok(stat) = fs::symlink_metadata(folder.join(&path)) else {
                walk.faults.push(format!("{shown} could not be looked at"));
                continue;
            };
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            if is_hidden {
                let why = format!("{shown} is hidden; a skill shows all that it has");
                walk.faults.push(why);
            } else if stat.is_dir() && depth < DEPTH {
                open.push((path, depth + 1));
            } else if stat.is_file() {
                bytes += stat.len();
                walk.files.push((path, stat));
            } else if stat.is_dir() {
                let why = format!("{shown} is deeper than {DEPTH} folders");
                walk.faults.push(why);
            } else {
                let why = format!("{shown} is neither a file nor a folder");
                walk.faults.push(why);
            }
            if walk.files.len() > FILES || bytes > BYTES {
                let why = format!("it has more than {FILES} files or {BYTES} bytes");
                walk.faults.push(why);
                break 'all;
            }
        }
    }
    walk.files.sort_by(|(a, _), (b, _)| a.cmp(b));
    walk.faults.sort();
    walk
}

fn copy(from: &Path, to: &Path, files: &[PathBuf]) -> io::Result<()> {
    let mut room = BYTES;
    for file in files {
        let target = to.join(file);
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)?;
        }
        room -= copy_file(&from.join(file), &target, room)?;
    }
    Ok(())
}

/// Copies one file, which was looked at before and may have become something else since: no link is
/// followed, nothing is waited for, and it takes no more than there is room.
pub(super) fn copy_file(from: &Path, to: &Path, room: u64) -> io::Result<u64> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(from)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(io::Error::other("it changed while it was read"));
    }
    let mut target = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(about.permissions().mode() & 0o777)
        .open(to)?;
    let copied = io::copy(&mut file.take(room + 1), &mut target)?;
    if copied > room {
        return Err(io::Error::other("it grew while it was read"));
    }
    Ok(copied)
}
