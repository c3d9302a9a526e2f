//! Making the folder of a flow end where its ledger ends.
//!
//! With a ledger the folder is a copy. It may be shorter, because another worker went on; longer, because a
//! worker died or was cut off before what it wrote was kept; torn or damaged. This room makes it the same
//! again and writes no fact about it, because the truth did not change. What it takes out of a copy goes to
//! `quarantine/` under a name of its own, and only after the ledger's journal was read and found sound.

use std::ops::ControlFlow;

use a_society_facts::Hash;

use crate::disk::{Disk, How};
use crate::error::Error;
use crate::files::{append_all, read_whole, remove_if_there, sync_folder, uninterrupted};
use crate::flow_ref::FlowRef;
use crate::journal::append;
use crate::journal::recover;
use crate::journal::scan::{Known, Outcome, Position, scan, segments};
use crate::layout::FlowFolder;
use crate::ledger::{Chain, ChainedLine, Chunk, JournalEnd, Ledger, LedgerError};
use crate::limits::SEGMENT_BYTES_MAX;

/// The copy of a flow's journal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JournalCopy<'a> {
    pub(crate) disk: &'a dyn Disk,
    pub(crate) folder: &'a FlowFolder,
    pub(crate) flow: &'a FlowRef,
}

/// What is known of a copy's end.
struct CopyEnd {
    /// The end of its last sound record.
    end: Option<Position>,
    /// Its record of the number with which the ledger ends.
    at_ledger: Option<Position>,
    is_damaged: bool,
}

/// Makes the copy end where the ledger ends, and says where that is. The caller holds the flow's lock.
///
/// # Errors
/// When the ledger fails or its journal is damaged, or the file system refuses. A copy whose flow the ledger does not
/// have is left alone.
pub(crate) fn settle(
    copy: JournalCopy<'_>,
    ledger: &dyn Ledger,
) -> Result<Option<JournalEnd>, Error> {
    let Some(wanted) = ledger.entry(copy.flow)?.map(|entry| entry.end) else {
        return copy.must_be_unborn().map(|()| None);
    };
    let found = copy.look(wanted);
    if found.is_damaged {
        return copy.replace(ledger).map(Some);
    }
    if let Some(at) = found.at_ledger
        && JournalEnd::from(at) == wanted
    {
        copy.cut_after(at)?;
        return Ok(Some(wanted));
    }
    let behind = found.end.filter(|end| end.seq < wanted.seq);
    if let Some(end) = behind
        && copy.is_a_beginning(ledger, end)?
    {
        copy.cut_after(end)?;
        return copy.fetch(ledger, Some(end)).map(Some);
    }
    copy.replace(ledger).map(Some)
}

impl JournalCopy<'_> {
    /// A flow of which the ledger has nothing was never begun, as far as anybody was shown. Only the header that
    /// its maker could not hand in may be here.
    fn must_be_unborn(self) -> Result<(), Error> {
        let mut records: u64 = 0;
        let known = self.known();
        scan(self.disk, self.folder, known, &mut |_, _, _| {
            records += 1;
            Ok(())
        });
        if records > 1 {
            let what = "is not in the ledger: it was kept without one".to_owned();
            let path = self.folder.journal();
            return Err(Error::Unfit { path, what });
        }
        self.set_aside()
    }

    const fn known(&self) -> Known<'_> {
        Known {
            flow: &self.flow.flow,
            evidence: 0,
            from: None,
        }
    }

    fn look(self, wanted: JournalEnd) -> CopyEnd {
        let mut at_ledger = None;
        let known = self.known();
        let found = scan(self.disk, self.folder, known, &mut |_, _, position| {
            if position.seq == wanted.seq {
                at_ledger = Some(position);
            }
            Ok(())
        });
        let is_damaged = matches!(found.outcome, Outcome::Damaged(_));
        CopyEnd {
            end: found.end,
            at_ledger,
            is_damaged,
        }
    }

    /// Whether the ledger's journal goes on from a record of the copy.
    fn is_a_beginning(self, ledger: &dyn Ledger, end: Position) -> Result<bool, Error> {
        let after = JournalEnd::from(end);
        let read = ledger.read(self.flow, Some(after), &mut |_| ControlFlow::Break(()));
        match read {
            Ok(()) => Ok(true),
            Err(LedgerError::Unfit { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Puts everything after a record into quarantine.
    fn cut_after(self, end: Position) -> Result<(), Error> {
        for number in segments(self.disk, self.folder)?.into_iter().rev() {
            let path = self.folder.segment(number);
            if number > end.segment {
                self.quarantine(number, 0)?;
                remove_if_there(self.disk, &path)?;
            } else if number == end.segment && self.quarantine(number, end.offset_bytes)? {
                let mut file = uninterrupted(|| self.disk.open(&path, How::Append))
                    .map_err(|e| Error::io("open", &path, e))?;
                uninterrupted(|| file.set_size(end.offset_bytes))
                    .and_then(|()| uninterrupted(|| file.sync()))
                    .map_err(|e| Error::io("cut", &path, e))?;
            }
        }
        remove_if_there(self.disk, &self.folder.new_segment(end.segment + 1))?;
        self.forget_views_after(end)
    }

    /// Views and the checkpoint of records that are gone would testify against the journal.
    fn forget_views_after(self, end: Position) -> Result<(), Error> {
        if crate::evidence::evidence(self.disk, self.folder, &self.flow.flow) <= end.seq {
            return Ok(());
        }
        self.forget_views()
    }

    fn forget_views(self) -> Result<(), Error> {
        remove_if_there(self.disk, &self.folder.views())?;
        remove_if_there(self.disk, &self.folder.flow_view())?;
        remove_if_there(self.disk, &self.folder.checkpoint())?;
        remove_if_there(self.disk, &self.folder.doubt())
    }

    /// Keeps a segment from an offset on, if there is anything; says whether there was.
    fn quarantine(self, number: u32, from: u64) -> Result<bool, Error> {
        let path = self.folder.segment(number);
        let bytes = read_whole(self.disk, &path, SEGMENT_BYTES_MAX)?;
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let tail = bytes.get(from..).unwrap_or_default();
        if tail.is_empty() {
            return Ok(false);
        }
        let hash = Hash::of(tail).to_string();
        let name = format!("copy-{number:08}-{from}-{}.bin", &hash[..16]);
        recover::keep(self.disk, self.folder, &name, tail)?;
        Ok(true)
    }

    /// Puts the whole journal into quarantine.
    fn set_aside(self) -> Result<(), Error> {
        for number in segments(self.disk, self.folder)?.into_iter().rev() {
            self.quarantine(number, 0)?;
            remove_if_there(self.disk, &self.folder.segment(number))?;
        }
        self.forget_views()
    }

    /// Fetches the whole journal in the place of the copy, after it was read and found sound.
    fn replace(self, ledger: &dyn Ledger) -> Result<JournalEnd, Error> {
        self.each_line(ledger, None, &mut |_| Ok(()))?;
        self.set_aside()?;
        self.fetch(ledger, None)
    }

    /// Appends what the ledger has after a record.
    fn fetch(self, ledger: &dyn Ledger, after: Option<Position>) -> Result<JournalEnd, Error> {
        let mut segment = after.map_or(0, |end| end.segment);
        crate::files::make_folders(self.disk, &self.folder.journal())?;
        let from = after.map(JournalEnd::from);
        let end = self.each_line(ledger, from, &mut |lines| {
            let Some(last) = lines.last() else {
                return Ok(());
            };
            let bytes: Vec<u8> = lines.iter().flat_map(|line| line.bytes.to_vec()).collect();
            if last.end.segment > segment {
                segment = last.end.segment;
                append::place(self.disk, self.folder, segment, &bytes).map(drop)
            } else {
                self.append(segment, &bytes)
            }
        })?;
        sync_folder(self.disk, &self.folder.journal())?;
        Ok(end)
    }

    fn append(self, segment: u32, bytes: &[u8]) -> Result<(), Error> {
        let path = self.folder.segment(segment);
        let mut file = uninterrupted(|| self.disk.open(&path, How::Append))
            .map_err(|e| Error::io("open", &path, e))?;
        append_all(file.as_mut(), bytes).map_err(|e| Error::io("append to", &path, e))
    }

    /// Passes on the ledger's lines after a record, chunk by chunk, each checked; gives the last one.
    fn each_line(
        self,
        ledger: &dyn Ledger,
        after: Option<JournalEnd>,
        each: &mut dyn FnMut(&[ChainedLine<'_>]) -> Result<(), Error>,
    ) -> Result<JournalEnd, Error> {
        let mut reader = ChunkReader { after, last: after };
        let mut failed = None;
        let read = ledger.read(self.flow, after, &mut |chunk| {
            let taken = reader.take(&chunk).map_err(|why| self.unfit(why));
            match taken.and_then(|lines| each(&lines)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        read?;
        reader
            .last
            .ok_or_else(|| self.unfit("it is empty".to_owned()))
    }

    fn unfit(self, why: String) -> Error {
        let flow = self.flow.clone();
        Error::Ledger(LedgerError::Unfit { flow, why })
    }
}

/// Follows the chunks of a ledger.
struct ChunkReader {
    after: Option<JournalEnd>,
    last: Option<JournalEnd>,
}

impl ChunkReader {
    /// The lines of a chunk that are new.
    fn take<'a>(&mut self, chunk: &'a Chunk) -> Result<Vec<ChainedLine<'a>>, String> {
        // The first chunk may begin before the record after which it is read.
        let is_first = self.last == self.after;
        let begins = if is_first { chunk.after } else { self.last };
        let mut lines = Chain::after(begins).lines(chunk)?;
        if is_first && let Some(after) = self.after {
            let follows = begins == Some(after) || lines.iter().any(|line| line.end == after);
            if !follows {
                return Err(format!("record {} is another one", after.seq));
            }
            lines.retain(|line| line.end.seq > after.seq);
        }
        self.last = Some(chunk.upto);
        Ok(lines)
    }
}
