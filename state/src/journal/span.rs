//! A few records of a journal, read again by their place.
//!
//! The place may be wrong: the bytes have to be whole records whose checksums hold and whose numbers follow
//! one another.

use std::io;

use a_society_facts::{Recorded, line};

use crate::disk::{Disk, How};
use crate::error::Error;
use crate::files::{read_from, read_full, uninterrupted};
use crate::layout::FlowFolder;

/// Where records are: from the beginning of the first to the end of the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordSpan {
    /// The segment in which the first begins.
    pub(crate) segment: u32,
    /// Where.
    pub(crate) start_bytes: u64,
    /// The segment in which the last ends.
    pub(crate) end_segment: u32,
    /// Where.
    pub(crate) end_bytes: u64,
}

/// The records of a span.
///
/// # Errors
/// When the bytes there are not records that follow one another, or are too many.
pub(crate) fn read_span(
    disk: &dyn Disk,
    folder: &FlowFolder,
    span: RecordSpan,
    bytes_max: u64,
) -> Result<Vec<Recorded>, Error> {
    let mut records: Vec<Recorded> = Vec::new();
    let mut left = bytes_max;
    for segment in span.segment..=span.end_segment {
        let path = folder.segment(segment);
        let unfit = |what: &str| Error::io("read", &path, io::Error::other(what.to_owned()));
        let from = if segment == span.segment {
            span.start_bytes
        } else {
            0
        };
        let upto = (segment == span.end_segment).then_some(span.end_bytes);
        let mut bytes =
            bytes_of(disk, &path, (from, upto), left).map_err(|e| Error::io("read", &path, e))?;
        left = left.saturating_sub(bytes.len() as u64);
        let mut is_first = true;
        for line in bytes
            .split_mut(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            let (frame, body) = line::read(line).map_err(|bad| unfit(&bad.to_string()))?;
            if is_first {
                // A segment that a fork shares may go on for the parent.
                records.retain(|before| before.seq < frame.seq);
            }
            is_first = false;
            if records
                .last()
                .is_some_and(|before| before.seq + 1 != frame.seq)
            {
                return Err(unfit("its records do not follow one another"));
            }
            records.push(Recorded {
                seq: frame.seq,
                at: frame.at,
                body,
            });
        }
    }
    Ok(records)
}

fn bytes_of(
    disk: &dyn Disk,
    path: &std::path::Path,
    (from, upto): (u64, Option<u64>),
    bytes_max: u64,
) -> io::Result<Vec<u8>> {
    let file = uninterrupted(|| disk.open(path, How::Read))?;
    let mut bytes = Vec::new();
    let Some(upto) = upto else {
        read_from(file.as_ref(), from, bytes_max, &mut bytes)?;
        return Ok(bytes);
    };
    let wanted = upto.checked_sub(from).filter(|wanted| *wanted <= bytes_max);
    let wanted = wanted.ok_or_else(|| io::Error::other("no records are that long"))?;
    bytes.resize(usize::try_from(wanted).map_err(io::Error::other)?, 0);
    if read_full(file.as_ref(), from, &mut bytes)? < bytes.len() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}
