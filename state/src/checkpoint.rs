//! The fold, kept beside the segments, so that a long journal need not be read to show its end.
//!
//! A checkpoint is believed only after three checks: its own checksum, its flow, and the journal
//! itself, in which the record it was folded up to must still end where it says, with the same
//! number and checksum. Whatever fails, the journal is folded from its beginning.

use a_society_facts::At;
use a_society_facts::id::FlowId;
use a_society_facts::line;
use a_society_facts::view::FlowScreen;
use serde::{Deserialize, Serialize};

use crate::atomic::replace_durably;
use crate::disk::Disk;
use crate::error::Error;
use crate::files::read_whole;
use crate::journal::follow::check_position;
use crate::journal::scan::Position;
use crate::layout::FlowFolder;
use crate::limits::CHECKPOINT_BYTES_MAX;

/// The shape of a checkpoint; one of another shape is not read.
pub(crate) const SCHEMA: u32 = 7;

#[derive(Serialize)]
struct WrittenCheckpoint<'a> {
    schema: u32,
    flow: &'a FlowId,
    at: At,
    position: Position,
    screen: &'a FlowScreen,
}

#[derive(Deserialize)]
struct StoredCheckpoint {
    schema: u32,
    flow: FlowId,
    position: Position,
    screen: FlowScreen,
}

/// A fold and the record it was folded up to.
#[derive(Debug)]
pub struct Checkpoint {
    /// The end of that record.
    pub position: Position,
    /// The fold.
    pub screen: FlowScreen,
}

/// Keeps a fold whose last record is durable.
///
/// # Errors
/// When the file system refuses; the old checkpoint is then what it was, or the new one is there.
pub(crate) fn keep(
    disk: &dyn Disk,
    folder: &FlowFolder,
    flow: &FlowId,
    at: At,
    position: Position,
    screen: &FlowScreen,
) -> Result<(), Error> {
    let written = WrittenCheckpoint {
        schema: SCHEMA,
        flow,
        at,
        position,
        screen,
    };
    let path = folder.checkpoint();
    let mut bytes = serde_json::to_vec(&written).map_err(|e| Error::io("fold", &path, e.into()))?;
    line::seal(&mut bytes);
    bytes.push(b'\n');
    replace_durably(disk, &path, &bytes)
}

/// Reads the checkpoint, if there is one that can be believed.
#[must_use]
pub fn read(disk: &dyn Disk, folder: &FlowFolder, flow: &FlowId) -> Option<Checkpoint> {
    let read = read_sealed(disk, folder)?;
    let fits = read.schema == SCHEMA
        && read.flow == *flow
        && check_position(disk, folder, read.position).is_ok();
    fits.then_some(Checkpoint {
        position: read.position,
        screen: read.screen,
    })
}

/// The number of the last record the checkpoint knows to be durable, without asking the journal:
/// evidence in a recovery.
#[must_use]
pub(crate) fn evidence(disk: &dyn Disk, folder: &FlowFolder, flow: &FlowId) -> u64 {
    #[derive(Deserialize)]
    struct Where {
        flow: FlowId,
        position: Position,
    }
    let Ok(bytes) = read_whole(disk, &folder.checkpoint(), CHECKPOINT_BYTES_MAX) else {
        return 0;
    };
    let sealed = bytes.trim_ascii_end();
    if line::verify(sealed).is_err() {
        return 0;
    }
    let read: Result<Where, _> = serde_json::from_slice(sealed);
    read.ok()
        .filter(|read| read.flow == *flow)
        .map_or(0, |read| read.position.seq)
}

fn read_sealed(disk: &dyn Disk, folder: &FlowFolder) -> Option<StoredCheckpoint> {
    let bytes = read_whole(disk, &folder.checkpoint(), CHECKPOINT_BYTES_MAX).ok()?;
    let sealed = bytes.trim_ascii_end();
    line::verify(sealed).ok()?;
    serde_json::from_slice(sealed).ok()
}
