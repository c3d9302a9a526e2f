//! What a scan's findings mean: the decision table of a recovery, as one pure function.
//!
//! The rows are those of `RECOVERY.md`; test names cite them. The question is always the same:
//! was the first record that does not verify ever acknowledged? Only if it provably was not may
//! it be cut. Evidence that it was: a later record whose writer knew it to be synced (E1), a view
//! or checkpoint that reflects it (E2, E3), or a later segment (E4), because a segment begins
//! only after the one before it is synced.

use std::fmt;

use a_society_facts::fact::journal::RecoveryRow;
use a_society_facts::id::Seq;
use a_society_facts::line;

use crate::journal::scan::Position;

/// The size of the pieces in which a disk writes; a file that grew before its data arrived holds
/// pieces of zeros.
const SECTOR_BYTES: u64 = 512;

/// The bytes after the good part of a segment.
#[derive(Debug)]
pub(crate) struct Suspect<'a> {
    /// Every byte of the segment from the first record that does not verify.
    pub bytes: &'a [u8],
    /// Where that is in the segment.
    pub offset_bytes: u64,
    /// The number the record should have.
    pub expected: Seq,
    /// The highest number that a view or a checkpoint knows to be durable.
    pub evidence: Seq,
    /// Whether a later segment exists.
    pub later_segment: bool,
}

/// What may be done about a suspect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// It may be cut; R6 says so loudly.
    Cut(RecoveryRow),
    /// It may not be touched.
    Keep(Harm),
}

/// How a journal is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harm {
    /// R5: a record that had been acknowledged does not verify.
    AcknowledgedLost,
    /// R5: records that had been acknowledged are missing from the end.
    EndMissing,
    /// R7: a file is empty or holds only zeros although more had been written.
    Emptied,
    /// R9: the records verify, but they do not follow from one another.
    Chain,
    /// R9: the records belong to another flow.
    ForeignFlow,
    /// R9: a record verifies and says what cannot be true.
    Illegal,
    /// R10: a segment is missing.
    SegmentMissing,
    /// R12: it was written by a newer version.
    Newer,
    /// R14: the device failed while it was read.
    Device,
    /// The journal is not a journal: a file in place of a folder, a link, a giant file.
    NotAJournal,
    /// Lines that do not verify are followed by others that do not, and nothing explains it.
    Unexplained,
}

impl Harm {
    /// A stable word for programs.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::AcknowledgedLost => "acknowledged-lost",
            Self::EndMissing => "end-missing",
            Self::Emptied => "emptied",
            Self::Chain => "chain-broken",
            Self::ForeignFlow => "foreign-flow",
            Self::Illegal => "illegal-record",
            Self::SegmentMissing => "segment-missing",
            Self::Newer => "newer-version",
            Self::Device => "device-error",
            Self::NotAJournal => "not-a-journal",
            Self::Unexplained => "unexplained",
        }
    }

    /// The row of the recovery table.
    #[must_use]
    pub const fn row(self) -> &'static str {
        match self {
            Self::AcknowledgedLost | Self::EndMissing | Self::Unexplained => "R5",
            Self::Emptied => "R7",
            Self::Chain | Self::ForeignFlow | Self::Illegal => "R9",
            Self::SegmentMissing => "R10",
            Self::Newer => "R12",
            Self::Device => "R14",
            Self::NotAJournal => "R7",
        }
    }

    const fn says(self) -> &'static str {
        match self {
            Self::AcknowledgedLost => "a record that had been acknowledged does not verify",
            Self::EndMissing => "records that had been acknowledged are missing from its end",
            Self::Emptied => "a file of it was emptied",
            Self::Chain => "its records do not follow from one another",
            Self::ForeignFlow => "its records belong to another flow",
            Self::Illegal => "a record says what cannot be true there",
            Self::SegmentMissing => "one of its segments is missing",
            Self::Newer => "it was written by a newer version of this program",
            Self::Device => "the device failed while it was read",
            Self::NotAJournal => "it is not a journal",
            Self::Unexplained => "several lines of it do not verify",
        }
    }
}

/// Damage, with the place and what is still good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// How.
    pub harm: Harm,
    /// The segment.
    pub segment: u32,
    /// Where in it.
    pub offset_bytes: u64,
    /// The record that should be there.
    pub expected: Seq,
    /// More, in words.
    pub detail: String,
    /// Where the good part ends; absent if nothing is good.
    pub good: Option<Position>,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the journal is damaged ({row}): {says}, at record {seq}, segment {segment}, byte {byte}",
            row = self.harm.row(),
            says = self.harm.says(),
            seq = self.expected,
            segment = self.segment,
            byte = self.offset_bytes,
        )?;
        if self.detail.is_empty() {
            Ok(())
        } else {
            write!(f, " ({})", self.detail)
        }
    }
}

/// What the lines after the first bad one tell.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct LinesAfter {
    /// Complete lines after the first bad one.
    lines: u64,
    /// Those that verify.
    valid: u64,
    /// The highest number that a writer of one of them knew to be synced.
    durable: Seq,
}

fn look_after(rest: &[u8]) -> LinesAfter {
    let mut after = LinesAfter::default();
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', rest) {
        after.lines += 1;
        if let Ok(frame) = line::frame(&rest[start..end]) {
            after.valid += 1;
            after.durable = after.durable.max(frame.durable);
        }
        start = end + 1;
    }
    after
}

/// Whether a piece of the disk, as far as it holds the suspect, is all zeros. A journal holds no
/// zero byte, so such a piece was never written.
fn has_unwritten_sector(bytes: &[u8], offset_bytes: u64) -> bool {
    let into_sector = usize::try_from(offset_bytes % SECTOR_BYTES).unwrap_or(0);
    let first = (SECTOR_BYTES as usize - into_sector).min(bytes.len());
    let (head, rest) = bytes.split_at(first);
    let zeros = |piece: &[u8]| !piece.is_empty() && piece.iter().all(|b| *b == 0);
    zeros(head) || rest.chunks(SECTOR_BYTES as usize).any(zeros)
}

/// Judges the end of a segment whose next record does not verify.
#[must_use]
pub(crate) fn judge(suspect: &Suspect<'_>) -> Judgement {
    let first_end = memchr::memchr(b'\n', suspect.bytes);
    let rest = first_end.map_or(&[][..], |end| &suspect.bytes[end + 1..]);
    let after = look_after(rest);
    let acknowledged = after.durable >= suspect.expected
        || suspect.evidence >= suspect.expected
        || suspect.later_segment;
    let all_zeros = suspect.bytes.iter().all(|b| *b == 0);
    if acknowledged && all_zeros && suspect.offset_bytes == 0 {
        return Judgement::Keep(Harm::Emptied);
    }
    if acknowledged {
        return Judgement::Keep(Harm::AcknowledgedLost);
    }
    if first_end.is_none() && !all_zeros {
        return Judgement::Cut(RecoveryRow::R2);
    }
    if has_unwritten_sector(suspect.bytes, suspect.offset_bytes) || suspect.bytes.ends_with(&[0]) {
        return Judgement::Cut(RecoveryRow::R3);
    }
    if after.valid > 0 {
        return Judgement::Cut(RecoveryRow::R4);
    }
    if rest.is_empty() {
        return Judgement::Cut(RecoveryRow::R6);
    }
    Judgement::Keep(Harm::Unexplained)
}

#[cfg(test)]
mod tests {
    use a_society_facts::Fact;
    use a_society_facts::fact::flow::FlowTitled;
    use a_society_facts::{At, line};

    use super::*;

    fn record(seq: Seq, durable: Seq) -> Vec<u8> {
        let mut out = Vec::new();
        let fact = Fact::FlowTitled(FlowTitled {
            title: "a title that takes some room".into(),
        });
        line::write(&mut out, seq, At::from_ms(0), durable, 7, &fact).unwrap();
        out
    }

    fn broken(seq: Seq) -> Vec<u8> {
        let mut bytes = record(seq, 0);
        bytes[20] ^= 1;
        bytes
    }

    fn suspect(bytes: &[u8]) -> Suspect<'_> {
        Suspect {
            bytes,
            offset_bytes: 1000,
            expected: 5,
            evidence: 0,
            later_segment: false,
        }
    }

    #[test]
    fn r2_a_last_line_without_an_end_is_cut() {
        let bytes = &record(5, 4)[..40];
        assert_eq!(judge(&suspect(bytes)), Judgement::Cut(RecoveryRow::R2));
    }

    #[test]
    fn r3_a_piece_of_zeros_means_that_the_file_grew_before_its_data() {
        let mut bytes = record(5, 4);
        bytes.extend_from_slice(&[0; 700]);
        assert_eq!(judge(&suspect(&bytes)), Judgement::Cut(RecoveryRow::R3));
        let mut bytes = record(5, 4);
        bytes[..24].fill(0);
        assert_eq!(
            judge(&suspect(&bytes)),
            Judgement::Cut(RecoveryRow::R3),
            "the rest of a sector"
        );
        assert_eq!(judge(&suspect(&[0; 64])), Judgement::Cut(RecoveryRow::R3));
    }

    #[test]
    fn r4_unsynced_lines_out_of_order_are_cut_together() {
        let bytes = [broken(5), record(6, 4), record(7, 4)].concat();
        assert_eq!(judge(&suspect(&bytes)), Judgement::Cut(RecoveryRow::R4));
    }

    #[test]
    fn r5_e1_a_later_line_that_knew_it_synced_keeps_everything() {
        let bytes = [broken(5), record(6, 5)].concat();
        assert_eq!(
            judge(&suspect(&bytes)),
            Judgement::Keep(Harm::AcknowledgedLost)
        );
    }

    #[test]
    fn r5_e2_a_view_that_reflects_it_keeps_everything() {
        for bytes in [broken(5), record(5, 4)[..40].to_vec()] {
            let suspect = Suspect {
                evidence: 5,
                ..suspect(&bytes)
            };
            assert_eq!(judge(&suspect), Judgement::Keep(Harm::AcknowledgedLost));
        }
    }

    #[test]
    fn r5_e4_a_later_segment_keeps_everything() {
        let bytes = broken(5);
        let suspect = Suspect {
            later_segment: true,
            ..suspect(&bytes)
        };
        assert_eq!(judge(&suspect), Judgement::Keep(Harm::AcknowledgedLost));
    }

    #[test]
    fn r6_a_complete_last_line_that_does_not_verify_is_cut_loudly() {
        assert_eq!(judge(&suspect(&broken(5))), Judgement::Cut(RecoveryRow::R6));
    }

    #[test]
    fn r7_a_file_of_zeros_with_evidence_was_emptied() {
        let zeros = [0; 2000];
        let suspect = Suspect {
            offset_bytes: 0,
            evidence: 9,
            ..suspect(&zeros)
        };
        assert_eq!(judge(&suspect), Judgement::Keep(Harm::Emptied));
    }

    #[test]
    fn lines_that_nothing_explains_are_kept() {
        let bytes = [broken(5), broken(6)].concat();
        assert_eq!(judge(&suspect(&bytes)), Judgement::Keep(Harm::Unexplained));
    }
}
