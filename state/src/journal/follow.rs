//! Reading a journal beside the process that writes it.
//!
//! A follower takes no lock and changes nothing. It hands on every whole record it has not handed
//! on before; a line that has no end yet is simply not there yet.

use std::io;
use std::ops::ControlFlow;

use a_society_facts::Recorded;
use a_society_facts::id::{FlowId, Seq};
use a_society_facts::limits::RECORD_BYTES_MAX;
use a_society_facts::line;

use crate::disk::{Disk, DiskFile, How, SharedDisk};
use crate::error::Error;
use crate::evidence::evidence;
use crate::files::{read_full, uninterrupted};
use crate::flow_ref::FlowRef;
use crate::journal::scan::{Heard, JournalTail, Known, Outcome, Position, Scan, scan};
use crate::layout::FlowFolder;
use crate::ledger::SharedLedger;

/// Whether a reader has enough, or why it cannot go on.
type GoesOn = Result<ControlFlow<()>, Error>;

/// The position of a reader in a journal.
#[derive(Debug)]
pub struct Follower {
    disk: SharedDisk,
    folder: FlowFolder,
    flow: FlowId,
    end: Option<Position>,
    torn: Option<JournalTail>,
    /// The ledger that holds the journal: what it does not have yet is not passed on.
    ledger: Option<(SharedLedger, FlowRef)>,
}

impl Follower {
    /// Begins at the beginning.
    #[must_use]
    pub(crate) const fn new(disk: SharedDisk, folder: FlowFolder, flow: FlowId) -> Self {
        Self {
            disk,
            folder,
            flow,
            end: None,
            torn: None,
            ledger: None,
        }
    }

    /// Begins after a position that was verified.
    #[must_use]
    pub(crate) const fn after(
        disk: SharedDisk,
        folder: FlowFolder,
        flow: FlowId,
        end: Position,
    ) -> Self {
        Self {
            disk,
            folder,
            flow,
            end: Some(end),
            torn: None,
            ledger: None,
        }
    }

    /// Reads the copy of a journal that a ledger holds, and no further than the ledger does.
    pub(crate) fn within(mut self, ledger: SharedLedger, flow: FlowRef) -> Self {
        self.ledger = Some((ledger, flow));
        self
    }

    /// The last record handed on.
    #[must_use]
    pub fn seq(&self) -> Seq {
        self.end.map_or(0, |end| end.seq)
    }

    /// Hands on what is new.
    ///
    /// # Errors
    /// When the journal is damaged, after what came before the damage has been handed on.
    pub fn read(&mut self, each: &mut dyn FnMut(&Recorded)) -> Result<u64, Error> {
        self.read_placed(&mut |recorded, _| {
            each(recorded);
            Ok(())
        })
    }

    /// Passes on what is new until there is no more or the receiver has enough.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_while(
        &mut self,
        each: &mut dyn FnMut(&Recorded) -> ControlFlow<()>,
    ) -> Result<u64, Error> {
        self.read_until(&mut |recorded, _| Ok(each(recorded)))
    }

    /// Passes on what is new, each with its line of the journal, newline included, until there is no
    /// more or the receiver has enough. Each line is read once more for it.
    ///
    /// # Errors
    /// As [`Self::read`], and when a line that was just read cannot be read again.
    pub fn read_lines(
        &mut self,
        each: &mut dyn FnMut(&Recorded, &[u8]) -> ControlFlow<()>,
    ) -> Result<u64, Error> {
        let mut lines = Lines {
            disk: std::sync::Arc::clone(&self.disk),
            folder: self.folder.clone(),
            before: self.end,
            file: None,
            buffer: Vec::new(),
        };
        self.read_until(&mut |recorded, position| {
            lines.ending_at(position).map(|line| each(recorded, line))
        })
    }

    fn read_until(
        &mut self,
        each: &mut dyn FnMut(&Recorded, Position) -> GoesOn,
    ) -> Result<u64, Error> {
        let mut stopped = None;
        let mut records = 0;
        let read = self.read_placed(&mut |recorded, position| match each(recorded, position) {
            Ok(ControlFlow::Continue(())) => {
                records += 1;
                Ok(())
            }
            // The scan stops at whatever a reader says; what it says then goes nowhere.
            Ok(ControlFlow::Break(())) => {
                stopped = Some(Ok(records));
                Err(String::new())
            }
            Err(error) => {
                stopped = Some(Err(error));
                Err(String::new())
            }
        });
        stopped.unwrap_or(read)
    }

    /// Makes the records read so far durable, whichever process wrote them. A caller that must not show
    /// what a power cut could undo calls this before it shows them.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn settle(&self) -> Result<(), Error> {
        let Some(end) = self.end else {
            return Ok(());
        };
        if self.ledger.is_some() {
            // Only what the ledger has was read. That the copy is durable would prove nothing.
            return Ok(());
        }
        let path = self.folder.segment(end.segment);
        let mut file = uninterrupted(|| self.disk.open(&path, How::Read))
            .map_err(|e| Error::io("read", &path, e))?;
        uninterrupted(|| file.sync()).map_err(|e| Error::io("sync", &path, e))
    }

    /// The bytes after the last whole record: a write in progress, or what one left when its process
    /// died.
    #[must_use]
    pub const fn torn(&self) -> Option<&JournalTail> {
        self.torn.as_ref()
    }

    /// Passes on what is new, each with its place, for as long as the receiver takes it.
    pub(crate) fn read_placed(
        &mut self,
        each: &mut dyn FnMut(&Recorded, Position) -> Heard,
    ) -> Result<u64, Error> {
        let Some((ledger, flow)) = &self.ledger else {
            return self.read_all(each);
        };
        let known = ledger.entry(flow)?.map_or(0, |entry| entry.end.seq);
        let mut records = 0;
        let mut refused = false;
        let read = self.read_all(&mut |recorded, position| {
            if position.seq > known {
                // The scan stops at what a reader refuses; it is read again when the ledger has it.
                refused = true;
                return Err(String::new());
            }
            each(recorded, position).inspect(|()| records += 1)
        });
        if refused { Ok(records) } else { read }
    }

    fn read_all(
        &mut self,
        each: &mut dyn FnMut(&Recorded, Position) -> Heard,
    ) -> Result<u64, Error> {
        let first = self.scan(0, each);
        let mut records = first.records;
        let mut outcome = first.outcome;
        if matches!(outcome, Outcome::Torn(_)) {
            // Whether more than a write in progress is missing is known only with the evidence,
            // and evidence counts only for a scan that begins after it was gathered.
            let evidence = evidence(self.disk.as_ref(), &self.folder, &self.flow);
            let again = self.scan(evidence, each);
            records += again.records;
            outcome = again.outcome;
        }
        self.torn = None;
        match outcome {
            Outcome::Clean | Outcome::Blank => Ok(records),
            Outcome::Torn(tail) => {
                self.torn = Some(tail);
                Ok(records)
            }
            Outcome::Damaged(damage) => Err(Error::Damaged(Box::new(damage))),
        }
    }

    /// Goes on from where the last scan ended.
    fn scan(&mut self, evidence: Seq, each: &mut dyn FnMut(&Recorded, Position) -> Heard) -> Scan {
        let known = Known {
            flow: &self.flow,
            evidence,
            from: self.end,
        };
        let found = scan(
            self.disk.as_ref(),
            &self.folder,
            known,
            &mut |recorded, _, position| each(recorded, position),
        );
        self.end = found.end;
        found
    }
}

/// Reads the lines of records whose ends come in their order.
struct Lines {
    disk: SharedDisk,
    folder: FlowFolder,
    before: Option<Position>,
    file: Option<Box<dyn DiskFile>>,
    buffer: Vec<u8>,
}

impl Lines {
    fn ending_at(&mut self, position: Position) -> Result<&[u8], Error> {
        let path = self.folder.segment(position.segment);
        let same = self
            .before
            .filter(|before| before.segment == position.segment);
        let start = same.map_or(0, |before| before.offset_bytes);
        if same.is_none() {
            self.file = None;
        }
        self.before = Some(position);
        let file = match self.file.take() {
            Some(file) => file,
            None => uninterrupted(|| self.disk.open(&path, How::Read))
                .map_err(|e| Error::io("read", &path, e))?,
        };
        let wanted = usize::try_from(position.offset_bytes.saturating_sub(start))
            .unwrap_or(RECORD_BYTES_MAX);
        self.buffer.resize(wanted, 0);
        let read = read_full(file.as_ref(), start, &mut self.buffer);
        self.file = Some(file);
        match read {
            Ok(read) if read == wanted => Ok(&self.buffer),
            Ok(_) => Err(Error::io(
                "read",
                &path,
                io::ErrorKind::UnexpectedEof.into(),
            )),
            Err(error) => Err(Error::io("read", &path, error)),
        }
    }
}

/// Checks that a record ends at a position, so that a fold kept for it may be believed.
///
/// # Errors
/// Says what does not fit.
pub(crate) fn check_position(
    disk: &dyn Disk,
    folder: &FlowFolder,
    position: Position,
) -> Result<(), String> {
    let bytes = bytes_before(disk, folder, position).map_err(|e| e.to_string())?;
    let line_bytes = bytes.strip_suffix(b"\n").ok_or("no record ends there")?;
    let start = memchr::memrchr(b'\n', line_bytes).map_or(0, |at| at + 1);
    let frame = line::frame(&line_bytes[start..]).map_err(|bad| bad.to_string())?;
    if frame.seq == position.seq && frame.crc == position.crc {
        Ok(())
    } else {
        Err("another record ends there".to_owned())
    }
}

/// The bytes of a segment that end at a position and hold at least its last record.
fn bytes_before(disk: &dyn Disk, folder: &FlowFolder, position: Position) -> io::Result<Vec<u8>> {
    let path = folder.segment(position.segment);
    let file = uninterrupted(|| disk.open(&path, How::Read))?;
    let start = position
        .offset_bytes
        .saturating_sub(RECORD_BYTES_MAX as u64 + 1);
    let wanted = usize::try_from(position.offset_bytes - start).map_err(io::Error::other)?;
    let mut bytes = vec![0; wanted];
    if read_full(file.as_ref(), start, &mut bytes)? < wanted {
        return Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the segment is shorter",
        ));
    }
    Ok(bytes)
}
