//! The disk in memory against the machine's own: the same operations give the same results.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use a_society_state::disk::{Disk, DiskFile, How, Kind, Locked, RealDisk};
use proptest::prelude::*;

use super::FaultyDisk;

/// How many files a run holds open at once.
const SLOTS: usize = 4;

/// The paths that a run uses. There are few, so that operations often meet.
const PATHS: [&str; 9] = [
    "a",
    "b",
    "f",
    "f/a",
    "f/b",
    "f/g",
    "f/g/a",
    "missing/a",
    "f/g/h",
];

#[derive(Debug, Clone)]
enum Step {
    Open(usize, &'static str, How),
    Close(usize),
    Read(usize, u64, usize),
    Append(usize, Vec<u8>),
    SetSize(usize, u64),
    Reserve(usize, u64),
    Sync(usize),
    Size(usize),
    Lock(usize),
    CreateFolder(&'static str),
    SyncFolder(&'static str),
    Rename(&'static str, &'static str),
    Link(&'static str, &'static str),
    RemoveFile(&'static str),
    RemoveFolder(&'static str),
    List(&'static str),
    About(&'static str),
    FreeBytes(&'static str),
}

/// What a step returned, as far as both disks must agree on it.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Nothing,
    Number(u64),
    Bytes(Vec<u8>),
    Locked(Locked),
    Names(Vec<(String, Kind)>),
    About(Kind, u64),
    Refused(io::ErrorKind, Option<i32>),
}

impl From<io::Error> for Answer {
    fn from(error: io::Error) -> Self {
        Self::Refused(error.kind(), error.raw_os_error())
    }
}

/// One disk with the files that are open on it.
struct Run<'a> {
    disk: &'a dyn Disk,
    root: &'a Path,
    open: [Option<Box<dyn DiskFile>>; SLOTS],
}

impl<'a> Run<'a> {
    fn new(disk: &'a dyn Disk, root: &'a Path) -> Self {
        Self {
            disk,
            root,
            open: Default::default(),
        }
    }

    fn answer(&mut self, step: &Step) -> Answer {
        self.take(step).unwrap_or_else(Answer::from)
    }

    fn take(&mut self, step: &Step) -> io::Result<Answer> {
        match step {
            Step::Open(slot, path, how) => {
                self.open[*slot] = None;
                self.open[*slot] = Some(self.disk.open(&self.root.join(path), *how)?);
                Ok(Answer::Nothing)
            }
            Step::Close(slot) => {
                self.open[*slot] = None;
                Ok(Answer::Nothing)
            }
            Step::CreateFolder(path) => nothing(self.disk.create_folder(&self.root.join(path))),
            Step::SyncFolder(path) => nothing(self.disk.sync_folder(&self.root.join(path))),
            Step::Rename(from, to) => {
                nothing(self.disk.rename(&self.root.join(from), &self.root.join(to)))
            }
            Step::Link(from, to) => {
                nothing(self.disk.link(&self.root.join(from), &self.root.join(to)))
            }
            Step::RemoveFile(path) => nothing(self.disk.remove_file(&self.root.join(path))),
            Step::RemoveFolder(path) => nothing(self.disk.remove_folder(&self.root.join(path))),
            Step::List(path) => {
                let entries = self.disk.list(&self.root.join(path))?;
                let names = entries.into_iter().map(|entry| (entry.name, entry.kind));
                Ok(Answer::Names(names.collect()))
            }
            Step::About(path) => {
                let about = self.disk.about(&self.root.join(path))?;
                // What a folder's size means differs between file systems.
                let is_file = about.kind == Kind::File;
                let size_bytes = if is_file { about.size_bytes } else { 0 };
                Ok(Answer::About(about.kind, size_bytes))
            }
            Step::FreeBytes(path) => {
                let free = self.disk.free_bytes(&self.root.join(path))?;
                Ok(Answer::Number(u64::from(free > 0)))
            }
            Step::Read(slot, ..)
            | Step::Append(slot, _)
            | Step::SetSize(slot, _)
            | Step::Reserve(slot, _)
            | Step::Sync(slot)
            | Step::Size(slot)
            | Step::Lock(slot) => match &mut self.open[*slot] {
                Some(file) => take_on_file(file.as_mut(), step),
                None => Ok(Answer::Nothing),
            },
        }
    }
}

fn take_on_file(file: &mut dyn DiskFile, step: &Step) -> io::Result<Answer> {
    match step {
        Step::Read(_, offset, length) => {
            let mut bytes = vec![0xEE; *length];
            let got = file.read_at(*offset, &mut bytes)?;
            bytes.truncate(got);
            Ok(Answer::Bytes(bytes))
        }
        Step::Append(_, bytes) => Ok(Answer::Number(file.append(bytes)? as u64)),
        Step::SetSize(_, size_bytes) => nothing(file.set_size(*size_bytes)),
        Step::Reserve(_, size_bytes) => nothing(file.reserve(*size_bytes)),
        Step::Sync(_) => nothing(file.sync()),
        Step::Size(_) => Ok(Answer::Number(file.size_bytes()?)),
        Step::Lock(_) => Ok(Answer::Locked(file.try_lock()?)),
        Step::Open(..)
        | Step::Close(_)
        | Step::CreateFolder(_)
        | Step::SyncFolder(_)
        | Step::Rename(..)
        | Step::Link(..)
        | Step::RemoveFile(_)
        | Step::RemoveFolder(_)
        | Step::List(_)
        | Step::About(_)
        | Step::FreeBytes(_) => Ok(Answer::Nothing),
    }
}

fn nothing(done: io::Result<()>) -> io::Result<Answer> {
    done.map(|()| Answer::Nothing)
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let path = || prop::sample::select(&PATHS[..]);
    let slot = || 0..SLOTS;
    let how = prop_oneof![
        1 => Just(How::Read),
        2 => Just(How::Append),
        2 => Just(How::CreateNew),
        4 => Just(How::CreateOrAppend),
    ];
    let size = || prop_oneof![0_u64..20, 0_u64..10_000, Just(512), Just(4096)];
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..20),
        prop::collection::vec(any::<u8>(), 500..5000)
    ];
    let step = prop_oneof![
        8 => (slot(), path(), how).prop_map(|(slot, path, how)| Step::Open(slot, path, how)),
        2 => slot().prop_map(Step::Close),
        6 => (slot(), size(), 0_usize..6000).prop_map(|(s, at, n)| Step::Read(s, at, n)),
        8 => (slot(), bytes).prop_map(|(slot, bytes)| Step::Append(slot, bytes)),
        4 => (slot(), size()).prop_map(|(slot, size)| Step::SetSize(slot, size)),
        2 => (slot(), size()).prop_map(|(slot, size)| Step::Reserve(slot, size)),
        2 => slot().prop_map(Step::Sync),
        2 => slot().prop_map(Step::Size),
        3 => slot().prop_map(Step::Lock),
        5 => path().prop_map(Step::CreateFolder),
        1 => path().prop_map(Step::SyncFolder),
        8 => (path(), path()).prop_map(|(from, to)| Step::Rename(from, to)),
        4 => (path(), path()).prop_map(|(from, to)| Step::Link(from, to)),
        3 => path().prop_map(Step::RemoveFile),
        2 => path().prop_map(Step::RemoveFolder),
        2 => path().prop_map(Step::List),
        2 => path().prop_map(Step::About),
        1 => path().prop_map(Step::FreeBytes),
    ];
    prop::collection::vec(step, 1..60)
}

/// Every file below a folder of the machine, with its bytes.
fn real_files(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = fs::read(&path).unwrap();
                files.push((path.strip_prefix(root).unwrap().to_owned(), bytes));
            }
        }
    }
    files.sort();
    files
}

fn faulty_files(disk: &FaultyDisk, root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let named = disk.files().into_iter().map(|path| {
        let bytes = disk.read_file(&path).unwrap();
        (path.strip_prefix(root).unwrap().to_owned(), bytes)
    });
    named.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_disk_in_memory_answers_as_the_machines_own(steps in steps()) {
        let folder = tempfile::tempdir().unwrap();
        let memory = FaultyDisk::new();
        let memory_root = Path::new("/somewhere");
        memory.make_folder(memory_root).unwrap();
        let mut real = Run::new(&RealDisk, folder.path());
        let mut faulty = Run::new(&memory, memory_root);
        for (number, step) in steps.iter().enumerate() {
            let expected = real.answer(step);
            prop_assert_eq!(faulty.answer(step), expected, "step {}: {:?}", number, step);
        }
        prop_assert_eq!(faulty_files(&memory, memory_root), real_files(folder.path()));
    }
}

#[test]
fn both_disks_refuse_the_same_things_about_the_topmost_folder() {
    let memory = FaultyDisk::new();
    let root = Path::new("/");
    let disks: [&dyn Disk; 2] = [&RealDisk, &memory];
    let [real, faulty] = disks.map(|disk| {
        [
            disk.open(root, How::Read).map(drop).unwrap_err(),
            disk.open(root, How::Append).map(drop).unwrap_err(),
            disk.open(root, How::CreateNew).map(drop).unwrap_err(),
            disk.open(root, How::CreateOrAppend).map(drop).unwrap_err(),
            disk.open(Path::new(""), How::Read).map(drop).unwrap_err(),
            disk.create_folder(root).unwrap_err(),
            disk.remove_folder(root).unwrap_err(),
            disk.remove_file(root).unwrap_err(),
            disk.rename(root, Path::new("/x")).unwrap_err(),
            disk.link(root, root).unwrap_err(),
            disk.about(Path::new(&format!("/{}", "x".repeat(256))))
                .unwrap_err(),
        ]
        .map(|error| error.raw_os_error())
    });
    assert_eq!(real, faulty);
}
