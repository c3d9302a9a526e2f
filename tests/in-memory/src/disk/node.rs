//! One file or folder of the disk in memory: what is there now, and what would be after a crash.

use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};

use super::contents::Contents;
use super::limits::{MAX_UNSYNCED_CUTS, MAX_UNSYNCED_NAMES};

/// The number of a file or folder.
pub(super) type Id = u64;

/// The file or folder behind a number.
#[derive(Debug, Clone)]
pub(super) enum Node {
    File(FileNode),
    Folder(FolderNode),
}

/// A file. As on a real disk it is not its name: it may have lost it and still be open.
#[derive(Debug, Clone, Default)]
pub(super) struct FileNode {
    /// What a reader sees.
    live: Contents,
    /// What the next sync would make durable, where this is not the same as what a reader sees:
    /// after a failed sync the lost bytes are still in memory and will never be written.
    storable: Option<Contents>,
    /// What the last sync made durable.
    durable: Contents,
    /// The versions around each cut since the last sync, in pairs: just before it and just
    /// after. Without them a crash could not bring back what an unsynced cut removed.
    cuts: Vec<Contents>,
    /// How many names it has.
    pub(super) names: usize,
    /// The handles that are open on it.
    pub(super) handles: HashSet<u64>,
    /// The handle that holds its lock.
    pub(super) lock: Option<u64>,
    pub(super) modified_ms: i64,
}

impl FileNode {
    /// A file whose contents are durable already.
    pub(super) fn durable(contents: Contents, modified_ms: i64) -> Self {
        Self {
            live: contents.clone(),
            durable: contents,
            names: 1,
            modified_ms,
            ..Self::default()
        }
    }

    pub(super) fn live(&self) -> &Contents {
        &self.live
    }

    pub(super) fn size(&self) -> usize {
        self.live.size()
    }

    pub(super) fn append(&mut self, bytes: &[u8]) {
        self.live.append(bytes);
        if let Some(storable) = &mut self.storable {
            storable.append(bytes);
        }
    }

    pub(super) fn set_size(&mut self, size: usize) {
        let cuts = size < self.size();
        if cuts {
            self.cuts.push(self.storable().clone());
        }
        self.live.set_size(size);
        if let Some(storable) = &mut self.storable {
            storable.set_size(size);
        }
        if cuts {
            self.cuts.push(self.storable().clone());
        }
        if self.cuts.len() > 2 * MAX_UNSYNCED_CUTS {
            self.cuts.drain(..2);
        }
    }

    pub(super) fn sync(&mut self) {
        self.durable = self.storable().clone();
        self.cuts.clear();
    }

    /// The sync that fails and loses what it should have written. The size may still become
    /// durable, as it is kept apart from the bytes; the lost bytes then read as zeros.
    pub(super) fn lose_unsynced(&mut self) {
        let mut left = self.durable.clone();
        left.set_size(self.size());
        self.storable = Some(left);
        self.cuts.clear();
    }

    /// Replaces contents on every level, as a change from outside before the program started.
    pub(super) fn overwrite(&mut self, contents: Contents) {
        self.live = contents.clone();
        self.durable = contents;
        self.storable = None;
        self.cuts.clear();
    }

    /// Everything the disk may hold after a crash, from the last sync to now.
    pub(super) fn versions(&self) -> Vec<&Contents> {
        let mut versions = vec![&self.durable];
        versions.extend(&self.cuts);
        if !versions
            .last()
            .is_some_and(|last| last.is_same_as(self.storable()))
        {
            versions.push(self.storable());
        }
        versions
    }

    fn storable(&self) -> &Contents {
        self.storable.as_ref().unwrap_or(&self.live)
    }
}

/// A folder.
#[derive(Debug, Clone, Default)]
pub(super) struct FolderNode {
    live: BTreeMap<OsString, Id>,
    durable: BTreeMap<OsString, Id>,
    /// Changes of names since the last sync, oldest first.
    unsynced: Vec<NameChange>,
    /// The number of the last change that is durable.
    synced_at: u64,
}

/// One name that came to mean something else.
#[derive(Debug, Clone)]
pub(super) struct NameChange {
    /// Changes of the whole disk are numbered in the order in which they were made.
    pub(super) at: u64,
    pub(super) name: OsString,
    /// What the name means now; `None` if it is gone.
    pub(super) now: Option<Id>,
    /// For a name that a rename removed: where the other half of the rename is.
    pub(super) arrival: Option<Arrival>,
}

/// The name under which a renamed thing arrived. The old name may not go durably before the new
/// one has come, or a crash would lose what a rename only moved.
#[derive(Debug, Clone)]
pub(super) struct Arrival {
    pub(super) folder: Id,
    pub(super) name: OsString,
    pub(super) at: u64,
}

impl FolderNode {
    pub(super) fn child(&self, name: &OsStr) -> Option<Id> {
        self.live.get(name).copied()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// The names that are there now.
    pub(super) fn names(&self) -> &BTreeMap<OsString, Id> {
        &self.live
    }

    pub(super) fn durable_names(&self) -> &BTreeMap<OsString, Id> {
        &self.durable
    }

    pub(super) fn unsynced(&self) -> &[NameChange] {
        &self.unsynced
    }

    pub(super) fn synced_at(&self) -> u64 {
        self.synced_at
    }

    /// Everything that this folder names, named, or may name again after a crash.
    pub(super) fn mentions(&self) -> impl Iterator<Item = Id> {
        let changed = self.unsynced.iter().filter_map(|change| change.now);
        let named = self.live.values().chain(self.durable.values());
        named.copied().chain(changed)
    }

    pub(super) fn change(&mut self, change: NameChange) {
        set_name(&mut self.live, &change);
        self.unsynced.push(change);
    }

    /// The change up to which the folder must be written back so that its unsynced changes stay
    /// bounded.
    pub(super) fn overflow(&self) -> Option<u64> {
        let too_many = self.unsynced.len() > MAX_UNSYNCED_NAMES;
        too_many.then(|| self.unsynced[self.unsynced.len() / 2].at)
    }

    /// Makes the changes up to a number durable, and returns the other halves of the renames
    /// among them, which must become durable too.
    pub(super) fn write_back(&mut self, up_to: u64) -> Vec<Arrival> {
        let count = self.unsynced.partition_point(|change| change.at <= up_to);
        let mut arrivals = Vec::new();
        for change in self.unsynced.drain(..count) {
            set_name(&mut self.durable, &change);
            self.synced_at = change.at;
            arrivals.extend(change.arrival);
        }
        arrivals
    }

    /// Gives a name its meaning on every level, as a change from outside before the program started.
    pub(super) fn settle(&mut self, name: OsString, id: Id) {
        self.unsynced.retain(|change| change.name != name);
        self.durable.insert(name.clone(), id);
        self.live.insert(name, id);
    }
}

fn set_name(names: &mut BTreeMap<OsString, Id>, change: &NameChange) {
    match change.now {
        Some(id) => names.insert(change.name.clone(), id),
        None => names.remove(&change.name),
    };
}
