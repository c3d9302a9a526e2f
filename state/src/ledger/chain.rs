//! The lines of a chunk, each checked against the one before.

use a_society_facts::id::Seq;
use a_society_facts::line;

use super::{Chunk, JournalEnd};

/// A line of a chunk that follows from the one before it.
#[derive(Debug, Clone, Copy)]
pub struct ChainedLine<'a> {
    /// Its record.
    pub end: JournalEnd,
    /// The line with its newline.
    pub bytes: &'a [u8],
}

/// Where a reader is in a journal: what the next line has to follow.
#[derive(Debug, Clone, Copy)]
pub struct Chain {
    seq: Seq,
    crc: u32,
}

impl Chain {
    /// A chain that goes on after a record, or begins.
    #[must_use]
    pub fn after(end: Option<JournalEnd>) -> Self {
        let (seq, crc) = end.map_or((0, 0), |end| (end.seq, end.crc));
        Self { seq, crc }
    }

    /// The lines of a chunk, if each of them holds and follows the one before, and the last is the record that the
    /// chunk says.
    ///
    /// # Errors
    /// Says which record does not hold.
    pub fn lines<'a>(&mut self, chunk: &'a Chunk) -> Result<Vec<ChainedLine<'a>>, String> {
        let segment = chunk.upto.segment;
        let mut lines = Vec::new();
        for bytes in chunk.bytes.split_inclusive(|byte| *byte == b'\n') {
            let wanted = self.seq + 1;
            let line = bytes
                .strip_suffix(b"\n")
                .ok_or_else(|| format!("record {wanted} has no end"))?;
            let frame = line::frame(line).map_err(|bad| format!("record {wanted}: {bad}"))?;
            if frame.seq != wanted || frame.prev != self.crc {
                return Err(format!("record {wanted} does not follow the one before it"));
            }
            (self.seq, self.crc) = (frame.seq, frame.crc);
            let end = JournalEnd {
                segment,
                seq: frame.seq,
                crc: frame.crc,
            };
            lines.push(ChainedLine { end, bytes });
        }
        if lines.last().map(|last| last.end) == Some(chunk.upto) {
            return Ok(lines);
        }
        Err(format!(
            "a chunk does not end with record {}",
            chunk.upto.seq
        ))
    }
}
