//! Reading a journal in order: every record checked, chained and handed on.
//!
//! A scan holds one segment in memory at a time. It stops at the first thing that is not as it
//! must be and says what that means; what came before has been handed on by then.

use std::io;
use std::ops::ControlFlow;

use a_society_facts::fact::journal::{RecoveryRow, SegmentStarted};
use a_society_facts::id::{FlowId, Seq};
use a_society_facts::line::{BadLine, Body, FORMAT, Frame};
use a_society_facts::{Fact, Recorded};

use crate::disk::{Disk, How, Kind};
use crate::error::Error;
use crate::files::{read_from, uninterrupted};
use crate::journal::lineage::{self, Lineage, SharedSegment};
use crate::journal::lines;
use crate::journal::verdict::{Damage, Harm, Judgement, Suspect, judge};
use crate::layout::{FlowFolder, segment_number};
use crate::ledger::JournalEnd;
use crate::limits::SEGMENT_BYTES_MAX;

/// The end of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Position {
    /// The segment.
    pub segment: u32,
    /// Where the record ends in it.
    pub offset_bytes: u64,
    /// The record's number.
    pub seq: Seq,
    /// Its checksum.
    pub crc: u32,
}

impl From<Position> for JournalEnd {
    fn from(position: Position) -> Self {
        Self {
            segment: position.segment,
            seq: position.seq,
            crc: position.crc,
        }
    }
}

/// A tail that may be cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalTail {
    /// The row of the table that allows it.
    pub row: RecoveryRow,
    /// The segment.
    pub segment: u32,
    /// Where the tail begins.
    pub offset_bytes: u64,
    /// The tail itself.
    pub bytes: Vec<u8>,
    /// The record that should have been there.
    pub expected: Seq,
}

/// What a scan came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// R1: the journal ends with a record.
    Clean,
    /// Nothing was ever written: there is no segment, or an empty first one.
    Blank,
    /// R2, R3, R4, R6: a tail may be cut.
    Torn(JournalTail),
    /// Anything else: the journal may only be read.
    Damaged(Damage),
}

/// What a scan found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scan {
    /// The end of the last good record; absent if there is none.
    pub end: Option<Position>,
    /// The highest number that a writer knew to be synced.
    pub durable: Seq,
    /// How many records were passed on.
    pub records: u64,
    /// How many bytes were read.
    pub bytes: u64,
    /// The segments there are.
    pub segments: Vec<u32>,
    /// Where shared segments end for this journal, each that does not end with its file.
    pub shared_ends: Vec<Position>,
    /// What it came to.
    pub outcome: Outcome,
}

/// What a reader says to a record: nothing, or why it cannot be true.
pub(crate) type Heard = Result<(), String>;

/// The flow and what is known about it besides its journal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<'a> {
    /// The flow whose journal it should be.
    pub flow: &'a FlowId,
    /// The highest number that a view or a checkpoint knows to be durable; 0 if none does.
    pub evidence: Seq,
    /// Where to begin; absent for the beginning.
    pub from: Option<Position>,
}

/// The numbers of the segments of a journal, in order.
///
/// # Errors
/// When the folder cannot be listed, or something that is not a file bears a segment's name.
pub(crate) fn segments(disk: &dyn Disk, folder: &FlowFolder) -> Result<Vec<u32>, Error> {
    let journal = folder.journal();
    let unfit = |what: &str| Error::Unfit {
        path: journal.clone(),
        what: what.to_owned(),
    };
    match uninterrupted(|| disk.about(&journal)) {
        Ok(about) if about.kind == Kind::Folder => {}
        Ok(_) => return Err(unfit("is not a folder of segments")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("look at", &journal, error)),
    }
    let entries =
        uninterrupted(|| disk.list(&journal)).map_err(|e| Error::io("list", &journal, e))?;
    let mut numbers = Vec::new();
    for entry in entries {
        let Some(number) = segment_number(&entry.name) else {
            continue;
        };
        if entry.kind != Kind::File {
            return Err(unfit(&format!(
                "holds {}, which is not a regular file",
                entry.name
            )));
        }
        numbers.push(number);
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Reads a journal from its beginning, or from a position, and hands every record on.
///
/// # Errors
/// Never for what the journal holds: that is the outcome.
pub(crate) fn scan(
    disk: &dyn Disk,
    folder: &FlowFolder,
    known: Known<'_>,
    each: &mut dyn FnMut(&Recorded, &Frame, Position) -> Heard,
) -> Scan {
    let mut scanner = Scanner {
        disk,
        folder,
        known,
        each,
        buffer: Vec::new(),
        lineage: None,
        scan: Scan {
            end: known.from,
            durable: 0,
            records: 0,
            bytes: 0,
            segments: Vec::new(),
            shared_ends: Vec::new(),
            outcome: Outcome::Clean,
        },
    };
    scanner.run();
    scanner.scan
}

struct Scanner<'a> {
    disk: &'a dyn Disk,
    folder: &'a FlowFolder,
    known: Known<'a>,
    each: &'a mut dyn FnMut(&Recorded, &Frame, Position) -> Heard,
    buffer: Vec<u8>,
    /// Which segments are shared, once it was asked.
    lineage: Option<Lineage>,
    scan: Scan,
}

/// Where a scan stopped, unless it went on.
type ScanStop = Option<Outcome>;

/// Why the lines of a segment were not read to their end.
enum SegmentEnd {
    /// The scan stopped.
    Stopped(Outcome),
    /// The line that begins here does not hold.
    Bad(usize, BadLine),
    /// With this record ends what the segment shares.
    Shared(Position),
}

impl Scanner<'_> {
    fn run(&mut self) {
        self.scan.segments = match segments(self.disk, self.folder) {
            Ok(numbers) => numbers,
            Err(Error::Io { source, path, .. }) => {
                let detail = format!("{}: {source}", path.display());
                self.scan.outcome = self.damaged(Harm::Device, 0, 0, detail);
                return;
            }
            Err(error) => {
                self.scan.outcome = self.damaged(Harm::NotAJournal, 0, 0, error.to_string());
                return;
            }
        };
        let stop = self.walk();
        self.scan.outcome = stop.unwrap_or_else(|| self.judge_end());
    }

    /// Scans the segments one after the other.
    fn walk(&mut self) -> ScanStop {
        let numbers = self.scan.segments.clone();
        let first = self.known.from.map_or(1, |from| from.segment);
        let mut last = numbers.last().copied().unwrap_or(0);
        if self.known.from.is_some() {
            // The segment that was read last may be gone.
            last = last.max(first);
        }
        for number in first..=last {
            if numbers.binary_search(&number).is_err() {
                let detail = format!("segment {number} of {last}");
                return Some(self.damaged(Harm::SegmentMissing, number, 0, detail));
            }
            let offset = match self.known.from {
                Some(from) if from.segment == number => from.offset_bytes,
                _ => 0,
            };
            if let Some(stop) = self.segment(number, offset, number < last) {
                return Some(stop);
            }
        }
        None
    }

    /// A journal that ends well may still have lost its end.
    fn judge_end(&self) -> Outcome {
        let last = self.scan.end.map_or(0, |end| end.seq);
        let segment = self.scan.end.map_or(0, |end| end.segment);
        let offset = self.scan.end.map_or(0, |end| end.offset_bytes);
        if self.known.evidence > last {
            let detail = format!("record {} had been acknowledged", self.known.evidence);
            let harm = if last == 0 {
                Harm::Emptied
            } else {
                Harm::EndMissing
            };
            return self.damaged(harm, segment, offset, detail);
        }
        if last == 0 {
            Outcome::Blank
        } else {
            Outcome::Clean
        }
    }

    fn damaged(&self, harm: Harm, segment: u32, offset_bytes: u64, detail: String) -> Outcome {
        Outcome::Damaged(Damage {
            harm,
            segment,
            offset_bytes,
            expected: self.scan.end.map_or(1, |end| end.seq + 1),
            detail,
            good: self.scan.end,
        })
    }

    fn segment(&mut self, number: u32, offset: u64, later_segment: bool) -> ScanStop {
        let path = self.folder.segment(number);
        let mut buffer = std::mem::take(&mut self.buffer);
        let read = uninterrupted(|| self.disk.open(&path, How::Read)).and_then(|file| {
            read_from(file.as_ref(), offset, SEGMENT_BYTES_MAX, &mut buffer)?;
            // A later read finds nothing most of the time; then the file may have shrunk.
            Ok(buffer.is_empty() && uninterrupted(|| file.size_bytes())? < offset)
        });
        let stop = match read {
            Ok(true) => {
                let detail = "it is shorter than what was read of it".to_owned();
                Some(self.damaged(Harm::EndMissing, number, offset, detail))
            }
            Ok(false) => {
                self.scan.bytes += buffer.len() as u64;
                if later_segment {
                    self.ask_lineage(number, offset, &buffer);
                }
                self.lines(number, offset, later_segment, &mut buffer)
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                Some(self.damaged(Harm::NotAJournal, number, offset, error.to_string()))
            }
            Err(error) => Some(self.damaged(Harm::Device, number, offset, error.to_string())),
        };
        self.buffer = buffer;
        stop
    }

    /// Finds out, at the first segment, whether it and those after it are shared.
    fn ask_lineage(&mut self, number: u32, offset: u64, bytes: &[u8]) {
        if self.lineage.is_some() {
            return;
        }
        let writer = if offset == 0 {
            lineage::flow_of(bytes)
        } else {
            lineage::writer_of(self.disk, self.folder, number)
        };
        let ours = writer.is_some_and(|writer| writer == *self.known.flow);
        self.lineage = Some(if ours {
            Lineage::default()
        } else {
            let last = self.scan.segments.last().copied().unwrap_or(number);
            lineage::of(self.disk, self.folder, self.known.flow, number..=last)
        });
    }

    fn shared(&self, number: u32) -> Option<&SharedSegment> {
        self.lineage.as_ref()?.shared.get(&number)
    }

    fn lines(
        &mut self,
        number: u32,
        offset: u64,
        later_segment: bool,
        bytes: &mut [u8],
    ) -> ScanStop {
        let until = self.shared(number).and_then(|shared| shared.until);
        let ended = |end: Position| end.segment == number && until.is_some_and(|u| end.seq >= u);
        if self.scan.end.is_some_and(ended) {
            return None;
        }
        if bytes.is_empty() && offset == 0 {
            // Only a first segment can be empty without a loss: all others get their name after
            // their first record is synced.
            let blank = number == 1 && !later_segment && self.known.evidence == 0;
            let detail = "the file is empty".to_owned();
            return (!blank).then(|| self.damaged(Harm::Emptied, number, 0, detail));
        }
        let ended = lines::each(bytes, &mut |line| {
            let (at, after) = (offset + line.start as u64, offset + line.end as u64);
            let (frame, recorded) = match &line.read {
                Ok(read) => read,
                Err(bad) => return ControlFlow::Break(SegmentEnd::Bad(line.start, bad.clone())),
            };
            let position = Position {
                segment: number,
                offset_bytes: after,
                seq: frame.seq,
                crc: frame.crc,
            };
            if let Some(stop) = self.record(position, at, frame, recorded) {
                return ControlFlow::Break(SegmentEnd::Stopped(stop));
            }
            if until == Some(position.seq) {
                return ControlFlow::Break(SegmentEnd::Shared(position));
            }
            ControlFlow::Continue(())
        });
        match ended? {
            SegmentEnd::Stopped(stop) => Some(stop),
            SegmentEnd::Bad(start, bad) => {
                let at = offset + start as u64;
                Some(self.bad(number, at, later_segment, &bytes[start..], bad))
            }
            SegmentEnd::Shared(position) => {
                // What follows is the parent's alone.
                self.scan.shared_ends.push(position);
                None
            }
        }
    }

    fn record(
        &mut self,
        position: Position,
        at: u64,
        frame: &Frame,
        recorded: &Recorded,
    ) -> ScanStop {
        if let Some((harm, detail)) = self.misfit(position, at, frame, &recorded.body) {
            return Some(self.damaged(harm, position.segment, at, detail));
        }
        if let Err(why) = (self.each)(recorded, frame, position) {
            return Some(self.damaged(Harm::Illegal, position.segment, at, why));
        }
        self.scan.durable = self.scan.durable.max(frame.durable);
        self.scan.end = Some(position);
        self.scan.records += 1;
        None
    }

    /// What is wrong with a record that verifies, if anything is.
    fn misfit(
        &self,
        position: Position,
        at: u64,
        frame: &Frame,
        body: &Body,
    ) -> Option<(Harm, String)> {
        let header = match body {
            Body::Known(Fact::SegmentStarted(header)) => Some(header),
            Body::Known(_) | Body::Foreign { .. } => None,
        };
        if at == 0
            && let Some(fault) = self.header_fault(position.segment, header)
        {
            return Some(fault);
        }
        if at != 0 && header.is_some() {
            return Some((Harm::Chain, "a segment begins inside another".to_owned()));
        }
        let (seq, prev) = self.scan.end.map_or((0, 0), |end| (end.seq, end.crc));
        if frame.seq != seq + 1 {
            let detail = format!("it says that it is record {}", frame.seq);
            return Some((Harm::Chain, detail));
        }
        if frame.prev != prev {
            let detail = "the record before it is not the one it follows".to_owned();
            return Some((Harm::Chain, detail));
        }
        if frame.durable > seq {
            let detail = format!(
                "it claims that record {} was synced before it",
                frame.durable
            );
            return Some((Harm::Chain, detail));
        }
        None
    }

    fn header_fault(&self, number: u32, header: Option<&SegmentStarted>) -> Option<(Harm, String)> {
        let Some(header) = header else {
            return Some((
                Harm::Chain,
                "the segment does not begin with its header".to_owned(),
            ));
        };
        if header.format != FORMAT {
            return Some((Harm::Newer, format!("format {}", header.format)));
        }
        let shared = self.shared(number);
        let writer = shared.map_or(self.known.flow, |shared| &shared.flow);
        if header.flow != *writer {
            return Some((Harm::ForeignFlow, format!("flow {}", header.flow)));
        }
        let linked = header.previous.map(|link| (link.seq, link.crc));
        let end = self.scan.end.map(|end| (end.seq, end.crc));
        if header.segment != number || linked != end {
            let detail = format!("its header says that it is segment {}", header.segment);
            return Some((Harm::Chain, detail));
        }
        None
    }

    /// Judges a record that does not verify.
    fn bad(&self, number: u32, at: u64, later: bool, bytes: &[u8], bad: BadLine) -> Outcome {
        match bad {
            BadLine::Newer { .. } => {
                return self.damaged(Harm::Newer, number, at, bad.to_string());
            }
            // The checksum fits: the line is not torn, and was written like this.
            BadLine::Payload { .. } => {
                return self.damaged(Harm::Illegal, number, at, bad.to_string());
            }
            BadLine::Frame | BadLine::Checksum => {}
        }
        let expected = self.scan.end.map_or(1, |end| end.seq + 1);
        let judgement = judge(&Suspect {
            bytes,
            offset_bytes: at,
            expected,
            evidence: self.known.evidence,
            // A later segment gets its name after its header is synced, so a header that does not
            // verify there was once durable.
            later_segment: later || (at == 0 && number > 1),
        });
        match judgement {
            Judgement::Cut(row) => Outcome::Torn(JournalTail {
                row,
                segment: number,
                offset_bytes: at,
                bytes: bytes.to_vec(),
                expected,
            }),
            Judgement::Keep(harm) => self.damaged(harm, number, at, bad.to_string()),
        }
    }
}
