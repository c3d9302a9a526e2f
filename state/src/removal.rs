//! Removing one flow: what goes and what refers to it is looked at first, and only what was looked at goes.
//!
//! The same protections as in [`crate::retention`]: only a flow that is over, undamaged and without a writer
//! is removed, and a removal that is cut off is finished by the next one.

use std::fmt;
use std::path::{Path, PathBuf};

use a_society_facts::At;
use a_society_facts::id::Seq;

use crate::disk::{Disk, Kind};
use crate::error::Error;
use crate::files::uninterrupted;
use crate::flow_ref::FlowRef;
use crate::foreign::is_foreign;
use crate::index::rows;
use crate::journal::scan::Outcome;
use crate::layout::FlowFolder;
use crate::ledger::Appended;
use crate::lock::{FlowLock, is_held};
use crate::look::look;
use crate::open::fold_all;
use crate::retention::{DEPTH_MAX, NEVER_BEGAN, made_at, remove_flow};
use crate::store::Store;

/// What the removal of one flow takes away, and what it does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// The flow.
    pub flow: FlowRef,
    /// Its title.
    pub title: String,
    /// Its last record. Who agrees to a removal agrees to that of a flow that ends there.
    pub seq: Seq,
    /// When something last happened in it.
    pub updated_at: Option<At>,
    /// Its folder.
    pub folder: PathBuf,
    /// What the folder holds, by the names directly in it.
    pub parts: Vec<Part>,
    /// The flows that were forked from it. They have all that they need, and stay.
    pub forks: Vec<Fork>,
    /// Why it is not removed as it is now; absent if it would be.
    pub stays: Option<Stays>,
}

/// A file in a flow's folder, or a folder with all that is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// How many files.
    pub files: u64,
    /// How many bytes.
    pub bytes: u64,
}

/// A flow that was forked from the one that goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fork {
    /// Which.
    pub flow: FlowRef,
    /// Its title.
    pub title: String,
}

/// Why a flow is not removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stays {
    /// It is neither completed nor cancelled.
    NotOver,
    /// A process writes it.
    Held(String),
    /// Something of its journal does not verify.
    Damaged(String),
    /// Another program keeps it.
    Foreign,
}

impl fmt::Display for Stays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOver => f.write_str("it is not over: it was neither completed nor cancelled"),
            Self::Held(holder) => write!(f, "a process drives it: {holder}"),
            Self::Damaged(what) => write!(f, "its journal is damaged, and may be repaired: {what}"),
            Self::Foreign => f.write_str("another program keeps it"),
        }
    }
}

/// Why a flow was not removed.
#[derive(Debug, thiserror::Error)]
pub enum NotRemoved {
    /// It is not one that may go.
    #[error("{0}")]
    Stays(Stays),
    /// It went on after it was looked at.
    #[error("it went on since: it ended with record {seen} then, and ends with record {now} now")]
    WentOn {
        /// With which record it ended.
        seen: Seq,
        /// With which it ends now.
        now: Seq,
    },
    /// The file system refused.
    #[error(transparent)]
    State(#[from] Error),
}

impl Removal {
    /// How many files go.
    #[must_use]
    pub fn files(&self) -> u64 {
        self.parts.iter().map(|part| part.files).sum()
    }

    /// How many bytes go.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }
}

/// What the removal of a flow would be. Nothing is changed.
///
/// # Errors
/// When there is no such flow, or its folder cannot be read.
pub fn plan(store: &Store, flow: &FlowRef) -> Result<Removal, Error> {
    let (disk, folder) = (store.disk(), store.folder(flow));
    let mut parts = parts_of(disk, folder.root(), flow)?;
    parts.sort_by(|one, other| other.bytes.cmp(&one.bytes).then(one.name.cmp(&other.name)));
    let seen = look(disk, &folder, &flow.flow);
    let summary = seen.screen.summary;
    let began = summary.flow_id.is_some();
    let (stays, seq) = if is_foreign(disk, &folder) {
        (Some(Stays::Foreign), 0)
    } else {
        judged(disk, &folder, flow, !began || summary.is_over())
    };
    Ok(Removal {
        flow: flow.clone(),
        title: if began {
            summary.title
        } else {
            NEVER_BEGAN.to_owned()
        },
        seq,
        updated_at: summary.updated_at.or_else(|| made_at(store, flow)),
        folder: folder.root().to_owned(),
        parts,
        forks: forks_of(store, flow)?,
        stays,
    })
}

/// Why a flow stays, and its last record. Every record is verified: a row is made without looking at all of
/// a journal, and that is not enough for removing it.
fn judged(
    disk: &dyn Disk,
    folder: &FlowFolder,
    flow: &FlowRef,
    is_over: bool,
) -> (Option<Stays>, Seq) {
    let held = match is_held(disk, folder) {
        Ok(held) => held.map(Stays::Held),
        Err(error) => Some(Stays::Held(error.to_string())),
    };
    let (_, found) = fold_all(disk, folder, &flow.flow);
    let seq = found.end.map_or(0, |end| end.seq);
    // Beside a writer a journal may end in the middle of a record: that it is written counts first.
    let stays = held.or(match found.outcome {
        Outcome::Clean | Outcome::Blank if is_over => None,
        Outcome::Clean | Outcome::Blank => Some(Stays::NotOver),
        Outcome::Torn(_) if !is_over => Some(Stays::NotOver),
        Outcome::Torn(_) => Some(Stays::Damaged("it has a torn end".to_owned())),
        Outcome::Damaged(damage) => Some(Stays::Damaged(damage.to_string())),
    });
    (stays, seq)
}

/// Removes a flow that still ends with the record with which it ended when it was looked at.
///
/// # Errors
/// When it may not go, went on since, or the file system refuses.
pub fn remove(store: &Store, flow: &FlowRef, seen: Seq) -> Result<Removal, NotRemoved> {
    store.refresh(flow)?;
    let plan = plan(store, flow)?;
    if let Some(stays) = plan.stays {
        return Err(NotRemoved::Stays(stays));
    }
    let (disk, folder) = (store.disk(), store.folder(flow));
    let lock = match FlowLock::take(disk, &folder, &store.ground().process) {
        Ok(lock) => lock,
        Err(Error::Busy { holder }) => return Err(NotRemoved::Stays(Stays::Held(holder))),
        Err(error) => return Err(error.into()),
    };
    // Another process may have gone on with it before the lock was ours.
    let (_, found) = fold_all(disk, &folder, &flow.flow);
    let now = found.end.map_or(0, |end| end.seq);
    if now != seen {
        return Err(NotRemoved::WentOn { seen, now });
    }
    if let Some(access) = &store.ground().ledger
        && let Some(end) = found.end
        && let Appended::Moved { end } = access
            .ledger
            .remove(flow, end.into())
            .map_err(Error::Ledger)?
    {
        let now = end.map_or(0, |end| end.seq);
        return Err(NotRemoved::WentOn { seen, now });
    }
    remove_flow(disk, &folder)?;
    drop(lock);
    Ok(plan)
}

fn forks_of(store: &Store, flow: &FlowRef) -> Result<Vec<Fork>, Error> {
    let rows = rows(store, &store.census()?.flows);
    let forks = rows.into_iter().filter_map(|row| {
        let summary = row.summary?;
        let is_fork = summary.parent?.flow == flow.flow && row.flow.project == flow.project;
        is_fork.then_some(Fork {
            flow: row.flow,
            title: summary.title,
        })
    });
    Ok(forks.collect())
}

fn parts_of(disk: &dyn Disk, root: &Path, flow: &FlowRef) -> Result<Vec<Part>, Error> {
    let entries = uninterrupted(|| disk.list(root)).map_err(|error| {
        if error.kind() == std::io::ErrorKind::NotFound {
            Error::NoFlow(flow.to_string())
        } else {
            Error::io("list", root, error)
        }
    })?;
    let parts = entries.into_iter().map(|entry| {
        let mut part = Part {
            name: entry.name,
            files: 0,
            bytes: 0,
        };
        let path = root.join(&part.name);
        count(disk, &path, entry.kind, 0, &mut part)?;
        Ok(part)
    });
    parts.collect()
}

/// Counts what is there, without following links. A flow that is at work makes files and takes them away meanwhile:
/// what is gone by now is not there.
fn count(
    disk: &dyn Disk,
    path: &Path,
    kind: Kind,
    depth: u32,
    part: &mut Part,
) -> Result<(), Error> {
    if kind != Kind::Folder {
        if let Some(about) = unless_gone(uninterrupted(|| disk.about(path)), "look at", path)? {
            part.files += 1;
            part.bytes += about.size_bytes;
        }
        return Ok(());
    }
    if depth > DEPTH_MAX {
        return Ok(());
    }
    let entries = unless_gone(uninterrupted(|| disk.list(path)), "list", path)?;
    for entry in entries.into_iter().flatten() {
        let inner = path.join(&entry.name);
        count(disk, &inner, entry.kind, depth + 1, part)?;
    }
    Ok(())
}

fn unless_gone<T>(
    result: std::io::Result<T>,
    doing: &'static str,
    path: &Path,
) -> Result<Option<T>, Error> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io(doing, path, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::RealDisk;

    #[test]
    fn what_is_gone_since_it_was_listed_is_not_counted() {
        let folder = tempfile::tempdir().unwrap();
        let mut part = Part {
            name: "record".to_owned(),
            files: 0,
            bytes: 0,
        };
        for kind in [Kind::File, Kind::Folder] {
            let gone = folder.path().join("brief.md.tmp");
            count(&RealDisk, &gone, kind, 0, &mut part).unwrap();
        }
        assert_eq!((part.files, part.bytes), (0, 0));
    }
}
