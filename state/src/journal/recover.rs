//! Doing what a verdict allows: cutting a tail that was never acknowledged, and never silently.
//!
//! The order of the steps survives being killed between any two of them. First the tail
//! is kept under `quarantine/`, durably; then the file is cut, durably; then the journal
//! records what was cut. The quarantined file's name holds everything the record needs and depends
//! only on the tail, so a recovery that is repeated makes the same file, and a file that no
//! record names shows the next open which record is still owed.

use std::io;
use std::ops::RangeInclusive;
use std::path::Path;

use a_society_facts::Fact;
use a_society_facts::Hash;
use a_society_facts::fact::journal::{
    RecoveryLossy, RecoveryRow, RecoveryTruncated, RepairApplied,
};
use a_society_facts::id::Seq;

use crate::atomic::replace_durably;
use crate::disk::{Disk, How, Kind};
use crate::error::Error;
use crate::files::{make_folders, read_whole, remove_if_there, sync_folder, uninterrupted};
use crate::journal::scan::{JournalTail, Position};
use crate::layout::FlowFolder;
use crate::limits::SEGMENT_BYTES_MAX;

/// What a quarantined file's name says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantined {
    /// The name itself.
    pub name: String,
    /// The row that allowed the cut.
    pub row: RecoveryRow,
    /// The segment.
    pub segment: u32,
    /// Where the tail began.
    pub offset_bytes: u64,
    /// The record that should have been there.
    pub expected: Seq,
}

const fn row_word(row: RecoveryRow) -> &'static str {
    match row {
        RecoveryRow::R2 => "r2",
        RecoveryRow::R3 => "r3",
        RecoveryRow::R4 => "r4",
        RecoveryRow::R6 => "r6",
    }
}

fn row_of(word: &str) -> Option<RecoveryRow> {
    [
        RecoveryRow::R2,
        RecoveryRow::R3,
        RecoveryRow::R4,
        RecoveryRow::R6,
    ]
    .into_iter()
    .find(|row| row_word(*row) == word)
}

fn name_of(tail: &JournalTail) -> String {
    let hash = Hash::of(&tail.bytes).to_string();
    let (row, segment) = (row_word(tail.row), tail.segment);
    let (offset, seq) = (tail.offset_bytes, tail.expected);
    format!("tail-{row}-{segment:08}-{offset}-{seq}-{}.bin", &hash[..16])
}

/// What the name of a piece that a repair took out says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenOut {
    /// The name itself.
    pub name: String,
    /// The segment.
    pub segment: u32,
    /// Where the piece began.
    pub offset_bytes: u64,
    /// The first record that is missing from then on.
    pub lost_from: Seq,
    /// The last record that is known to have been there.
    pub lost_to: Seq,
}

/// The name of a piece that a repair takes out.
#[must_use]
pub(crate) fn piece_name(
    segment: u32,
    offset_bytes: u64,
    lost: &RangeInclusive<Seq>,
    bytes: &[u8],
) -> String {
    let hash = Hash::of(bytes).to_string();
    let (from, to) = (lost.start(), lost.end());
    format!(
        "piece-{segment:08}-{offset_bytes}-{from}-{to}-{}.bin",
        &hash[..16]
    )
}

/// Reads what the name of such a piece says; `None` for a file of another kind.
#[must_use]
pub fn parse_piece(name: &str) -> Option<TakenOut> {
    let mut parts = name
        .strip_prefix("piece-")?
        .strip_suffix(".bin")?
        .split('-');
    let segment = parts.next()?.parse().ok()?;
    let offset_bytes = parts.next()?.parse().ok()?;
    let lost_from = parts.next()?.parse().ok()?;
    let lost_to = parts.next()?.parse().ok()?;
    let hash = parts.next()?;
    let whole = parts.next().is_none() && hash.len() == 16;
    whole.then(|| TakenOut {
        name: name.to_owned(),
        segment,
        offset_bytes,
        lost_from,
        lost_to,
    })
}

/// Reads what a quarantined file's name says; `None` for a file of another kind.
#[must_use]
pub fn parse_name(name: &str) -> Option<Quarantined> {
    let mut parts = name.strip_prefix("tail-")?.strip_suffix(".bin")?.split('-');
    let row = row_of(parts.next()?)?;
    let segment = parts.next()?.parse().ok()?;
    let offset_bytes = parts.next()?.parse().ok()?;
    let expected = parts.next()?.parse().ok()?;
    let hash = parts.next()?;
    let whole = parts.next().is_none() && hash.len() == 16;
    whole.then(|| Quarantined {
        name: name.to_owned(),
        row,
        segment,
        offset_bytes,
        expected,
    })
}

/// Keeps a tail, cuts it, and makes both durable.
///
/// # Errors
/// When the file system refuses; what was done by then does no harm and is done again.
pub(crate) fn cut(disk: &dyn Disk, folder: &FlowFolder, tail: &JournalTail) -> Result<(), Error> {
    keep(disk, folder, &name_of(tail), &tail.bytes)?;
    let path = folder.segment(tail.segment);
    shorten(disk, folder, &path, tail.offset_bytes)?;
    sync_folder(disk, &folder.journal())
}

/// Notes beside the journal that a sync of it failed. What that sync should have made durable may
/// from then on be in the system's memory only, where a reader finds it and where later syncs that
/// succeed no longer look. The note lives in the same memory: both are gone after a power cut.
pub(crate) fn doubt(disk: &dyn Disk, folder: &FlowFolder) {
    // Where even this fails, no process will open the flow for writing any more.
    drop(disk.open(&folder.doubt(), How::CreateOrAppend));
}

/// After a failed sync, writes the last segment anew, so that what was read of it is what the
/// disk holds. Earlier segments were synced before it began.
///
/// # Errors
/// When the file system refuses; it is done again by the next open.
pub(crate) fn settle_doubt(
    disk: &dyn Disk,
    folder: &FlowFolder,
    end: Position,
) -> Result<(), Error> {
    let doubt = folder.doubt();
    match uninterrupted(|| disk.about(&doubt)) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io("look at", &doubt, error)),
    }
    let path = folder.segment(end.segment);
    let bytes = read_whole(disk, &path, SEGMENT_BYTES_MAX)?;
    replace_durably(disk, &path, &bytes)?;
    remove_if_there(disk, &doubt)
}

/// Keeps bytes under `quarantine/`, durably.
pub(crate) fn keep(
    disk: &dyn Disk,
    folder: &FlowFolder,
    name: &str,
    bytes: &[u8],
) -> Result<(), Error> {
    make_folders(disk, &folder.quarantine())?;
    replace_durably(disk, &folder.quarantine().join(name), bytes)
}

/// Cuts a segment to a size, durably.
fn shorten(
    disk: &dyn Disk,
    folder: &FlowFolder,
    path: &Path,
    size_bytes: u64,
) -> Result<(), Error> {
    let mut file =
        uninterrupted(|| disk.open(path, How::Append)).map_err(|e| Error::io("open", path, e))?;
    uninterrupted(|| file.set_size(size_bytes)).map_err(|e| Error::io("cut", path, e))?;
    file.sync().map_err(|e| {
        doubt(disk, folder);
        Error::io("sync", path, e)
    })
}

/// The cuts that no record speaks of yet, in the order in which they were made.
///
/// # Errors
/// When the folder cannot be listed or a file in it cannot be read.
pub(crate) fn owed(
    disk: &dyn Disk,
    folder: &FlowFolder,
    spoken_of: &dyn Fn(&str) -> bool,
) -> Result<Vec<Fact>, Error> {
    let quarantine = folder.quarantine();
    let entries = match uninterrupted(|| disk.list(&quarantine)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("list", &quarantine, error)),
    };
    let unspoken = || {
        let files = entries.iter().filter(|entry| entry.kind == Kind::File);
        files
            .map(|entry| entry.name.as_str())
            .filter(|name| !spoken_of(name))
    };
    let mut kept: Vec<Quarantined> = unspoken().filter_map(parse_name).collect();
    kept.sort_by_key(|kept| (kept.segment, kept.offset_bytes, kept.expected));
    let pieces = unspoken().filter_map(parse_piece).map(repair_fact);
    let cuts = kept.into_iter().map(|kept| fact_of(disk, folder, kept));
    pieces.map(Ok).chain(cuts).collect()
}

fn repair_fact(piece: TakenOut) -> Fact {
    let (segment, offset) = (piece.segment, piece.offset_bytes);
    let step = format!("took out what stood in segment {segment} from byte {offset} on");
    Fact::RepairApplied(RepairApplied {
        steps: vec![step],
        lost_from: piece.lost_from,
        lost_to: piece.lost_to,
        quarantine: piece.name,
    })
}

fn fact_of(disk: &dyn Disk, folder: &FlowFolder, kept: Quarantined) -> Result<Fact, Error> {
    let bytes = read_whole(
        disk,
        &folder.quarantine().join(&kept.name),
        SEGMENT_BYTES_MAX,
    )?;
    let cut = RecoveryTruncated {
        row: kept.row,
        segment: kept.segment,
        offset_bytes: kept.offset_bytes,
        cut_bytes: bytes.len() as u64,
        hash: Hash::of(&bytes),
        quarantine: kept.name,
    };
    Ok(match kept.row {
        RecoveryRow::R6 => Fact::RecoveryLossy(RecoveryLossy {
            cut,
            lost_seq: kept.expected,
        }),
        RecoveryRow::R2 | RecoveryRow::R3 | RecoveryRow::R4 => Fact::RecoveryTruncated(cut),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_kept_tail_says_what_its_record_needs() {
        let tail = JournalTail {
            row: RecoveryRow::R6,
            segment: 3,
            offset_bytes: 1234,
            bytes: b"what was cut".to_vec(),
            expected: 77,
        };
        let read = parse_name(&name_of(&tail)).unwrap();
        let said = (read.row, read.segment, read.offset_bytes, read.expected);
        assert_eq!(said, (RecoveryRow::R6, 3, 1234, 77));
        assert_eq!(
            name_of(&tail),
            name_of(&tail.clone()),
            "the same tail, the same name"
        );
    }

    #[test]
    fn other_files_in_quarantine_are_left_alone() {
        for name in [
            "notes.txt",
            "tail-r9-00000001-1-2-0123456789abcdef.bin",
            "tail-r2-1-1.bin",
        ] {
            assert_eq!(parse_name(name), None, "{name}");
        }
    }
}
