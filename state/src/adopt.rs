//! Making a flow of facts that come from outside: from the files of another program.
//!
//! It is made in a folder that is not a flow's yet, under a lock of its own, and read back record
//! by record. It gets its name in one step, when everything in it is durable, so that it appears
//! whole or not at all. A folder at its path, if the flow was read from it, gets another
//! name first, and is otherwise not touched.

use std::io;
use std::path::{Component, Path, PathBuf};

use a_society_facts::legal::legal;
use a_society_facts::view::FactView as _;
use a_society_facts::view::flow::FlowState;
use a_society_facts::{At, Fact, Hash, Recorded};

use crate::blob;
use crate::disk::{Disk, Kind};
use crate::error::Error;
use crate::files::{make_folders, sync_folder, uninterrupted};
use crate::flow_ref::FlowRef;
use crate::fork::{copy, name_it};
use crate::journal::append::Writer;
use crate::journal::scan::Outcome;
use crate::layout::{COMING, FlowFolder};
use crate::lock::FlowLock;
use crate::open::fold_all;
use crate::retention::remove_tree;
use crate::store::Store;

/// A flow that is being made.
#[derive(Debug)]
pub struct Coming<'s> {
    store: &'s Store,
    flow: FlowRef,
    folder: FlowFolder,
    // Held until the flow has its name; another process that makes the same one waits for nothing.
    _lock: FlowLock,
}

impl<'s> Coming<'s> {
    /// Begins to make a flow. What a process that died left of the same is removed.
    ///
    /// # Errors
    /// When another process makes it just now, or the file system refuses.
    pub fn begin(store: &'s Store, flow: FlowRef) -> Result<Self, Error> {
        store.must_be_files("taking a flow over")?;
        let disk = store.disk();
        let coming = store.root().join(format!("{COMING}{}", flow.flow));
        let folder = FlowFolder::at(coming);
        make_folders(disk, folder.root())?;
        let lock = FlowLock::take(disk, &folder, &store.ground().process)?;
        clear(disk, &folder)?;
        make_folders(disk, &folder.journal())?;
        make_folders(disk, &folder.record())?;
        Ok(Self {
            store,
            flow,
            folder,
            _lock: lock,
        })
    }

    /// Keeps bytes that a fact will name; they are durable on return.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn keep(&self, bytes: &[u8]) -> Result<Hash, Error> {
        blob::put(self.store.disk(), &self.folder, bytes)
    }

    /// Copies a file into the record folder.
    ///
    /// # Errors
    /// When its path leads out of that folder, or the file system refuses.
    pub fn copy_record(&self, relative: &str, from: &Path) -> Result<(), Error> {
        let path = self.folder.record().join(relative);
        let mut parts = Path::new(relative).components();
        let plain = parts.all(|part| matches!(part, Component::Normal(_)));
        if !plain || relative.is_empty() {
            let what = "leads out of the record folder".to_owned();
            return Err(Error::Unfit { path, what });
        }
        let disk = self.store.disk();
        let parent = path.parent().unwrap_or(self.folder.root());
        make_folders(disk, parent)?;
        copy(disk, from, &path, None)?;
        sync_folder(disk, parent)
    }

    /// Writes the facts, reads them back, and gives the flow its name. `aside` is the new path of a
    /// folder at its path; without it, such a folder is refused.
    ///
    /// # Errors
    /// When a fact may not follow, the path is taken, or the file system refuses. There
    /// is no new flow then.
    pub fn finish(self, facts: &[(At, Fact)], aside: Option<&Path>) -> Result<FlowRef, Error> {
        let made = self.write(facts).and_then(|()| self.name(aside));
        if made.is_err() {
            // What cannot be removed now goes with the next try, or with the next removal.
            drop(remove_tree(self.store.disk(), self.folder.root(), 0));
        }
        made.map(|()| self.flow)
    }

    fn write(&self, facts: &[(At, Fact)]) -> Result<(), Error> {
        let disk = std::sync::Arc::clone(&self.store.ground().disk);
        let now = self.store.ground().clock.now();
        let (id, folder) = (self.flow.flow.clone(), self.folder.clone());
        let (mut writer, header) = Writer::begin(disk, folder, id.clone(), now, None)?;
        let mut state = FlowState::default();
        state.apply(&header);
        for (at, fact) in facts {
            if writer.wants_new_segment() {
                state.apply(&writer.next_segment(*at)?);
            }
            let seq = writer.end().seq + 1;
            legal(&state, fact).map_err(|illegal| Error::Illegal {
                seq,
                why: illegal.to_string(),
            })?;
            writer.append(*at, fact)?;
            state.apply(&Recorded::new(seq, *at, fact.clone()));
        }
        writer.sync()?;
        let (_, found) = fold_all(self.store.disk(), &self.folder, &id);
        if found.outcome == Outcome::Clean && found.end == Some(writer.end()) {
            return Ok(());
        }
        Err(Error::Unfit {
            path: self.folder.journal(),
            what: "does not read back as it was written".to_owned(),
        })
    }

    fn name(&self, aside: Option<&Path>) -> Result<(), Error> {
        let (disk, target) = (self.store.disk(), self.store.folder(&self.flow));
        match uninterrupted(|| disk.about(target.root())) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io("look at", target.root(), error)),
            Ok(_) => match aside {
                Some(aside) => set_aside(disk, target.root(), aside)?,
                None => return Err(Error::Exists(self.flow.flow.clone())),
            },
        }
        name_it(self.store, &self.flow, self.folder.root())
    }
}

/// Renames the folder at a flow's path, durably.
fn set_aside(disk: &dyn Disk, from: &Path, aside: &Path) -> Result<(), Error> {
    let parent = aside.parent().unwrap_or(aside);
    make_folders(disk, parent)?;
    if uninterrupted(|| disk.about(aside)).is_ok() {
        return Err(Error::Unfit {
            path: aside.to_owned(),
            what: "is in the way: what was imported would be kept here".to_owned(),
        });
    }
    uninterrupted(|| disk.rename(from, aside)).map_err(|e| Error::io("set aside", from, e))?;
    sync_folder(disk, parent)?;
    sync_folder(disk, from.parent().unwrap_or(from))
}

/// Removes what an earlier try left, but for the lock that is held on it.
fn clear(disk: &dyn Disk, folder: &FlowFolder) -> Result<(), Error> {
    let lock: PathBuf = folder.lock();
    let entries = uninterrupted(|| disk.list(folder.root()))
        .map_err(|e| Error::io("list", folder.root(), e))?;
    for entry in entries {
        let path = folder.root().join(&entry.name);
        match entry.kind {
            Kind::Folder => remove_tree(disk, &path, 0)?,
            Kind::File | Kind::Other if path == lock => {}
            Kind::File | Kind::Other => {
                uninterrupted(|| disk.remove_file(&path))
                    .map_err(|e| Error::io("remove", &path, e))?;
            }
        }
    }
    Ok(())
}
