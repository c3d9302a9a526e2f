//! Repairing a damaged journal: a plan that says what would be lost, then exactly that plan.
//!
//! A repair keeps every record before the damage and takes out everything from it on, byte for
//! byte, into `quarantine/`. Nothing is thrown away. The steps are ordered so that a repair that
//! is cut off can be run again, and so that what was taken out is always reported: a piece that no
//! record names is recorded by the next open.

use a_society_facts::At;
use a_society_facts::Fact;
use a_society_facts::fact::flow::FlowForked;
use a_society_facts::fact::journal::QuarantineRestored;
use a_society_facts::id::{FlowId, Seq};
use a_society_facts::line::{self, Body};

use std::path::Path;

use crate::atomic::replace_durably;
use crate::disk::{Disk, How};
use crate::error::Error;
use crate::files::{read_from, read_whole, remove_if_there, sync_folder, uninterrupted};
use crate::flow::Flow;
use crate::flow_ref::FlowRef;
use crate::journal::append::begin_fork;
use crate::journal::lineage::{self, Lineage};
use crate::journal::recover::{keep, piece_name};
use crate::journal::scan::{Outcome, Position, segments};
use crate::journal::verdict::{Damage, Harm};
use crate::layout::FlowFolder;
use crate::limits::{MEND_BYTES_MAX, SEGMENT_BYTES_MAX};
use crate::lock::FlowLock;
use crate::open::{OpenReport, fold_all};
use crate::store::Store;

/// A piece of the journal that would be taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The segment.
    pub segment: u32,
    /// From where on; 0 for the whole segment.
    pub offset_bytes: u64,
    /// How much.
    pub bytes: u64,
    /// How many of its lines verify on their own.
    pub valid_lines: u64,
}

/// What a repair would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairPlan {
    /// The flow.
    pub flow: FlowRef,
    /// What is wrong.
    pub damage: Damage,
    /// How many records stay.
    pub kept_records: u64,
    /// The first record that would be missing.
    pub lost_from: Seq,
    /// The last record that is known to have been there.
    pub lost_to: Seq,
    /// What would be taken out, in the order of the journal.
    pub pieces: Vec<Piece>,
    /// Where the flow would be a fork from now on, if the damage is in what it shares with the
    /// flow it was forked from.
    pub fork: Option<ForkAgain>,
}

/// A fork that would begin earlier than it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkAgain {
    /// The flow whose records are shared.
    pub parent: FlowId,
    /// The last record that would be.
    pub shared: Position,
    /// What the fork is called.
    pub name: Option<String>,
}

/// What a look at a journal for a repair comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Diagnosis {
    /// Nothing is wrong.
    Sound,
    /// Nothing a repair is needed for: the next open cuts a tail that was never acknowledged.
    Torn,
    /// A repair can help.
    Plan(Box<RepairPlan>),
    /// A repair cannot help; the damage says why.
    Beyond(Box<Damage>),
}

/// What a repair would do.
///
/// # Errors
/// When the journal's files cannot be read.
pub fn plan(store: &Store, flow: &FlowRef) -> Result<Diagnosis, Error> {
    store.must_be_ours(flow)?;
    let (disk, folder) = (store.disk(), store.folder(flow));
    let (_, found) = fold_all(disk, &folder, &flow.flow);
    let damage = match found.outcome {
        Outcome::Clean | Outcome::Blank => return Ok(Diagnosis::Sound),
        Outcome::Torn(_) => return Ok(Diagnosis::Torn),
        Outcome::Damaged(damage) => damage,
    };
    match damage.harm {
        Harm::Newer | Harm::Device | Harm::NotAJournal => {
            return Ok(Diagnosis::Beyond(Box::new(damage)));
        }
        Harm::AcknowledgedLost
        | Harm::EndMissing
        | Harm::Emptied
        | Harm::Chain
        | Harm::ForeignFlow
        | Harm::Illegal
        | Harm::SegmentMissing
        | Harm::Unexplained => {}
    }
    let mut lost_to = damage
        .expected
        .max(crate::evidence::evidence(disk, &folder, &flow.flow));
    let lineage = lineage::of_all(disk, &folder, &flow.flow, &found.segments);
    let mut pieces = Vec::new();
    for number in found
        .segments
        .iter()
        .copied()
        .filter(|number| *number >= damage.segment)
    {
        let offset = if number == damage.segment {
            damage.offset_bytes
        } else {
            0
        };
        let bytes = piece_bytes(disk, &folder, &lineage, number, offset)?;
        let (valid_lines, last) = valid_lines(&bytes);
        lost_to = lost_to.max(last);
        let bytes = bytes.len() as u64;
        pieces.push(Piece {
            segment: number,
            offset_bytes: offset,
            bytes,
            valid_lines,
        });
    }
    Ok(Diagnosis::Plan(Box::new(RepairPlan {
        flow: flow.clone(),
        kept_records: damage.good.map_or(0, |good| good.seq),
        lost_from: damage.expected,
        lost_to,
        pieces,
        fork: fork_again(&lineage, &damage, &found.shared_ends),
        damage,
    })))
}

/// A fork of which not even its own first two records are good begins anew, behind the last good
/// record that it shares.
fn fork_again(lineage: &Lineage, damage: &Damage, shared_ends: &[Position]) -> Option<ForkAgain> {
    let (last, _) = lineage.shared.last_key_value()?;
    let good = damage.good?;
    let shared = if good.segment <= *last {
        good
    } else {
        // Its header alone does not say what it is a fork of.
        let end = shared_ends.iter().find(|end| end.segment == *last)?;
        (good.seq == end.seq + 1).then_some(*end)?
    };
    let parent = lineage.shared.get(&shared.segment)?.flow.clone();
    Some(ForkAgain {
        parent,
        shared,
        name: lineage.name.clone(),
    })
}

fn piece_bytes(
    disk: &dyn Disk,
    folder: &FlowFolder,
    lineage: &Lineage,
    number: u32,
    offset: u64,
) -> Result<Vec<u8>, Error> {
    let path = folder.segment(number);
    let mut bytes = Vec::new();
    uninterrupted(|| disk.open(&path, How::Read))
        .and_then(|file| read_from(file.as_ref(), offset, SEGMENT_BYTES_MAX, &mut bytes))
        .map_err(|e| Error::io("read", &path, e))?;
    if let Some(until) = lineage.shared.get(&number).and_then(|shared| shared.until) {
        bytes.truncate(bytes_until(&bytes, until));
    }
    Ok(bytes)
}

/// How many of the bytes of a shared segment are not the parent's alone.
fn bytes_until(bytes: &[u8], until: Seq) -> usize {
    let mut start = 0;
    while let Some(end) = memchr::memchr(b'\n', &bytes[start..]) {
        let seq = line::frame(&bytes[start..start + end]).map(|frame| frame.seq);
        if seq.is_ok_and(|seq| seq > until) {
            return start;
        }
        start += end + 1;
    }
    bytes.len()
}

/// How many lines verify, and the highest number among them.
fn valid_lines(bytes: &[u8]) -> (u64, Seq) {
    let frames = bytes
        .split(|b| *b == b'\n')
        .filter_map(|bytes| line::frame(bytes).ok());
    frames.fold((0, 0), |(count, last), frame| {
        (count + 1, last.max(frame.seq))
    })
}

/// Does exactly what a plan says, then opens the flow, which records it.
///
/// # Errors
/// When the journal is no longer as the plan found it, another process writes it, or the file
/// system refuses.
pub fn apply(store: &Store, wanted: &RepairPlan) -> Result<(Flow, OpenReport), Error> {
    store.must_be_files("a repair")?;
    let (disk, folder) = (store.disk(), store.folder(&wanted.flow));
    let lock = FlowLock::take(disk, &folder, &store.ground().process)?;
    match plan(store, &wanted.flow)? {
        Diagnosis::Plan(now) if *now == *wanted => {}
        Diagnosis::Plan(_) | Diagnosis::Sound | Diagnosis::Torn | Diagnosis::Beyond(_) => {
            let what = "is no longer as the plan found it; make a new plan".to_owned();
            return Err(Error::Unfit {
                path: folder.journal(),
                what,
            });
        }
    }
    take_out(disk, &folder, wanted, store.ground().clock.now())?;
    drop(lock);
    store.open(&wanted.flow)
}

fn take_out(disk: &dyn Disk, folder: &FlowFolder, plan: &RepairPlan, now: At) -> Result<(), Error> {
    let flow = &plan.flow.flow;
    let segments = segments(disk, folder)?;
    let lineage = lineage::of_all(disk, folder, flow, &segments);
    let lost = plan.lost_from..=plan.lost_to;
    for piece in &plan.pieces {
        let (segment, offset) = (piece.segment, piece.offset_bytes);
        let bytes = piece_bytes(disk, folder, &lineage, segment, offset)?;
        let name = piece_name(segment, offset, &lost, &bytes);
        keep(disk, folder, &name, &bytes)?;
    }
    if plan.pieces.is_empty() {
        // Records are missing without a trace: an empty piece reports that.
        let (segment, offset) = (plan.damage.segment, plan.damage.offset_bytes);
        keep(disk, folder, &piece_name(segment, offset, &lost, b""), b"")?;
    }
    // Views and checkpoint know of records that will be gone; they would testify against the
    // repaired journal.
    remove_if_there(disk, &folder.views())?;
    remove_if_there(disk, &folder.flow_view())?;
    remove_if_there(disk, &folder.checkpoint())?;
    sync_folder(disk, folder.root())?;
    sync_folder(disk, &folder.journal())?;
    let mut stays = 0;
    if let Some(again) = &plan.fork {
        // From this step on the damage is behind the end of what is shared.
        let forked = FlowForked {
            parent: again.parent.clone(),
            at_seq: again.shared.seq,
            name: again.name.clone(),
        };
        begin_fork(disk, folder, flow, now, again.shared, forked)?;
        stays = again.shared.segment + 1;
    }
    for piece in plan
        .pieces
        .iter()
        .rev()
        .filter(|piece| piece.segment > stays)
    {
        let path = folder.segment(piece.segment);
        if piece.offset_bytes == 0 {
            remove_if_there(disk, &path)?;
            sync_folder(disk, &folder.journal())?;
        } else {
            shorten(disk, &path, piece.offset_bytes)?;
        }
    }
    Ok(())
}

/// Cuts a segment by putting a shorter one in its place: the file itself may be shared with forks
/// of the flow, whose records must stay.
fn shorten(disk: &dyn Disk, path: &Path, size_bytes: u64) -> Result<(), Error> {
    let mut bytes = read_whole(disk, path, SEGMENT_BYTES_MAX)?;
    bytes.truncate(usize::try_from(size_bytes).unwrap_or(usize::MAX));
    replace_durably(disk, path, &bytes)
}

/// What putting a quarantined file back came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// How many records were put back.
    pub records: u64,
    /// Lines that could not be put back, with the reason.
    pub refused: Vec<String>,
}

/// How many refusals are listed one by one.
const REFUSALS_MAX: usize = 20;

/// Puts the records of a quarantined file back at the end of a flow, as far as they can be read
/// and still follow from what is true.
///
/// # Errors
/// When there is no such file or the journal refuses.
pub fn restore(flow: &mut Flow, disk: &dyn Disk, name: &str) -> Result<Restored, Error> {
    let inside = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0']);
    let path = flow
        .folder()
        .quarantine()
        .join(if inside { name } else { "-" });
    let bytes = read_whole(disk, &path, SEGMENT_BYTES_MAX)?;
    let mut restored = Restored {
        records: 0,
        refused: Vec::new(),
    };
    let mut facts = Vec::new();
    for piece in bytes
        .split(|b| *b == b'\n')
        .filter(|piece| !piece.is_empty())
    {
        match read_kept(piece) {
            Ok(Some(fact)) => facts.push(fact),
            Ok(None) => {}
            Err(why) if restored.refused.len() < REFUSALS_MAX => restored.refused.push(why),
            Err(_) => {}
        }
    }
    let records = facts.len() as u64;
    let told = QuarantineRestored {
        quarantine: name.to_owned(),
        records,
    };
    flow.append(Fact::QuarantineRestored(told))?;
    for fact in facts {
        let word = fact.word();
        match flow.append(fact) {
            Ok(_) => restored.records += 1,
            Err(Error::Illegal { why, .. }) => restored.refused.push(format!("{word}: {why}")),
            Err(error) => return Err(error),
        }
    }
    flow.sync()?;
    Ok(restored)
}

/// Reads one line as well as it can be read; `None` for records about the journal itself.
fn read_kept(bytes: &[u8]) -> Result<Option<Fact>, String> {
    let mut line_bytes = bytes.to_vec();
    let body = line::read(&mut line_bytes)
        .map(|(_, body)| body)
        .or_else(|bad| {
            let mended = (bytes.len() <= MEND_BYTES_MAX)
                .then(|| line::mend_one_bit(bytes))
                .flatten();
            match mended {
                Some(mut mended) => line::read(&mut mended).map(|(_, body)| body),
                None => line::read_unchecked(bytes).map_err(|_| bad),
            }
        });
    match body {
        Ok(Body::Known(Fact::SegmentStarted(_) | Fact::WriterOpened(_) | Fact::FlowForked(_))) => {
            Ok(None)
        }
        Ok(Body::Known(fact)) => Ok(Some(fact)),
        Ok(Body::Foreign { word, .. }) => Err(format!("{word}: this version knows no such fact")),
        Err(bad) => {
            let start = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
            Err(format!("{start:?}: {bad}"))
        }
    }
}
