//! Appending to a journal: one write a record, a sync when something outside depends on it.
//!
//! The writer knows three states. While it is *open* it appends. When the disk is *full* it has
//! taken back what did not fit and appends again as soon as there is room. When a sync failed, or
//! a half-written record could not be taken back, it is *poisoned*: what the disk holds is no
//! longer known, so it neither appends nor syncs again, and only a fresh open may look.

use std::io;
use std::path::PathBuf;

use a_society_facts::Fact;
use a_society_facts::fact::flow::FlowForked;
use a_society_facts::fact::journal::{Link, SegmentStarted};
use a_society_facts::id::{FlowId, Seq};
use a_society_facts::line::{self, FORMAT};
use a_society_facts::{At, Recorded};

use crate::disk::{Disk, DiskFile, How, SharedDisk};
use crate::error::{Error, is_full};
use crate::files::{append_all, remove_if_there, sync_folder, uninterrupted};
use crate::journal::recover;
use crate::journal::scan::Position;
use crate::layout::FlowFolder;
use crate::ledger::{Parted, Promise, Tether};
use crate::limits::SEGMENT_BYTES;

/// How this program names itself in a segment's header.
pub(crate) const WRITER: &str = concat!("a-society/", env!("CARGO_PKG_VERSION"));

/// Appends to a journal. Its holder holds the flow's lock.
#[derive(Debug)]
pub(crate) struct Writer {
    disk: SharedDisk,
    folder: FlowFolder,
    flow: FlowId,
    file: Box<dyn DiskFile>,
    end: Position,
    durable: Seq,
    segment_bytes: u64,
    buffer: Vec<u8>,
    poison: Option<String>,
    appended_bytes: u64,
    moved_on: bool,
    /// Where a ledger is the truth: what ties this writer to it.
    tether: Option<Tether>,
}

impl Writer {
    /// Begins a journal: its folder exists and holds no segment with records.
    ///
    /// # Errors
    /// When the file system refuses.
    pub(crate) fn begin(
        disk: SharedDisk,
        folder: FlowFolder,
        flow: FlowId,
        at: At,
        tether: Option<Tether>,
    ) -> Result<(Self, Recorded), Error> {
        let (file, end, header, line) = new_segment(&disk, &folder, &flow, at, None)?;
        let mut writer = Self::over(disk, folder, flow, file, end);
        writer.tether = tether;
        writer.hand_in(&line)?;
        Ok((writer, header))
    }

    /// Goes on with a journal that was scanned, recovered and is as long as `end` says, and makes
    /// it durable.
    ///
    /// # Errors
    /// When the file system refuses, or the file has another length than was scanned.
    pub(crate) fn go_on(
        disk: SharedDisk,
        folder: FlowFolder,
        flow: FlowId,
        end: Position,
        tether: Option<Tether>,
    ) -> Result<Self, Error> {
        let path = folder.segment(end.segment);
        let file = uninterrupted(|| disk.open(&path, How::Append))
            .map_err(|e| Error::io("open", &path, e))?;
        let size =
            uninterrupted(|| file.size_bytes()).map_err(|e| Error::io("measure", &path, e))?;
        if size != end.offset_bytes {
            let what = format!("is {size} bytes long and should be {}", end.offset_bytes);
            return Err(Error::Unfit { path, what });
        }
        let mut writer = Self::over(disk, folder, flow, file, end);
        writer.tether = tether;
        if writer.tether.is_some() {
            // The copy was just made to end where the ledger ends, and the ledger keeps all of it.
            return Ok(writer);
        }
        // What a process before us appended or cut without a sync is not durable yet. A power cut
        // could mix bytes that it cut with bytes that we put in their place, so this comes first.
        writer.durable = 0;
        writer.sync()?;
        Ok(writer)
    }

    fn over(
        disk: SharedDisk,
        folder: FlowFolder,
        flow: FlowId,
        file: Box<dyn DiskFile>,
        end: Position,
    ) -> Self {
        Self {
            disk,
            folder,
            flow,
            file,
            end,
            durable: end.seq,
            segment_bytes: SEGMENT_BYTES,
            buffer: Vec::with_capacity(4096),
            poison: None,
            appended_bytes: 0,
            moved_on: false,
            tether: None,
        }
    }

    /// Closes segments at another size, which tests use to see many of them.
    pub(crate) const fn set_segment_bytes(&mut self, bytes: u64) {
        self.segment_bytes = bytes;
    }

    /// The end of the last record.
    #[must_use]
    pub(crate) const fn end(&self) -> Position {
        self.end
    }

    /// The last record that is durable.
    #[must_use]
    pub(crate) const fn durable(&self) -> Seq {
        self.durable
    }

    /// Whether everything appended is durable.
    #[must_use]
    pub(crate) const fn is_synced(&self) -> bool {
        self.durable == self.end.seq
    }

    /// Why this writer stopped for good, if it did.
    #[must_use]
    pub(crate) fn poison(&self) -> Option<&str> {
        self.poison.as_deref()
    }

    /// How many bytes were appended since it was opened.
    #[must_use]
    pub(crate) const fn appended_bytes(&self) -> u64 {
        self.appended_bytes
    }

    /// Whether the segment is full, so that the next record belongs to a new one.
    #[must_use]
    pub(crate) const fn wants_new_segment(&self) -> bool {
        self.end.offset_bytes >= self.segment_bytes
    }

    /// Appends one fact with one write and returns the end of its record. It is not durable yet.
    ///
    /// # Errors
    /// When the fact cannot be a record, the disk is full, or the writer is poisoned. The journal
    /// then ends where it ended before.
    pub(crate) fn append(&mut self, at: At, fact: &Fact) -> Result<Position, Error> {
        self.refuse_if_poisoned()?;
        self.buffer.clear();
        let seq = self.end.seq + 1;
        let crc = line::write(&mut self.buffer, seq, at, self.durable, self.end.crc, fact)?;
        let wrote = uninterrupted(|| self.file.append(&self.buffer));
        let whole = self.buffer.len();
        match wrote {
            Ok(bytes) if bytes == whole => {
                self.end.offset_bytes += whole as u64;
                self.end.seq = seq;
                self.end.crc = crc;
                self.appended_bytes += whole as u64;
                if let Some(tether) = &mut self.tether {
                    tether.hold(self.end.into(), &self.buffer);
                }
                Ok(self.end)
            }
            Ok(_) => self.take_back(io::ErrorKind::StorageFull.into()),
            Err(error) => self.take_back(error),
        }
    }

    /// Cuts what a failed write left behind, then fails.
    fn take_back(&mut self, cause: io::Error) -> Result<Position, Error> {
        let offset = self.end.offset_bytes;
        let cut = uninterrupted(|| self.file.set_size(offset))
            .and_then(|()| uninterrupted(|| self.file.sync()));
        if let Err(error) = cut {
            return Err(self.poisoned(format!("a half-written record stayed: {error}")));
        }
        if self.tether.is_none() {
            // The sync covered everything before the record, too.
            self.durable = self.end.seq;
        }
        if is_full(&cause) {
            return Err(Error::DiskFull);
        }
        Err(Error::io("append to", &self.path(), cause))
    }

    /// Makes everything appended so far durable.
    ///
    /// # Errors
    /// When the sync fails. The writer is poisoned then: after a failed sync the system may have
    /// dropped what it could not write, and a second sync that succeeds would prove nothing.
    pub(crate) fn sync(&mut self) -> Result<Seq, Error> {
        self.refuse_if_poisoned()?;
        if self.is_synced() {
            return Ok(self.durable);
        }
        if let Some(tether) = &mut self.tether {
            let sent = tether.send(Promise::Kept);
            sent.map_err(|parted| self.parted(parted))?;
        } else if let Err(error) = self.file.sync() {
            return Err(self.poisoned(format!("a sync failed: {error}")));
        }
        self.durable = self.end.seq;
        Ok(self.durable)
    }

    /// Where a ledger is the truth, lets others see what is not durable yet. What fails is sent with the next
    /// sync, which also says why.
    pub(crate) fn share(&mut self) {
        if let (Some(tether), None) = (&mut self.tether, &self.poison) {
            drop(tether.send(Promise::Soon));
        }
    }

    /// Whether another worker went on with the journal.
    #[must_use]
    pub(crate) const fn moved_on(&self) -> bool {
        self.moved_on
    }

    /// Hands a header in that was written durably to the copy.
    fn hand_in(&mut self, line: &[u8]) -> Result<(), Error> {
        let Some(tether) = &mut self.tether else {
            return Ok(());
        };
        tether.hold(self.end.into(), line);
        let sent = tether.send(Promise::Kept);
        sent.map_err(|parted| self.parted(parted))
    }

    /// Stops for good, because the ledger keeps something else or cannot be asked.
    fn parted(&mut self, parted: Parted) -> Error {
        match parted {
            Parted::MovedOn => {
                self.moved_on = true;
                self.poison = Some(Error::MovedOn.to_string());
                Error::MovedOn
            }
            Parted::Failed(error) => {
                self.poison = Some(error.to_string());
                Error::Ledger(error)
            }
        }
    }

    /// Closes the segment and begins the next one with its header, which is durable on return.
    ///
    /// # Errors
    /// When the file system refuses. Unless the writer is poisoned, the old segment goes on.
    pub(crate) fn next_segment(&mut self, at: At) -> Result<Recorded, Error> {
        self.sync()?;
        let made = new_segment(&self.disk, &self.folder, &self.flow, at, Some(self.end));
        match made {
            Ok((file, end, header, line)) => {
                self.appended_bytes += end.offset_bytes;
                self.file = file;
                self.end = end;
                self.hand_in(&line)?;
                self.durable = end.seq;
                Ok(header)
            }
            Err(error) => Err(self.rotation_failed(error)),
        }
    }

    /// A new segment that may or may not have its name already leaves no safe place to append.
    fn rotation_failed(&mut self, error: Error) -> Error {
        let number = self.end.segment + 1;
        let named = uninterrupted(|| self.disk.about(&self.folder.segment(number)));
        match named {
            Err(e) if e.kind() == io::ErrorKind::NotFound && error.is_full() => Error::DiskFull,
            Err(e) if e.kind() == io::ErrorKind::NotFound => error,
            Ok(_) | Err(_) => self.poisoned(format!("a new segment could not be made: {error}")),
        }
    }

    fn refuse_if_poisoned(&self) -> Result<(), Error> {
        match &self.poison {
            Some(why) => Err(Error::Poisoned { why: why.clone() }),
            None => Ok(()),
        }
    }

    fn poisoned(&mut self, why: String) -> Error {
        self.poison = Some(why.clone());
        recover::doubt(self.disk.as_ref(), &self.folder);
        Error::Poisoned { why }
    }

    fn path(&self) -> PathBuf {
        self.folder.segment(self.end.segment)
    }
}

type NewSegment = (Box<dyn DiskFile>, Position, Recorded, Vec<u8>);

/// Makes a segment that holds its header. It gets its name only when the header is durable, so
/// that a segment with a name is never empty, however the process ends.
fn new_segment(
    disk: &SharedDisk,
    folder: &FlowFolder,
    flow: &FlowId,
    at: At,
    before: Option<Position>,
) -> Result<NewSegment, Error> {
    let number = before.map_or(1, |end| end.segment + 1);
    let (seq, crc) = before.map_or((0, 0), |end| (end.seq, end.crc));
    let header = Fact::SegmentStarted(SegmentStarted {
        flow: flow.clone(),
        format: FORMAT,
        writer: WRITER.to_owned(),
        segment: number,
        previous: before.map(|end| Link {
            seq: end.seq,
            crc: end.crc,
        }),
    });
    let mut bytes = Vec::with_capacity(256);
    let crc = line::write(&mut bytes, seq + 1, at, seq, crc, &header)?;
    let file = place(disk.as_ref(), folder, number, &bytes)?;
    let end = Position {
        segment: number,
        offset_bytes: bytes.len() as u64,
        seq: seq + 1,
        crc,
    };
    Ok((file, end, Recorded::new(seq + 1, at, header), bytes))
}

/// Writes a segment beside its place, and gives it its name when it is durable.
pub(crate) fn place(
    disk: &dyn Disk,
    folder: &FlowFolder,
    number: u32,
    bytes: &[u8],
) -> Result<Box<dyn DiskFile>, Error> {
    let beside = folder.new_segment(number);
    remove_if_there(disk, &beside)?;
    let mut file = uninterrupted(|| disk.open(&beside, How::CreateNew))
        .map_err(|e| Error::io("create", &beside, e))?;
    append_all(file.as_mut(), bytes).map_err(|e| Error::io("write", &beside, e))?;
    uninterrupted(|| file.sync()).map_err(|e| Error::io("sync", &beside, e))?;
    let path = folder.segment(number);
    uninterrupted(|| disk.rename(&beside, &path)).map_err(|e| Error::io("name", &path, e))?;
    sync_folder(disk, &folder.journal())?;
    Ok(file)
}

/// Begins the first segment of a fork's own, after the record that it shares with its parent as the
/// last one. A file at the segment's path is replaced in one step.
///
/// # Errors
/// When the name of the fork is too long for a record, or the file system refuses.
pub(crate) fn begin_fork(
    disk: &dyn Disk,
    folder: &FlowFolder,
    flow: &FlowId,
    at: At,
    shared: Position,
    forked: FlowForked,
) -> Result<Position, Error> {
    let number = shared.segment + 1;
    let header = Fact::SegmentStarted(SegmentStarted {
        flow: flow.clone(),
        format: FORMAT,
        writer: WRITER.to_owned(),
        segment: number,
        previous: Some(Link {
            seq: shared.seq,
            crc: shared.crc,
        }),
    });
    let mut bytes = Vec::with_capacity(1024);
    let (mut seq, mut crc) = (shared.seq, shared.crc);
    for fact in [header, Fact::FlowForked(forked)] {
        seq += 1;
        // Everything that is shared was synced before.
        crc = line::write(&mut bytes, seq, at, shared.seq, crc, &fact)?;
    }
    place(disk, folder, number, &bytes)?;
    Ok(Position {
        segment: number,
        offset_bytes: bytes.len() as u64,
        seq,
        crc,
    })
}
