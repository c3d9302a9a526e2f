//! What a power cut leaves of a disk.
//!
//! Whatever was synced is there. Of the rest, any subset is: each sector and each name by
//! itself, in any order. A file may have got its new size before its new bytes, which then read
//! as zeros. The one promise that file systems do keep is that a rename is one step: the new
//! name means the old thing or the new one, and what was moved is not lost.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;

use super::contents::Contents;
use super::node::{Arrival, FileNode, FolderNode, Id, NameChange, Node};
use super::random::Random;
use super::tree::{ROOT, Tree};

/// Cuts the power.
pub(super) fn crash(before: &Tree, seed: u64) -> io::Result<Tree> {
    let mut random = Random::new(seed);
    let choices = Choices::draw(before, &mut random);
    let mut crash = Crash {
        before,
        choices,
        random,
        after: before.emptied(),
    };
    crash.copy_folder(ROOT, ROOT, &mut vec![ROOT])?;
    Ok(crash.after)
}

struct Crash<'a> {
    before: &'a Tree,
    choices: Choices<'a>,
    random: Random,
    after: Tree,
}

impl Crash<'_> {
    /// Copies what survived of a folder. A file that kept both names of a rename becomes two
    /// files, and so does one with two names of its own: what is durable is the same in both, and
    /// a disk after a crash is looked at, not written under both names.
    fn copy_folder(&mut self, old: Id, new: Id, above: &mut Vec<Id>) -> io::Result<()> {
        let folder = self.before.folder(old)?;
        for (name, id) in self.choices.names_of(old, folder) {
            match self.before.file(id) {
                Ok(file) => {
                    let contents = surviving_contents(file, &mut self.random);
                    let file = FileNode::durable(contents, file.modified_ms);
                    self.after.settle(new, name, Node::File(file))?;
                }
                // Folders that were moved into each other one after the other, with only parts
                // of that surviving, could otherwise go round in circles.
                Err(_) if above.contains(&id) => {}
                Err(_) => {
                    let folder = Node::Folder(FolderNode::default());
                    let copy = self.after.settle(new, name, folder)?;
                    above.push(id);
                    self.copy_folder(id, copy, above)?;
                    above.pop();
                }
            }
        }
        Ok(())
    }
}

/// Which of the unsynced changes of names survived: for each name, how many of its changes.
struct Choices<'a> {
    tree: &'a Tree,
    kept: BTreeMap<(Id, &'a OsStr), SurvivingChanges<'a>>,
}

struct SurvivingChanges<'a> {
    changes: Vec<&'a NameChange>,
    count: usize,
}

impl SurvivingChanges<'_> {
    /// The last change that survived.
    fn last(&self) -> Option<&NameChange> {
        self.changes[..self.count].last().copied()
    }
}

impl<'a> Choices<'a> {
    fn draw(tree: &'a Tree, random: &mut Random) -> Self {
        let mut kept: BTreeMap<_, SurvivingChanges<'a>> = BTreeMap::new();
        for (id, folder) in tree.folders() {
            for change in folder.unsynced() {
                let name = kept
                    .entry((id, change.name.as_os_str()))
                    .or_insert(SurvivingChanges {
                        changes: Vec::new(),
                        count: 0,
                    });
                name.changes.push(change);
            }
        }
        // Every name by itself would hardly ever keep all of many names or none of them, and
        // these are the likeliest crashes of all.
        let mood = random.below(4);
        for name in kept.values_mut() {
            name.count = match mood {
                0 => 0,
                1 => name.changes.len(),
                2.. => random.between(0, name.changes.len()),
            };
        }
        let mut choices = Self { tree, kept };
        while choices.take_back_a_lost_move() {}
        choices
    }

    /// Finds a rename of which only the disappearance survived, and undoes that. Returns whether
    /// there was one. It ends, because each time less survives.
    fn take_back_a_lost_move(&mut self) -> bool {
        let reached = self.reached_folders();
        let lost = self.kept.iter().find_map(|(&key, kept)| {
            let mut survived = kept.changes.iter().take(kept.count);
            let index = survived.position(|change| {
                let arrival = change.arrival.as_ref();
                arrival.is_some_and(|arrival| !self.has_come(arrival, reached.as_ref()))
            });
            index.map(|index| (key, index))
        });
        if let Some((key, index)) = lost
            && let Some(kept) = self.kept.get_mut(&key)
        {
            kept.count = index;
        }
        lost.is_some()
    }

    /// The folders that can still be reached from the topmost one, if anything moved between
    /// folders. What moved into a folder that is itself lost has not arrived. Within one folder
    /// this does not matter, and looking through the whole tree would make crashes slow.
    fn reached_folders(&self) -> Option<BTreeSet<Id>> {
        let moved_elsewhere = |(&(id, _), kept): (&(Id, &OsStr), &SurvivingChanges<'_>)| {
            let survived = &kept.changes[..kept.count];
            let mut arrivals = survived.iter().filter_map(|change| change.arrival.as_ref());
            arrivals.any(|arrival| arrival.folder != id)
        };
        if !self.kept.iter().any(moved_elsewhere) {
            return None;
        }
        let mut reached = BTreeSet::new();
        let mut next = vec![ROOT];
        while let Some(id) = next.pop() {
            if let Ok(folder) = self.tree.folder(id)
                && reached.insert(id)
            {
                next.extend(self.names_of(id, folder).into_values());
            }
        }
        Some(reached)
    }

    fn has_come(&self, arrival: &Arrival, reached: Option<&BTreeSet<Id>>) -> bool {
        if reached.is_some_and(|reached| !reached.contains(&arrival.folder)) {
            return false;
        }
        let kept = self.kept.get(&(arrival.folder, arrival.name.as_os_str()));
        let survived = kept.and_then(SurvivingChanges::last);
        let synced_at = self.tree.folder(arrival.folder).map(FolderNode::synced_at);
        let newest = survived.map_or(synced_at.unwrap_or(u64::MAX), |change| change.at);
        newest >= arrival.at
    }

    fn names_of(&self, id: Id, folder: &FolderNode) -> BTreeMap<OsString, Id> {
        let mut names = folder.durable_names().clone();
        let changed: BTreeSet<_> = folder
            .unsynced()
            .iter()
            .map(|change| &change.name)
            .collect();
        for name in changed {
            let kept = self.kept.get(&(id, name.as_os_str()));
            match kept
                .and_then(SurvivingChanges::last)
                .map(|change| change.now)
            {
                Some(Some(now)) => names.insert(name.clone(), now),
                Some(None) => names.remove(name),
                None => None,
            };
        }
        names
    }
}

/// What survived of a file's bytes.
fn surviving_contents(file: &FileNode, random: &mut Random) -> Contents {
    let versions = file.versions();
    let Some((&durable, later)) = versions.split_first() else {
        return Contents::default();
    };
    if later.is_empty() {
        return durable.clone();
    }
    let size = surviving_size(&versions, random);
    let largest = versions.iter().map(|v| v.size()).max().unwrap_or(size);
    // From no sector at all to every one, in quarters.
    let luck = random.below(5);
    let mut image = durable.clone();
    image.set_size(largest);
    for (before, after) in versions.iter().zip(later) {
        // A cut changes the size alone: the bytes that it hides are still on the disk.
        if after.size() < before.size() {
            continue;
        }
        for sector in before.changed_sectors(after) {
            if random.below(4) < luck {
                let offset = sector * super::contents::SECTOR_BYTES;
                image.write_at(offset, after.sector(sector));
            }
        }
    }
    image.set_size(size);
    image
}

/// The size that survived: one that the file had, or one on the way while it grew. A cut happens
/// at once or not at all.
fn surviving_size(versions: &[&Contents], random: &mut Random) -> usize {
    let step = random.below(versions.len() - 1);
    let (before, after) = (versions[step].size(), versions[step + 1].size());
    match random.below(3) {
        0 => before,
        2.. if after > before => random.between(before, after),
        1.. => after,
    }
}
