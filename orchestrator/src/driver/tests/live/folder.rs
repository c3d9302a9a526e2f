//! A folder that vanishes, in which real tools and programs work.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use a_society_facts::At;
use a_society_state::clock::CountingClock;
use a_society_state::disk::RealDisk;
use a_society_state::{Ground, Store, process};

use super::Files;

const BEGINS_MS: i64 = 1_795_246_169_123;

/// A folder with a project and a folder of flows. Its own path is written as `/w`.
pub(super) struct Folder(tempfile::TempDir);

impl Folder {
    pub(super) fn new() -> Self {
        // What is done here is done a thousand times, and power cuts are tried elsewhere.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let folder = folder.unwrap();
        // A project that leaves open how its flows end.
        std::fs::create_dir_all(folder.path().join("project/a-docs")).unwrap();
        Self(folder)
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(super) fn project(&self) -> PathBuf {
        self.path().join("project")
    }

    pub(super) fn store(&self) -> Store {
        let disk = RealDisk;
        let process = process::this(&disk);
        let ground = Ground {
            disk: Arc::new(disk),
            clock: Arc::new(CountingClock::from(At::from_ms(BEGINS_MS))),
            process,
            ledger: None,
        };
        Store::new(ground, self.path().join(".a-society/state"))
    }

    /// Makes these the only files. The folder stays the same one: consent is bound to it.
    pub(super) fn set(&self, files: &Files) {
        let state = self.path().join(".a-society");
        std::fs::remove_dir_all(state).unwrap();
        for entry in std::fs::read_dir(self.project()).unwrap() {
            remove(&entry.unwrap().path());
        }
        for (path, bytes) in files {
            self.write(path, bytes);
        }
    }

    pub(super) fn files(&self) -> Files {
        let mut found = Files::new();
        gather(self.path(), self.path(), &mut found);
        found
    }

    pub(super) fn write(&self, path: &Path, bytes: &[u8]) {
        let path = match path.strip_prefix("/w") {
            Ok(inside) => self.path().join(inside),
            Err(_) => path.to_owned(),
        };
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

/// A file, a link or a folder is gone afterwards, if it was there.
pub(super) fn remove(path: &Path) {
    let _gone = std::fs::remove_file(path);
    let _gone = std::fs::remove_dir_all(path);
}

fn gather(root: &Path, folder: &Path, found: &mut Files) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let about = std::fs::symlink_metadata(&path).unwrap();
        if about.is_dir() {
            gather(root, &path, found);
        } else if about.is_file() {
            let name = Path::new("/w").join(path.strip_prefix(root).unwrap());
            found.insert(name, Arc::new(std::fs::read(&path).unwrap()));
        }
    }
}
