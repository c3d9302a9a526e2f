//! Going through folders, each opened in the one above it, without what ignore files name.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use a_society_base::stop::StopSignal;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{Dir, FileType, Mode, OFlags, openat};

use super::super::files::{self, Floor, InodeKind, Located, OpenEntry, Roots};
use super::super::limits;
use super::super::read::shown_name;
use super::super::stopwatch::Stopwatch;
use crate::number::grouped;

/// The files in which a folder says what is left out of searches; the later one counts.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];

/// A walk through a folder.
#[derive(Debug)]
pub(super) struct FolderWalk<'a> {
    roots: &'a Roots,
    located: &'a Located,
    stop: &'a StopSignal,
    begun: Stopwatch,
    /// Whether names that begin with a dot are left out.
    skips_hidden: bool,
    /// What the folders down to the present one leave out, each with how many names its own path has.
    layers: Vec<(usize, Gitignore)>,
    /// The present folder's path from its root.
    rest: PathBuf,
    entries: usize,
    /// How many entries ignore files named.
    pub ignored: usize,
    /// Why it stopped before its end.
    pub ended: Option<String>,
    /// Whether folders were too deep to be looked into. Others are looked through all the same.
    pub leaves_deep: bool,
}

/// A file on the way.
#[derive(Debug)]
pub(super) struct WalkStep<'a> {
    /// Its folder.
    pub folder: &'a OwnedFd,
    /// Its name there.
    pub name: &'a OsStr,
    /// Its path from the root to which it belongs.
    pub rest: &'a Path,
}

impl WalkStep<'_> {
    /// Opens the file, if it is a regular one. No link is followed.
    pub(super) fn open(&self) -> Option<OpenEntry> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(self.folder, self.name, flags, Mode::empty()).ok()?;
        let stat = rustix::fs::fstat(&file).ok()?;
        (files::stat_kind(&stat) == InodeKind::File).then_some(OpenEntry {
            file,
            stat,
            floor: Floor::Open,
            real: self.rest.to_owned(),
        })
    }
}

impl<'a> FolderWalk<'a> {
    pub(super) fn new(
        roots: &'a Roots,
        located: &'a Located,
        skips_hidden: bool,
        stop: &'a StopSignal,
    ) -> Self {
        Self {
            roots,
            located,
            stop,
            begun: Stopwatch::start(),
            skips_hidden,
            layers: Vec::new(),
            rest: located.rest.clone(),
            entries: 0,
            ignored: 0,
            ended: None,
            leaves_deep: false,
        }
    }

    /// Looks at every file below a folder, in the order of their names, until `see` breaks off.
    pub(super) fn run(
        &mut self,
        folder: &OwnedFd,
        see: &mut dyn FnMut(&WalkStep<'_>) -> ControlFlow<()>,
    ) {
        self.layers_above();
        let _broken_off = self.folder(folder, 0, see);
    }

    /// Whether it is to go on. Says why not.
    fn goes_on(&mut self) -> bool {
        if self.stop.is_raised() {
            self.ended = Some("the turn was stopped".to_owned());
        } else if self.begun.elapsed() >= limits::SEARCH_TIME {
            let seconds = limits::SEARCH_TIME.as_secs();
            self.ended = Some(format!("{seconds} s"));
        }
        self.ended.is_none()
    }

    /// What the folders above the one that is walked through leave out.
    fn layers_above(&mut self) {
        let Some(above) = self.located.rest.parent() else {
            return;
        };
        let mut folders: Vec<&Path> = above.ancestors().collect();
        folders.reverse();
        for rest in folders {
            let located = Located {
                rest: rest.to_owned(),
                ..self.located.clone()
            };
            if let Ok(entry) = files::open_folder(self.roots, &located) {
                self.add_layer(&entry.file, rest.iter().count());
            }
        }
    }

    fn add_layer(&mut self, folder: &OwnedFd, depth: usize) -> bool {
        let mut builder = GitignoreBuilder::new("");
        let mut is_any = false;
        for name in IGNORE_FILES {
            let Some(text) = ignore_file(folder, name) else {
                continue;
            };
            for line in text.lines() {
                // A line that is no pattern ignores nothing.
                is_any |= builder.add_line(None, line).is_ok();
            }
        }
        let Some(layer) = is_any.then(|| builder.build().ok()).flatten() else {
            return false;
        };
        self.layers.push((depth, layer));
        true
    }

    /// Whether an ignore file names the present folder's entry; the innermost one decides.
    fn is_ignored(&self, is_folder: bool) -> bool {
        for (depth, layer) in self.layers.iter().rev() {
            let mut names = self.rest.components();
            if *depth > 0 {
                names.by_ref().nth(depth - 1);
            }
            match layer.matched(names.as_path(), is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        false
    }

    fn folder(
        &mut self,
        folder: &OwnedFd,
        depth: usize,
        see: &mut dyn FnMut(&WalkStep<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if depth >= limits::SEARCH_DEPTH {
            self.leaves_deep = true;
            return ControlFlow::Continue(());
        }
        let names = self.names(folder);
        let has_layer = self.add_layer(folder, self.rest.iter().count());
        for (name, kind) in &names {
            self.rest.push(name);
            let went = self.entry(folder, name, *kind, depth, see);
            self.rest.pop();
            went?;
        }
        if has_layer {
            self.layers.pop();
        }
        if self.ended.is_some() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn entry(
        &mut self,
        folder: &OwnedFd,
        name: &OsStr,
        kind: FileType,
        depth: usize,
        see: &mut dyn FnMut(&WalkStep<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if self.skips_hidden && name.as_bytes().starts_with(b".") {
            return ControlFlow::Continue(());
        }
        let is_folder = kind == FileType::Directory;
        if self.is_ignored(is_folder) {
            self.ignored += 1;
            return ControlFlow::Continue(());
        }
        if !self.goes_on() {
            return ControlFlow::Break(());
        }
        if !is_folder {
            let rest = &self.rest;
            return see(&WalkStep { folder, name, rest });
        }
        if self.roots.floor_of(self.located, &self.rest) == Floor::Closed
            || self.roots.is_kept(self.located, &self.rest)
        {
            return ControlFlow::Continue(());
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(folder, name, flags, Mode::empty()) {
            Ok(below) => self.folder(&below, depth + 1, see),
            Err(_) => ControlFlow::Continue(()),
        }
    }

    /// The files and folders in a folder, by name. Links, pipes and devices are left out.
    fn names(&mut self, folder: &OwnedFd) -> Vec<(OsString, FileType)> {
        let mut names = Vec::new();
        for entry in Dir::read_from(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            if self.entries >= limits::SEARCH_ENTRIES {
                self.ended = Some(format!("{} entries", grouped(self.entries)));
                break;
            }
            self.entries += 1;
            let name = OsStr::from_bytes(name);
            let mut kind = entry.file_type();
            if kind == FileType::Unknown {
                // Some file systems do not say it along with the name.
                let stat = files::child(folder, name);
                kind = stat.map_or(kind, |stat| FileType::from_raw_mode(stat.st_mode));
            }
            if matches!(kind, FileType::RegularFile | FileType::Directory) {
                names.push((name.to_owned(), kind));
            }
        }
        names.sort_by(|one, other| one.0.cmp(&other.0));
        names
    }
}

/// How the operator and models read a path below the folder that is searched.
pub(super) fn shown(located: &Located, below: &Path) -> String {
    let mut shown = match located.shown.as_str() {
        "." => String::new(),
        above => above.trim_end_matches('/').to_owned(),
    };
    for name in below {
        if !shown.is_empty() {
            shown.push('/');
        }
        shown.push_str(&shown_name(name));
    }
    shown
}

/// The text of an ignore file, as far as one is read.
fn ignore_file(folder: &OwnedFd, name: &str) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(folder, name, flags, Mode::empty()).ok()?;
    let stat = rustix::fs::fstat(&file).ok()?;
    if files::stat_kind(&stat) != InodeKind::File {
        return None;
    }
    let mut bytes = Vec::new();
    let read = files::Bytes(file)
        .take(limits::IGNORE_FILE_BYTES)
        .read_to_end(&mut bytes);
    read.ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
