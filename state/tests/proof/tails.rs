//! Ends of journals as crashes leave them, and damage as nothing of ours would: made by hand.

use std::path::{Path, PathBuf};

use a_society_facts::fact::flow::FlowTitled;
use a_society_facts::fact::journal::RecoveryRow;
use a_society_facts::id::Seq;
use a_society_facts::line::{self, Frame};
use a_society_facts::{At, Fact};
use a_society_in_memory::FaultyDisk;

/// The titles that the facts in crafted tails give.
pub(crate) const TITLES: [&str; 2] = ["never acknowledged", "nor this one"];

/// One line of a journal, with its place.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// The file.
    pub(crate) path: PathBuf,
    /// Its first byte.
    pub(crate) start: usize,
    /// The byte after its newline.
    pub(crate) end: usize,
    /// What it says besides its fact.
    pub(crate) frame: Frame,
}

/// The segments of the journal below a folder, in order.
pub(crate) fn segments(disk: &FaultyDisk, flow: &Path) -> Vec<PathBuf> {
    let journal = flow.join("journal");
    let named = |path: &PathBuf| {
        path.parent() == Some(&journal) && path.extension().is_some_and(|e| e == "jsonl")
    };
    disk.files().into_iter().filter(named).collect()
}

/// Every line of a journal that verifies.
pub(crate) fn lines(disk: &FaultyDisk, flow: &Path) -> Vec<Line> {
    let mut found = Vec::new();
    for path in segments(disk, flow) {
        let bytes = disk.read_file(&path).unwrap();
        let mut start = 0;
        for piece in bytes.split_inclusive(|b| *b == b'\n') {
            let end = start + piece.len();
            let body = piece.strip_suffix(b"\n").unwrap_or(piece);
            if let Ok(frame) = line::frame(body) {
                let path = path.clone();
                found.push(Line {
                    path,
                    start,
                    end,
                    frame,
                });
            }
            start = end;
        }
    }
    found
}

/// Whether a journal ends with a record.
pub(crate) fn ends_well(disk: &FaultyDisk, flow: &Path) -> bool {
    let (last, segment) = (lines(disk, flow).pop(), segments(disk, flow).pop());
    last.zip(segment).is_some_and(|(line, path)| {
        path == line.path && disk.read_file(&path).unwrap().len() == line.end
    })
}

fn line_after(frame: &Frame, title: &str) -> (Vec<u8>, u32) {
    let fact = torn_fact(title);
    let mut out = Vec::new();
    let crc = line::write(
        &mut out,
        frame.seq + 1,
        At::from_ms(0),
        frame.durable,
        frame.crc,
        &fact,
    )
    .unwrap();
    (out, crc)
}

/// The fact that a crafted line carries.
pub(crate) fn torn_fact(title: &str) -> Fact {
    Fact::FlowTitled(FlowTitled {
        title: title.into(),
    })
}

/// The bytes that a crash of a certain kind leaves after the last record.
pub(crate) fn tail(row: RecoveryRow, last: &Frame) -> Vec<u8> {
    let (whole, crc) = line_after(last, TITLES[0]);
    let mut broken = whole.clone();
    broken[60] ^= 4;
    match row {
        RecoveryRow::R2 => whole[..whole.len() / 2].to_vec(),
        RecoveryRow::R3 => [&whole[..whole.len() / 2], &[0; 1100], b"\n"].concat(),
        RecoveryRow::R4 => {
            let next = Frame {
                seq: last.seq + 1,
                crc,
                ..*last
            };
            [broken, line_after(&next, TITLES[1]).0].concat()
        }
        RecoveryRow::R6 => broken,
    }
}

/// Leaves such an end on the disk, durably.
pub(crate) fn leave_tail(disk: &FaultyDisk, flow: &Path, row: RecoveryRow) {
    let last = lines(disk, flow).pop().unwrap();
    let mut bytes = disk.read_file(&last.path).unwrap();
    bytes.extend(tail(row, &last.frame));
    disk.write_file(&last.path, &bytes).unwrap();
}

/// Flips a bit in the middle of a record that a later one knows to be synced, and returns which; does
/// nothing if there is none.
pub(crate) fn flip_synced(disk: &FaultyDisk, flow: &Path) -> Option<Seq> {
    let lines = lines(disk, flow);
    let known = lines.iter().map(|line| line.frame.durable).max()?;
    let range = (known / 2).max(1)..=known;
    let chosen = lines.iter().find(|line| range.contains(&line.frame.seq))?;
    let middle = usize::midpoint(chosen.start, chosen.end);
    disk.flip_bit(&chosen.path, middle as u64 * 8).unwrap();
    Some(chosen.frame.seq)
}
