//! Checking a flow as thoroughly as can be, without changing anything: every record, every blob,
//! every view.

use a_society_facts::Hash;
use a_society_facts::id::Seq;

use crate::blob;
use crate::error::Error;
use crate::files::read_whole;
use crate::flow_ref::FlowRef;
use crate::journal::scan::{JournalTail, Outcome};
use crate::journal::verdict::Damage;
use crate::limits::ARCHIVE_FILE_BYTES_MAX;
use crate::open::fold_all;
use crate::store::Store;
use crate::views::{bytes_of, names, read_index};

/// What a check found.
#[derive(Debug)]
pub struct Verified {
    /// The flow.
    pub flow: FlowRef,
    /// How many records verify.
    pub records: u64,
    /// How many bytes of journal were read.
    pub bytes: u64,
    /// The last record that verifies.
    pub last_seq: Seq,
    /// What is wrong with the journal, if something is.
    pub damage: Option<Damage>,
    /// A tail that the next open will cut.
    pub torn: Option<JournalTail>,
    /// Blobs that are lost, with the reason.
    pub blobs_lost: Vec<(Hash, String)>,
    /// How many blobs were checked.
    pub blobs: usize,
    /// Views that are missing or are not what the journal folds to; the next open rebuilds them.
    pub views_stale: Vec<String>,
}

impl Verified {
    /// Whether nothing is wrong that a person has to look at.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damage.is_none() && self.blobs_lost.is_empty()
    }
}

/// Checks a flow.
///
/// # Errors
/// When there is no such flow.
pub fn verify(store: &Store, flow: &FlowRef) -> Result<Verified, Error> {
    let (disk, folder) = (store.disk(), store.folder(flow));
    let held_by = store.look(flow)?.held_by;
    let (fold, found) = fold_all(disk, &folder, &flow.flow);
    let lost = |hash: &Hash| blob::loss(disk, &folder, *hash).map(|why| (*hash, why));
    let blobs_lost: Vec<(Hash, String)> = fold.blobs.keys().filter_map(lost).collect();
    let is_current = |path: &str, bytes: &[u8]| {
        read_whole(disk, &folder.root().join(path), ARCHIVE_FILE_BYTES_MAX)
            .is_ok_and(|there| there == bytes)
    };
    let mut views_stale = Vec::new();
    // Beside a live writer the views are allowed to follow a little later.
    if held_by.is_none() && found.outcome == Outcome::Clean {
        for name in names(&fold.views) {
            if !is_current(&name.path(), &bytes_of(disk, &folder, &name, &fold.views)) {
                views_stale.push(name.path());
            }
        }
        if read_index(disk, &folder, &flow.flow).is_none() {
            views_stale.push("views.json".to_owned());
        }
    }
    let (damage, torn) = match found.outcome {
        Outcome::Clean | Outcome::Blank => (None, None),
        Outcome::Torn(tail) => (None, Some(tail)),
        Outcome::Damaged(damage) => (Some(damage), None),
    };
    Ok(Verified {
        flow: flow.clone(),
        records: found.records,
        bytes: found.bytes,
        last_seq: found.end.map_or(0, |end| end.seq),
        damage,
        torn,
        blobs_lost,
        blobs: fold.blobs.len(),
        views_stale,
    })
}
