//! The real disk, with every sync and every byte counted.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use a_society_state::disk::{About, Disk, DiskFile, Entry, How, Locked, RealDisk};

/// What was done so far.
#[derive(Debug, Default, Clone)]
pub(crate) struct Counts {
    /// For each sync, of files and of folders, how many bytes had been appended since the last one.
    pub(crate) syncs: Vec<usize>,
    /// How long all of them took.
    pub(crate) syncing: Duration,
    /// How many bytes were appended to files, by what they are.
    pub(crate) bytes: BTreeMap<&'static str, u64>,
    unsynced: usize,
}

/// Counts for everybody who holds it.
#[derive(Debug, Default, Clone)]
pub(crate) struct CountedDisk(Arc<Mutex<Counts>>);

#[derive(Debug)]
struct CountedFile {
    file: Box<dyn DiskFile>,
    what: &'static str,
    counts: Arc<Mutex<Counts>>,
}

/// What a file of a flow is, by its path.
fn what(path: &Path) -> &'static str {
    const KINDS: [(&str, &str); 8] = [
        ("checkpoint", "checkpoints"),
        ("/journal/", "journal"),
        ("transcript.json", "transcripts"),
        ("feed.json", "feeds"),
        ("flow.json", "flow.json"),
        ("views.json", "views.json"),
        ("/record/", "record folder"),
        ("/blobs/", "blobs"),
    ];
    let path = path.to_string_lossy();
    let kind = KINDS.iter().find(|(part, _)| path.contains(part));
    kind.map_or("other files", |(_, what)| what)
}

impl CountedDisk {
    /// What was done since this was last asked.
    pub(crate) fn take(&self) -> Counts {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn synced(counts: &Mutex<Counts>, sync: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let started = Instant::now();
    let done = sync();
    let mut counts = counts.lock().unwrap();
    counts.syncing += started.elapsed();
    let bytes = std::mem::take(&mut counts.unsynced);
    counts.syncs.push(bytes);
    done
}

/// As many syncs of as many bytes on a file of their own, and nothing else: how long they take.
pub(crate) fn bare(folder: &Path, syncs: &[usize]) -> Duration {
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join("bare"))
        .unwrap();
    let bytes = vec![b'x'; syncs.iter().copied().max().unwrap_or(0)];
    let started = Instant::now();
    for length in syncs {
        file.write_all(&bytes[..*length]).unwrap();
        file.sync_data().unwrap();
    }
    started.elapsed()
}

impl Disk for CountedDisk {
    fn open(&self, path: &Path, how: How) -> io::Result<Box<dyn DiskFile>> {
        let file = RealDisk.open(path, how)?;
        let (what, counts) = (what(path), Arc::clone(&self.0));
        Ok(Box::new(CountedFile { file, what, counts }))
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        RealDisk.create_folder(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        synced(&self.0, || RealDisk.sync_folder(path))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.link(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove_file(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove_folder(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        RealDisk.list(path)
    }

    fn about(&self, path: &Path) -> io::Result<About> {
        RealDisk.about(path)
    }

    fn whole(&self, path: &Path) -> io::Result<PathBuf> {
        RealDisk.whole(path)
    }

    fn keep_private(&self, path: &Path) -> io::Result<u64> {
        RealDisk.keep_private(path)
    }

    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        RealDisk.free_bytes(path)
    }
}

impl DiskFile for CountedFile {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(offset, into)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let wrote = self.file.append(bytes)?;
        let mut counts = self.counts.lock().unwrap();
        *counts.bytes.entry(self.what).or_default() += wrote as u64;
        counts.unsynced += wrote;
        Ok(wrote)
    }

    fn set_size(&mut self, size_bytes: u64) -> io::Result<()> {
        self.file.set_size(size_bytes)
    }

    fn reserve(&mut self, size_bytes: u64) -> io::Result<()> {
        self.file.reserve(size_bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        synced(&self.counts, || self.file.sync())
    }

    fn size_bytes(&self) -> io::Result<u64> {
        self.file.size_bytes()
    }

    fn share(&self) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(Self {
            file: self.file.share()?,
            what: self.what,
            counts: Arc::clone(&self.counts),
        }))
    }

    fn try_lock(&mut self) -> io::Result<Locked> {
        self.file.try_lock()
    }
}
