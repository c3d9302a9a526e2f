//! Facts about the journal itself: where a segment begins, what a recovery cut, what was lost.

use serde::{Deserialize, Serialize};

use crate::hash::Hash;
use crate::id::{FlowId, Seq};

/// The end of the chain before a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The last record before this segment.
    pub seq: Seq,
    /// Its checksum.
    pub crc: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SegmentStarted {
    /// The flow whose journal this is.
    pub flow: FlowId,
    /// The version of the journal's format; another one is not opened for writing.
    pub format: u32,
    /// The program that wrote the segment, with its version.
    pub writer: String,
    /// The segment's number, from 1.
    pub segment: u32,
    /// The end of the chain before it; absent in the first segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<Link>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WriterOpened {
    /// The process that writes from here on.
    pub process: ProcessName,
}

/// A process, so named that another one with the same number is not mistaken for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProcessName {
    /// Its number.
    pub pid: u32,
    /// When it started, in clock ticks since the machine did; 0 where the system does not say.
    pub start_ticks: u64,
    /// Which start of the machine; empty where the system does not say.
    pub boot_id: String,
}

/// Which row of the recovery table was met (`state/RECOVERY.md`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecoveryRow {
    /// The last line has no end.
    R2,
    /// The file grew before its data arrived.
    R3,
    /// Unsynced lines arrived out of order.
    R4,
    /// The last line does not verify, and nothing says whether it was ever acknowledged.
    R6,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecoveryTruncated {
    /// The row of the recovery table that allowed the cut.
    pub row: RecoveryRow,
    /// The segment that was cut.
    pub segment: u32,
    /// Where, in bytes from its beginning.
    pub offset_bytes: u64,
    /// How much.
    pub cut_bytes: u64,
    /// The hash of what was cut.
    pub hash: Hash,
    /// The file under `quarantine/` that keeps it.
    pub quarantine: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecoveryLossy {
    /// The same as for any cut.
    #[serde(flatten)]
    pub cut: RecoveryTruncated,
    /// The record that may have been acknowledged and may now be missing.
    pub lost_seq: Seq,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuarantineRestored {
    /// The file under `quarantine/` whose records follow.
    pub quarantine: String,
    /// How many records could be put back.
    pub records: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepairApplied {
    /// What the operator agreed to, in words, one line a step.
    pub steps: Vec<String>,
    /// The first sequence number that is missing from here on; 0 if none is.
    pub lost_from: Seq,
    /// The last one.
    pub lost_to: Seq,
    /// The file under `quarantine/` that keeps what was taken out.
    pub quarantine: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlobLost {
    /// The blob that is missing, or whose bytes are no longer the ones it is named by.
    pub blob: Hash,
    /// Which of the two, in words.
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlobFound {
    /// The blob that was lost and is whole again.
    pub blob: Hash,
}
