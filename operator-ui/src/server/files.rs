//! The files that a flow handed over, with all their versions.

use std::collections::BTreeMap;
use std::path::Path;

use a_society_facts::Fact;
use a_society_facts::fact::imported::FlowImported;
use a_society_facts::handoff::{Artifact, Delivery, HandoffWay};
use a_society_facts::id::{ApprovalId, Seq, TurnId};
use a_society_facts::{Hash, Recorded};
use a_society_orchestrator::delivered::{self, Delivered};
use a_society_state::{FlowRef, Store};

use super::blocking::{missing, unread};
use super::feed_at::each_in;
use super::limits::BLOB_BYTES_MAX;
use crate::fold::authors::Authors;
use crate::protocol::Fault;
use crate::protocol::http::{DeliveredFile, FileVersion, FileVersions, Files};

/// The files, by path, as they were at a record, and what was delivered by then.
pub(super) fn of(
    store: &Store,
    flow: &FlowRef,
    at: Option<Seq>,
    project: &Path,
) -> Result<Files, Fault> {
    let mut passed = PassedFiles::default();
    let mut is_closed = false;
    each_in(store, flow, at, &mut |recorded| {
        is_closed = match recorded.fact() {
            Some(Fact::ForwardPassClosed(_)) => true,
            Some(Fact::NodeReopened(_)) => false,
            Some(_) | None => is_closed,
        };
        passed.hear(recorded);
    })?;
    let files = passed
        .files()
        .into_iter()
        .map(|(path, versions)| FileVersions { path, versions });
    let made = if is_closed {
        made(store, flow, project)?
    } else {
        None
    };
    Ok(Files {
        files: files.collect(),
        delivered: made.map(|made| DeliveredFile {
            node: made.node.to_string(),
            path: made.path,
            hash: Hash::of(&made.bytes).to_string(),
            bytes: made.bytes.len() as u64,
        }),
    })
}

/// What went along each edge last, either way, and how often something did by then.
///
/// # Errors
/// When the journal cannot be read.
pub fn handed_last(store: &Store, flow: &FlowRef) -> Result<Vec<(Delivery, usize)>, Fault> {
    let mut last: BTreeMap<_, (Delivery, usize)> = BTreeMap::new();
    let mut put = |delivery: Delivery| {
        let is_forward = delivery.way == HandoffWay::Forward;
        let key = (delivery.edge.clone(), is_forward);
        let times = last.get(&key).map_or(0, |(_, times)| *times);
        last.insert(key, (delivery, times + 1));
    };
    each_in(store, flow, None, &mut |recorded| match recorded.fact() {
        Some(Fact::HandoffApplied(f)) => f.deliveries.iter().cloned().for_each(&mut put),
        Some(Fact::FlowImported(f)) => {
            for passed in &f.passed {
                let files = passed.files.iter().map(|file| Delivery {
                    edge: passed.edge.clone(),
                    way: file.way,
                    artifact: Artifact {
                        path: file.path.clone(),
                        hash: file.blob,
                        bytes: file.bytes,
                        text: None,
                    },
                });
                files.for_each(&mut put);
            }
        }
        Some(_) | None => {}
    })?;
    Ok(last.into_values().collect())
}

fn made(store: &Store, flow: &FlowRef, project: &Path) -> Result<Option<Delivered>, Fault> {
    delivered::of(store, flow, project).map_err(|error| unread(&error))
}

/// What went from node to node, and what is held until the operator says so.
#[derive(Debug, Default)]
struct PassedFiles {
    files: BTreeMap<String, Vec<FileVersion>>,
    held: BTreeMap<ApprovalId, Vec<(String, FileVersion)>>,
    authors: Authors,
}

impl PassedFiles {
    fn hear(&mut self, recorded: &Recorded) {
        self.authors.hear(recorded.fact());
        match recorded.fact() {
            Some(Fact::HandoffApplied(f)) => {
                if let Some(approval) = &f.approval {
                    self.held.remove(approval);
                }
                for delivery in &f.deliveries {
                    self.delivered(recorded.seq, f.turn, delivery);
                }
            }
            Some(Fact::HandoffStaged(f)) => {
                let held = f.deliveries.iter().map(|delivery| {
                    let version = self.version(recorded.seq, f.turn, delivery);
                    (delivery.artifact.path.clone(), version)
                });
                let held = held.collect();
                self.held.insert(f.approval.clone(), held);
            }
            Some(Fact::HandoffDecided(f)) => drop(self.held.remove(&f.approval)),
            Some(Fact::FlowImported(f)) => imported(&mut self.files, recorded.seq, f),
            Some(_) | None => {}
        }
    }

    fn delivered(&mut self, seq: Seq, turn: TurnId, delivery: &Delivery) {
        let version = self.version(seq, turn, delivery);
        // What went the same way before is superseded, whatever file it was.
        for before in self.files.values_mut().flatten() {
            before.superseded |= before.from == version.from && before.to == version.to;
        }
        let versions = self.files.entry(delivery.artifact.path.clone());
        versions.or_default().push(version);
    }

    fn version(&self, seq: Seq, turn: TurnId, delivery: &Delivery) -> FileVersion {
        let (from, to) = match delivery.way {
            HandoffWay::Forward => (&delivery.edge.from, &delivery.edge.to),
            HandoffWay::Backward => (&delivery.edge.to, &delivery.edge.from),
        };
        FileVersion {
            seq,
            hash: delivery.artifact.hash.to_string(),
            bytes: delivery.artifact.bytes,
            from: from.to_string(),
            to: to.to_string(),
            superseded: false,
            by: self.authors.of(turn).cloned(),
            waits: false,
        }
    }

    /// The versions of each file; what is held comes last.
    fn files(mut self) -> BTreeMap<String, Vec<FileVersion>> {
        for (path, version) in self.held.into_values().flatten() {
            let version = FileVersion {
                waits: true,
                ..version
            };
            self.files.entry(path).or_default().push(version);
        }
        self.files
    }
}

/// What had been passed in a flow that another program began, as it was when it was imported.
fn imported(files: &mut BTreeMap<String, Vec<FileVersion>>, seq: Seq, f: &FlowImported) {
    for passed in &f.passed {
        let last = passed.files.len().saturating_sub(1);
        for (place, file) in passed.files.iter().enumerate() {
            let (from, to) = match file.way {
                HandoffWay::Forward => (&passed.edge.from, &passed.edge.to),
                HandoffWay::Backward => (&passed.edge.to, &passed.edge.from),
            };
            let versions = files.entry(file.path.clone()).or_default();
            versions.push(FileVersion {
                seq,
                hash: file.blob.to_string(),
                bytes: file.bytes,
                from: from.to_string(),
                to: to.to_string(),
                superseded: place < last,
                by: None,
                waits: false,
            });
        }
    }
}

/// The bytes of a version: of a blob, of what a record carries itself, or of the file that was
/// delivered, which only its project keeps.
pub(super) fn blob(
    store: &Store,
    flow: &FlowRef,
    hash: &str,
    project: &Path,
) -> Result<Vec<u8>, Fault> {
    let unknown = || {
        missing(
            "the bytes of this version were not kept",
            "what is handed over is kept; of a file that a tool changed only the hash is recorded",
        )
    };
    let hash: Hash = hash.parse().map_err(|_| unknown())?;
    let kept = store.place(flow).whole_blob(hash);
    let bytes = match kept {
        Ok(bytes) => bytes,
        Err(_) => match carried(store, flow, hash)? {
            Some(bytes) => bytes,
            None => made(store, flow, project)?
                .map(|made| made.bytes)
                .filter(|bytes| Hash::of(bytes) == hash)
                .ok_or_else(unknown)?,
        },
    };
    if bytes.len() > BLOB_BYTES_MAX {
        let why = "a page shows no more than a few megabytes; it is in the flow's folder";
        return Err(missing("it is too large to be shown", why));
    }
    Ok(bytes)
}

/// What a record carries itself, because it is small.
fn carried(store: &Store, flow: &FlowRef, hash: Hash) -> Result<Option<Vec<u8>>, Fault> {
    let mut found = None;
    each_in(store, flow, None, &mut |recorded| {
        let mut mentioned = recorded.fact().into_iter().flat_map(Fact::artifacts);
        let mine = mentioned.find(|artifact| artifact.hash == hash);
        if let Some(text) = mine.and_then(|artifact| artifact.text.as_ref()) {
            found = Some(text.clone().into_bytes());
        }
    })?;
    Ok(found)
}
