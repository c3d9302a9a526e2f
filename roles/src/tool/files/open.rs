//! Opening what a path names, beneath its folder, and judging what was opened.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use a_society_facts::Hash;
use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, Stat, fchmod, fstat, mkdirat, openat, readlink, renameat,
    statat, unlinkat,
};
use rustix::io::Errno;

use super::super::form::clipped;
use super::super::limits::{self, FILE_BYTES};
use super::super::refusal::{CallRefusal, RefusalKind};
use super::close::missing;
use super::floor::Floor;
use super::path::{Located, out_of_reach};
use super::roots::{Root, Roots, closed};
use crate::number::grouped;

/// How often a resolution is tried again that the kernel gave up because something was moved in
/// the meantime.
const RETRIES: u32 = 16;

/// How often another name is tried for a file that takes another's place.
const NAMES: u32 = 64;

/// How many letters of a hash tell the files of a folder apart.
const HALF_NAME_LETTERS: usize = 16;

/// A file or folder that may be read.
#[derive(Debug)]
pub(in super::super) struct OpenEntry {
    pub file: OwnedFd,
    pub stat: Stat,
    pub floor: Floor,
    /// The path that it really has.
    pub real: PathBuf,
}

/// What something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum InodeKind {
    File,
    Folder,
    Link,
    Other,
}

/// Opens what is to be read. Nothing waits: not even a pipe without a writer.
pub(in super::super) fn open_read(
    roots: &Roots,
    located: &Located,
) -> Result<OpenEntry, CallRefusal> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let root = roots.root(located)?;
    let file =
        resolve(root.folder.as_fd(), &located.rest, flags, Crossing::Allowed).map_err(|why| {
            match why {
                Errno::NOENT => missing(roots, located),
                why => not_opened(located, why),
            }
        })?;
    let stat = fstat(&file).map_err(|why| not_opened(located, why))?;
    let real = real_beneath(root, &located.rest, &file);
    let floor = roots.judge(located, &real)?;
    if floor == Floor::Closed {
        return Err(closed(located));
    }
    let floor = if is_anothers(root, &stat) {
        floor.max(Floor::Sensitive)
    } else {
        floor
    };
    Ok(OpenEntry {
        file,
        stat,
        floor,
        real,
    })
}

/// Whether a file runs with another's rights, or belongs in the project to a user who is neither its
/// owner nor this one: who put it there may not want it read.
fn is_anothers(root: &Root, stat: &Stat) -> bool {
    if stat_kind(stat) != InodeKind::File {
        return false;
    }
    let has_rights = Mode::from_raw_mode(stat.st_mode).intersects(Mode::SUID | Mode::SGID);
    let owner = fstat(&root.folder).map_or(stat.st_uid, |folder| folder.st_uid);
    let is_ours = stat.st_uid == owner || stat.st_uid == rustix::process::geteuid().as_raw();
    has_rights || (root.is_writable && !is_ours)
}

/// Whether something is there that may be read.
pub(in super::super) fn is_there(roots: &Roots, located: &Located) -> bool {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let Ok(root) = roots.root(located) else {
        return false;
    };
    let opened = resolve(root.folder.as_fd(), &located.rest, flags, Crossing::Allowed);
    opened.is_ok_and(|file| {
        let real = real_beneath(root, &located.rest, &file);
        (roots.judge(located, &real)).is_ok_and(|floor| floor <= Floor::ReadOnly)
    })
}

/// The path that a file really has, or would have if it was made: that of the nearest folder above it
/// that is there, and the names from there. Nothing if that is unknown.
pub(in super::super) fn real_of(roots: &Roots, located: &Located) -> Option<PathBuf> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let root = roots.root(located).ok()?;
    for above in located.rest.ancestors() {
        match resolve(root.folder.as_fd(), above, flags, Crossing::Allowed) {
            Ok(file) => {
                let rest = located.rest.strip_prefix(above).ok()?;
                let real = match above.as_os_str().is_empty() {
                    true => root.path.clone(),
                    false => real_path(&file)?,
                };
                // An empty rest would leave a slash at its end.
                return Some(if rest.as_os_str().is_empty() {
                    real
                } else {
                    real.join(rest)
                });
            }
            Err(Errno::NOENT) => {}
            Err(_) => return None,
        }
    }
    None
}

/// Opens a folder.
pub(in super::super) fn open_folder(
    roots: &Roots,
    located: &Located,
) -> Result<OpenEntry, CallRefusal> {
    let entry = open_read(roots, located)?;
    match stat_kind(&entry.stat) {
        InodeKind::Folder => Ok(entry),
        InodeKind::File | InodeKind::Link | InodeKind::Other => {
            Err(impossible(format!("{} is not a folder.", located.shown)))
        }
    }
}

/// Opens the folder in which a file is to be written, and says the file's name in it. Folders that
/// are missing are made if `make` says so; else there is nothing.
pub(in super::super) fn open_parent(
    roots: &Roots,
    located: &Located,
    make: bool,
) -> Result<Option<(OwnedFd, OsString)>, CallRefusal> {
    let root = roots.root(located)?;
    if !root.is_writable {
        return Err(out_of_reach(format!(
            "{} is not written: files are written only in the project and the record folder.",
            located.shown
        )));
    }
    let Some(name) = located.rest.file_name().map(OsStr::to_owned) else {
        return Err(impossible(format!("{} is a folder.", located.shown)));
    };
    let above = located.rest.parent().unwrap_or(Path::new(""));
    let opened = open_beneath(root.folder.as_fd(), above);
    let folder = match opened {
        Err(Errno::NOENT) if above.components().count() >= limits::SEARCH_DEPTH => {
            return Err(too_deep(located, above.components().count()));
        }
        Err(Errno::NOENT) if !make => {
            writable(roots, located, &root.path.join(&located.rest))?;
            return Ok(None);
        }
        Err(Errno::NOENT) => {
            // Judged before anything is made, by the part of it that is there.
            writable(roots, located, &root.path.join(&located.rest))?;
            made(root.folder.as_fd(), above)
        }
        other => other,
    };
    let folder = folder.map_err(|why| not_opened(located, why))?;
    let real = real_beneath(root, above, &folder);
    writable(roots, located, &real.join(&name))?;
    Ok(Some((folder, name)))
}

/// A file that no search would find again, below folders that are not there.
fn too_deep(located: &Located, folders: usize) -> CallRefusal {
    impossible(format!(
        "{} would stand {} folders deep. Folders are made at most {} deep, as far as searches go: choose \
         a shorter path. Nothing was changed.",
        clipped(&located.shown),
        grouped(folders as u64),
        limits::SEARCH_DEPTH - 1
    ))
}

fn writable(roots: &Roots, located: &Located, real: &Path) -> Result<(), CallRefusal> {
    match roots.judge(located, real)? {
        Floor::Open => Ok(()),
        Floor::Closed => Err(closed(located)),
        Floor::ReadOnly | Floor::Sensitive => Err(out_of_reach(format!(
            "{} is not written by tools: it holds keys, or decides what tools may do.",
            located.shown
        ))),
    }
}

fn open_beneath(folder: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    resolve(folder, path, flags, Crossing::Refused)
}

/// Makes the folders of a path, one after the other, each opened in the last. No link is followed
/// here: where it leads is not judged before something is made.
pub(super) fn made(root: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open =
        |folder: BorrowedFd<'_>, name: &Path| resolve(folder, name, flags, Crossing::Refused);
    let mut folder = open_beneath(root, Path::new(""))?;
    for part in path.components() {
        let Component::Normal(name) = part else {
            return Err(Errno::INVAL);
        };
        folder = match open(folder.as_fd(), Path::new(name)) {
            Err(Errno::NOENT) => {
                match mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(why) => return Err(why),
                }
                open(folder.as_fd(), Path::new(name))?
            }
            other => other?,
        };
    }
    Ok(folder)
}

/// Whether a resolution may pass from one file system into another that is mounted within.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Crossing {
    Allowed,
    Refused,
}

#[cfg(target_os = "linux")]
fn resolve(
    folder: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    crossing: Crossing,
) -> Result<OwnedFd, Errno> {
    use rustix::fs::{ResolveFlags, openat2};

    let mut how = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    if crossing == Crossing::Refused {
        how |= ResolveFlags::NO_XDEV;
    }
    let name = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    let mut tries = 0;
    loop {
        match openat2(folder, name, flags, Mode::empty(), how) {
            Err(Errno::AGAIN) if tries < RETRIES => tries += 1,
            // A kernel, or a filter around us, that does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => return walk(folder, path, flags),
            other => return other,
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn resolve(
    folder: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    _crossing: Crossing,
) -> Result<OwnedFd, Errno> {
    walk(folder, path, flags)
}

/// The same name by name, where the kernel cannot do it at once. No link is followed, so that
/// there is nothing that could lead out.
fn walk(folder: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let step = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut here = openat(folder, ".", step, Mode::empty())?;
    let mut names = path.components().peekable();
    if names.peek().is_none() {
        return openat(folder, ".", flags, Mode::empty());
    }
    while let Some(part) = names.next() {
        let Component::Normal(name) = part else {
            return Err(Errno::XDEV);
        };
        if names.peek().is_none() {
            return openat(&here, name, flags | OFlags::NOFOLLOW, Mode::empty());
        }
        here = openat(&here, name, step, Mode::empty())?;
    }
    Err(Errno::INVAL)
}

/// The path that an open file really has, where the system tells.
pub(in super::super) fn real_path(file: &impl AsFd) -> Option<PathBuf> {
    use std::os::fd::AsRawFd as _;

    let link = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    let target = readlink(link, Vec::new()).ok()?;
    Some(PathBuf::from(OsStr::from_bytes(target.as_bytes())))
}

/// The same for what was opened beneath a root by the path `rest`. A root's own was asked for when it was opened.
fn real_beneath(root: &Root, rest: &Path, opened: &impl AsFd) -> PathBuf {
    if rest.as_os_str().is_empty() {
        return root.path.clone();
    }
    real_path(opened).unwrap_or_else(|| root.path.join(rest))
}

/// What something is.
pub(in super::super) fn stat_kind(stat: &Stat) -> InodeKind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => InodeKind::File,
        FileType::Directory => InodeKind::Folder,
        FileType::Symlink => InodeKind::Link,
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => InodeKind::Other,
    }
}

/// All bytes of a file, if they are not too many.
pub(in super::super) fn read_bytes(entry: OpenEntry, shown: &str) -> Result<Vec<u8>, CallRefusal> {
    match stat_kind(&entry.stat) {
        InodeKind::File => {}
        InodeKind::Folder => {
            return Err(impossible(format!(
                "{shown} is a folder; use list_directory."
            )));
        }
        InodeKind::Link | InodeKind::Other => {
            return Err(impossible(format!("{shown} is not a regular file.")));
        }
    }
    let mut bytes = Vec::new();
    let file = std::io::BufReader::new(Bytes(entry.file));
    file.take(FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|why| impossible(format!("{shown} could not be read: {why}.")))?;
    if bytes.len() as u64 > FILE_BYTES {
        return Err(impossible(format!(
            "{shown} is larger than {FILE_BYTES} bytes; use a command."
        )));
    }
    Ok(bytes)
}

/// Reading from a descriptor.
#[derive(Debug)]
pub(in super::super) struct Bytes(pub OwnedFd);

impl std::io::Read for Bytes {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        Ok(rustix::io::read(&self.0, into)?)
    }
}

/// The hash of a file that may be written; nothing if it is not there. Says why it may not.
pub(in super::super) fn hash_of(
    roots: &Roots,
    located: &Located,
) -> Result<Option<(Hash, Vec<u8>)>, CallRefusal> {
    let Some((folder, name)) = open_parent(roots, located, false)? else {
        return Ok(None);
    };
    let Some(entry) = target(&folder, &name, located)? else {
        return Ok(None);
    };
    let bytes = read_bytes(entry, &located.shown)?;
    Ok(Some((Hash::of(&bytes), bytes)))
}

/// The file that is to be replaced, if there is one. A link does not count, wherever it leads; a file
/// that has a second name would be changed under both.
fn target(
    folder: &OwnedFd,
    name: &OsStr,
    located: &Located,
) -> Result<Option<OpenEntry>, CallRefusal> {
    let shown = &located.shown;
    let flags =
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = match openat(folder, name, flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::LOOP | Errno::MLINK) => {
            return Err(out_of_reach(format!(
                "{shown} is a symbolic link, which is not written through. Write the file itself."
            )));
        }
        Err(why) => return Err(not_opened(located, why)),
    };
    let stat = fstat(&file).map_err(|why| not_opened(located, why))?;
    if stat_kind(&stat) == InodeKind::File && stat.st_nlink > 1 {
        return Err(out_of_reach(format!(
            "{shown} has another name somewhere (a hard link), so it is not written."
        )));
    }
    let real = PathBuf::from(name);
    Ok(Some(OpenEntry {
        file,
        stat,
        floor: Floor::Open,
        real,
    }))
}

/// Writes a file whole, or not at all, if its hash is still what it was. It is not synced: after a
/// crash the hashes of the call tell whether it is there.
pub(in super::super) fn replace(
    roots: &Roots,
    located: &Located,
    before: Option<Hash>,
    bytes: &[u8],
) -> Result<(), CallRefusal> {
    let (folder, name) = open_parent(roots, located, true)?
        .ok_or_else(|| impossible(format!("{} has no folder.", located.shown)))?;
    let found = target(&folder, &name, located)?;
    let mode = found.as_ref().map(|entry| entry.stat.st_mode & 0o777);
    let now = match found {
        Some(entry) => Some(Hash::of(&read_bytes(entry, &located.shown)?)),
        None => None,
    };
    if now != before {
        return Err(stale(&located.shown));
    }
    let failed = |why: Errno| impossible(format!("{} could not be written: {why}.", located.shown));
    let new = if roots.is_record(located) {
        PRIVATE
    } else {
        SHARED
    };
    let (temporary, file) = temporary(&folder, &name, new).map_err(failed)?;
    let done = fill(&file, bytes)
        .and_then(|()| match mode {
            Some(mode) => fchmod(&file, Mode::from_raw_mode(mode)),
            None => Ok(()),
        })
        .and_then(|()| renameat(&folder, &temporary, &folder, &name));
    if let Err(why) = done {
        // Nothing else knows the name; if it cannot be removed, the original fault is reported.
        let _left = unlinkat(&folder, &temporary, AtFlags::empty());
        return Err(failed(why));
    }
    Ok(())
}

/// Removes a file, if its hash is still what it was.
pub(in super::super) fn remove(
    roots: &Roots,
    located: &Located,
    before: Option<Hash>,
) -> Result<(), CallRefusal> {
    let Some((folder, name)) = open_parent(roots, located, false)? else {
        return Err(stale(&located.shown));
    };
    let Some(entry) = target(&folder, &name, located)? else {
        return Err(stale(&located.shown));
    };
    if Some(Hash::of(&read_bytes(entry, &located.shown)?)) != before {
        return Err(stale(&located.shown));
    }
    let failed = |why: Errno| impossible(format!("{} could not be deleted: {why}.", located.shown));
    unlinkat(&folder, &name, AtFlags::empty()).map_err(failed)
}

/// Removes what a killed process had written of a file and not put in its place yet.
pub(in super::super) fn clear_halves(roots: &Roots, located: &Located) -> Result<(), CallRefusal> {
    let Some((folder, name)) = open_parent(roots, located, false)? else {
        return Ok(());
    };
    for half in half_names(&name) {
        match unlinkat(&folder, &half, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(why) => {
                let left = format!("{} could not be removed: {why}.", half.display());
                return Err(impossible(left));
            }
        }
    }
    Ok(())
}

/// What a file may be called before it takes its place: known by the file's own name, so that a process
/// that goes on after a kill finds it.
fn half_names(name: &OsStr) -> impl Iterator<Item = OsString> {
    let hash = Hash::of(name.as_bytes()).to_string();
    (0..NAMES).map(move |number| {
        let short = hash.get(..HALF_NAME_LETTERS).unwrap_or_default();
        OsString::from(format!(".a-society-{short}-{number}.tmp"))
    })
}

/// How a new file of the project is made; the umask takes away from it.
const SHARED: Mode = Mode::from_raw_mode(0o666);

/// How a new file of the flow's record is made: it is its owner's alone, as all of the state.
pub(super) const PRIVATE: Mode = Mode::from_raw_mode(0o600);

/// A new file beside the one whose place it takes.
pub(super) fn temporary(
    folder: &OwnedFd,
    name: &OsStr,
    mode: Mode,
) -> Result<(OsString, OwnedFd), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for name in half_names(name) {
        match openat(folder, &name, flags, mode) {
            Err(Errno::EXIST) => {}
            Err(why) => return Err(why),
            Ok(file) => return Ok((name, file)),
        }
    }
    Err(Errno::EXIST)
}

pub(super) fn fill(file: &OwnedFd, bytes: &[u8]) -> Result<(), Errno> {
    let mut left = bytes;
    while !left.is_empty() {
        match rustix::io::write(file, left) {
            Err(Errno::INTR) => {}
            other => left = left.get(other?..).unwrap_or_default(),
        }
    }
    Ok(())
}

/// What is in a folder, as many entries as are looked at, in the order of their names.
pub(in super::super) fn entries(
    folder: &OwnedFd,
    at_most: usize,
) -> Result<(Vec<OsString>, bool), Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        if names.len() == at_most {
            names.sort();
            return Ok((names, true));
        }
        names.push(OsStr::from_bytes(name).to_owned());
    }
    names.sort();
    Ok((names, false))
}

/// An entry of a folder, without following links.
pub(in super::super) fn child(folder: &OwnedFd, name: &OsStr) -> Option<Stat> {
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()
}

pub(in super::super) fn stale(shown: &str) -> CallRefusal {
    CallRefusal::new(
        RefusalKind::Stale,
        format!("{shown} changed since you read it. Nothing was done. Read it again."),
    )
}

pub(in super::super) fn impossible(text: impl Into<String>) -> CallRefusal {
    CallRefusal::new(RefusalKind::NotPossible, text)
}

fn not_opened(located: &Located, why: Errno) -> CallRefusal {
    let shown = &located.shown;
    match why {
        Errno::NOENT => impossible(format!("No file {shown}.")),
        Errno::NOTDIR => impossible(format!("A part of {shown} is not a folder.")),
        Errno::ACCESS => impossible(format!("{shown} may not be read by this user.")),
        Errno::XDEV => out_of_reach(format!(
            "{shown} leads out of the folders that are in reach."
        )),
        Errno::LOOP => out_of_reach(format!(
            "{shown} leads through a symbolic link that is not followed."
        )),
        why => impossible(format!("{shown} could not be opened: {why}.")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A kernel that cannot resolve a path at once is no reason to follow a link.
    #[test]
    fn name_by_name_the_same_files_are_opened_and_no_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/file"), "x").unwrap();
        fs::write(folder.path().join("outside"), "x").unwrap();
        for (target, link) in [
            ("../outside", "out"),
            ("..", "up"),
            ("a/b", "in"),
            ("/", "system"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        let open = fs::File::open(&root).unwrap();
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        for path in ["", "a", "a/b", "a/b/file"] {
            let walked = walk(open.as_fd(), Path::new(path), flags).unwrap();
            let resolved =
                resolve(open.as_fd(), Path::new(path), flags, Crossing::Refused).unwrap();
            assert_eq!(real_path(&walked), real_path(&resolved), "{path}");
        }
        for path in [
            "out",
            "up",
            "up/outside",
            "in",
            "in/file",
            "system/etc",
            "..",
            "/etc",
            "a/../a",
            "none",
        ] {
            assert!(
                walk(open.as_fd(), Path::new(path), flags).is_err(),
                "{path}"
            );
        }
    }
}
