//! A fact as a line of the journal, and back.
//!
//! A line is plain JSON with its members in one fixed order:
//!
//! ```text
//! {"v":1,"seq":17,"at":"…","durable":16,"fact":"node_claimed",…,"prev":"9c1f03aa","crc":"5e20a1b7"}
//! ```
//!
//! `crc` is the CRC32C of every byte before `,"crc"`; `prev` is the `crc` of the line before;
//! `durable` is the highest number the writer knew to be synced when it built the line. Because
//! the frame has a fixed shape, it is cut by hand and only the payload is parsed as JSON, in
//! place: a scan runs at the speed of the checksum and the payloads, not of a tree of values.
//!
//! A line may also be checked without being read: [`verify`] says whether its checksum holds, which
//! is what a recovery needs to know about lines after a bad one.

use serde_json::value::RawValue;

use crate::at::At;
use crate::fact::Fact;
use crate::fact::upcast::{Upcast, VERSION, upcast};
use crate::hash::NIBBLES;
use crate::id::Seq;
use crate::limits::RECORD_BYTES_MAX;

/// The version of the lines' frame and of the segments' layout.
pub const FORMAT: u32 = 1;

/// `,"crc":"xxxxxxxx"}`, without the newline.
const CRC_TAIL_BYTES: usize = 18;
/// `,"prev":"xxxxxxxx"`.
const PREV_BYTES: usize = 18;

/// What a line says besides its fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// The version of the fact's shape.
    pub version: u32,
    /// The record's number.
    pub seq: Seq,
    /// When it was written.
    pub at: At,
    /// The highest number known to be synced then.
    pub durable: Seq,
    /// The checksum of the line before.
    pub prev: u32,
    /// The line's own checksum.
    pub crc: u32,
}

/// What a line tells.
#[derive(Debug, Clone)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every body is a fact of ours"
)]
pub enum Body {
    /// A fact of ours.
    Known(Fact),
    /// A fact of a later version of the same format, or one that is retired: kept, shown, never dropped,
    /// without effect.
    Foreign {
        /// Its word.
        word: String,
        /// What it carries.
        payload: Box<RawValue>,
    },
}

/// A fact with its place in the journal.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// Its number.
    pub seq: Seq,
    /// When it was written.
    pub at: At,
    /// What it tells.
    pub body: Body,
}

impl Recorded {
    /// A fact of ours at its place.
    #[must_use]
    pub fn new(seq: Seq, at: At, fact: Fact) -> Self {
        Self {
            seq,
            at,
            body: Body::Known(fact),
        }
    }

    /// The fact, if this program knows its kind.
    #[must_use]
    pub fn fact(&self) -> Option<&Fact> {
        match &self.body {
            Body::Known(fact) => Some(fact),
            Body::Foreign { .. } => None,
        }
    }

    /// The word of the fact's kind.
    #[must_use]
    pub fn word(&self) -> &str {
        match &self.body {
            Body::Known(fact) => fact.word(),
            Body::Foreign { word, .. } => word,
        }
    }
}

/// Why bytes are not a line of a journal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadLine {
    /// The bytes do not have the frame of a line.
    #[error("it does not have the frame of a record")]
    Frame,
    /// The checksum does not fit the bytes.
    #[error("its checksum does not fit its bytes")]
    Checksum,
    /// The frame holds, but the payload is not what its word promises.
    #[error("its checksum fits, but its {word} cannot be read: {why}")]
    Payload {
        /// The word.
        word: String,
        /// The parser's message.
        why: String,
    },
    /// It was written by a newer version.
    #[error("it was written by a newer version (v{version})")]
    Newer {
        /// That version.
        version: u32,
    },
}

/// Why a fact cannot become a line.
#[derive(Debug, thiserror::Error)]
pub enum CannotWrite {
    /// It is longer than a record may be.
    #[error("a {word} of {bytes} bytes is longer than a record may be ({RECORD_BYTES_MAX} bytes)")]
    TooLong {
        /// Its word.
        word: &'static str,
        /// Its length.
        bytes: usize,
    },
    /// It cannot be JSON.
    #[error("a {word} cannot be written as JSON: {why}")]
    NotJson {
        /// Its word.
        word: &'static str,
        /// The serialiser's message.
        why: String,
    },
}

/// Writes a line, newline included, after what `out` holds, and returns its checksum. On an error
/// `out` is what it was.
///
/// # Errors
/// When the fact is too long for a record or cannot be JSON.
pub fn write(
    out: &mut Vec<u8>,
    seq: Seq,
    at: At,
    durable: Seq,
    prev: u32,
    fact: &Fact,
) -> Result<u32, CannotWrite> {
    let start = out.len();
    let written = write_line(out, start, seq, at, durable, prev, fact);
    if written.is_err() {
        out.truncate(start);
    }
    written
}

fn write_line(
    out: &mut Vec<u8>,
    start: usize,
    seq: Seq,
    at: At,
    durable: Seq,
    prev: u32,
    fact: &Fact,
) -> Result<u32, CannotWrite> {
    out.extend_from_slice(b"{\"v\":");
    decimal(out, u64::from(VERSION));
    out.extend_from_slice(b",\"seq\":");
    decimal(out, seq);
    out.extend_from_slice(b",\"at\":\"");
    out.extend_from_slice(&at.text());
    out.extend_from_slice(b"\",\"durable\":");
    decimal(out, durable);
    out.extend_from_slice(b",\"fact\":\"");
    out.extend_from_slice(fact.word().as_bytes());
    out.push(b'"');
    let payload = out.len();
    fact.write_payload(out).map_err(|e| CannotWrite::NotJson {
        word: fact.word(),
        why: e.to_string(),
    })?;
    // `{"a":1}` becomes `,"a":1`, and `{}` becomes nothing.
    out.pop();
    if out.len() == payload + 1 {
        out.pop();
    } else {
        out[payload] = b',';
    }
    out.extend_from_slice(b",\"prev\":\"");
    hex(out, prev);
    out.push(b'"');
    let crc = crc32c::crc32c(&out[start..]);
    out.extend_from_slice(b",\"crc\":\"");
    hex(out, crc);
    out.extend_from_slice(b"\"}\n");
    let bytes = out.len() - start;
    if bytes > RECORD_BYTES_MAX {
        return Err(CannotWrite::TooLong {
            word: fact.word(),
            bytes,
        });
    }
    Ok(crc)
}

fn decimal(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0_u8; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[first..]);
}

fn hex(out: &mut Vec<u8>, value: u32) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for shift in (0..8).rev() {
        out.push(DIGITS[(value >> (shift * 4) & 15) as usize]);
    }
}

fn unhex(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.iter().map(|byte| NIBBLES[usize::from(*byte)]);
    let (sum, all) = digits.fold((0_u32, 0), |(sum, all), digit| {
        (sum << 4 | u32::from(digit & 15), all | digit)
    });
    (all < 16).then_some(sum)
}

/// Ends a JSON object with its checksum, as lines end: `{"a":1}` becomes `{"a":1,"crc":"…"}`.
/// [`verify`] checks it. Documents beside the journal that must not be believed blindly are
/// sealed so.
pub fn seal(object: &mut Vec<u8>) -> u32 {
    object.pop();
    let crc = crc32c::crc32c(object);
    object.extend_from_slice(b",\"crc\":\"");
    hex(object, crc);
    object.extend_from_slice(b"\"}");
    crc
}

/// Checks a line (without its newline), or a sealed object, and returns its checksum.
///
/// # Errors
/// When the line has no frame or its checksum does not fit.
pub fn verify(line: &[u8]) -> Result<u32, BadLine> {
    let body = line
        .len()
        .checked_sub(CRC_TAIL_BYTES)
        .ok_or(BadLine::Frame)?;
    let tail = &line[body..];
    if !tail.starts_with(b",\"crc\":\"") || !tail.ends_with(b"\"}") {
        return Err(BadLine::Frame);
    }
    let crc = unhex(&tail[8..16]).ok_or(BadLine::Frame)?;
    if crc32c::crc32c(&line[..body]) != crc {
        return Err(BadLine::Checksum);
    }
    Ok(crc)
}

struct LineCursor<'a> {
    bytes: &'a [u8],
    place: usize,
}

impl<'a> LineCursor<'a> {
    fn expect(&mut self, text: &[u8]) -> Result<(), BadLine> {
        if self.bytes[self.place..].starts_with(text) {
            self.place += text.len();
            Ok(())
        } else {
            Err(BadLine::Frame)
        }
    }

    fn number(&mut self) -> Result<u64, BadLine> {
        let start = self.place;
        let mut value: u64 = 0;
        while let Some(digit) = self.bytes.get(self.place).filter(|b| b.is_ascii_digit()) {
            value = value
                .checked_mul(10)
                .and_then(|v| v.checked_add(u64::from(digit - b'0')))
                .ok_or(BadLine::Frame)?;
            self.place += 1;
        }
        // One way to write a number, so that a record has one way to be written.
        let digits = self.place - start;
        if digits == 0 || (digits > 1 && self.bytes[start] == b'0') {
            return Err(BadLine::Frame);
        }
        Ok(value)
    }

    fn word(&mut self) -> Result<&'a str, BadLine> {
        let rest = &self.bytes[self.place..];
        let end = rest.iter().position(|b| *b == b'"').ok_or(BadLine::Frame)?;
        self.place += end + 1;
        let fits = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'_';
        if end == 0 || !rest[..end].iter().all(fits) {
            return Err(BadLine::Frame);
        }
        std::str::from_utf8(&rest[..end]).map_err(|_| BadLine::Frame)
    }
}

/// The frame of a line, and the places of its word and its payload.
struct CutLine<'a> {
    frame: Frame,
    word: &'a str,
    /// The first byte of the payload's members, counted from the start of the line: a comma, or
    /// the comma of `,"prev"` if there are no members.
    from: usize,
    to: usize,
}

fn cut(line: &[u8]) -> Result<CutLine<'_>, BadLine> {
    let crc = verify(line)?;
    let body = line.len() - (CRC_TAIL_BYTES);
    let prev_at = body.checked_sub(PREV_BYTES).ok_or(BadLine::Frame)?;
    let prev = &line[prev_at..body];
    if !prev.starts_with(b",\"prev\":\"") || !prev.ends_with(b"\"") {
        return Err(BadLine::Frame);
    }
    let prev = unhex(&prev[9..17]).ok_or(BadLine::Frame)?;
    let mut cursor = LineCursor {
        bytes: &line[..prev_at],
        place: 0,
    };
    cursor.expect(b"{\"v\":")?;
    let version = u32::try_from(cursor.number()?).map_err(|_| BadLine::Frame)?;
    cursor.expect(b",\"seq\":")?;
    let seq = cursor.number()?;
    cursor.expect(b",\"at\":\"")?;
    let moment = cursor
        .bytes
        .get(cursor.place..cursor.place + 24)
        .ok_or(BadLine::Frame)?;
    let moment = std::str::from_utf8(moment).map_err(|_| BadLine::Frame)?;
    let at: At = moment.parse().map_err(|_| BadLine::Frame)?;
    cursor.place += 24;
    cursor.expect(b"\",\"durable\":")?;
    let durable = cursor.number()?;
    cursor.expect(b",\"fact\":\"")?;
    let word = cursor.word()?;
    let frame = Frame {
        version,
        seq,
        at,
        durable,
        prev,
        crc,
    };
    Ok(CutLine {
        frame,
        word,
        from: cursor.place,
        to: prev_at,
    })
}

/// The frame of a line (without its newline), without reading its payload.
///
/// # Errors
/// When the line has no frame or its checksum does not fit.
pub fn frame(line: &[u8]) -> Result<Frame, BadLine> {
    cut(line).map(|cut| cut.frame)
}

/// Reads a line (without its newline). Two bytes of it are changed while its payload is parsed in
/// place, and are put back.
///
/// # Errors
/// When the line is not a line of a journal that this program can read.
pub fn read(line: &mut [u8]) -> Result<(Frame, Body), BadLine> {
    let cut = cut(line)?;
    let frame = cut.frame;
    let (from, to) = (cut.from, cut.to);
    let word = cut.word.to_owned();
    if from == to {
        return body(frame, &word, b"{}").map(|body| (frame, body));
    }
    if line[from] != b',' {
        return Err(BadLine::Frame);
    }
    // `,"a":1` and the comma of `,"prev"` become `{"a":1}` for the time of the parsing.
    line[from] = b'{';
    line[to] = b'}';
    let read = body(frame, &word, &line[from..=to]);
    line[from] = b',';
    line[to] = b',';
    read.map(|body| (frame, body))
}

/// Reads the fact of a line (without its newline) whose checksum need not fit, for a person who
/// has looked at it and wants it back. The frame must hold.
///
/// # Errors
/// When it is not a line, or its payload cannot be read.
pub fn read_unchecked(line: &[u8]) -> Result<Body, BadLine> {
    let body_end = line
        .len()
        .checked_sub(CRC_TAIL_BYTES)
        .ok_or(BadLine::Frame)?;
    let mut mended = line[..body_end].to_vec();
    mended.push(b'}');
    seal(&mut mended);
    read(&mut mended).map(|(_, body)| body)
}

/// The one bit whose flip makes a line (without its newline) verify, if there is one, as the line
/// with that bit flipped.
#[must_use]
pub fn mend_one_bit(line: &[u8]) -> Option<Vec<u8>> {
    let mut mended = line.to_vec();
    for place in 0..mended.len() {
        for bit in 0..8 {
            mended[place] ^= 1 << bit;
            if mended[place] != b'\n' && verify(&mended).is_ok() {
                return Some(mended);
            }
            mended[place] ^= 1 << bit;
        }
    }
    None
}

fn body(frame: Frame, word: &str, payload: &[u8]) -> Result<Body, BadLine> {
    let Upcast::Present(word, payload) = upcast(frame.version, word, payload) else {
        return Err(BadLine::Newer {
            version: frame.version,
        });
    };
    let unreadable = |e: serde_json::Error| BadLine::Payload {
        word: word.to_owned(),
        why: e.to_string(),
    };
    match Fact::read(word, &payload) {
        Some(fact) => fact.map(Body::Known).map_err(unreadable),
        None => {
            let payload = serde_json::from_slice(&payload).map_err(unreadable)?;
            Ok(Body::Foreign {
                word: word.to_owned(),
                payload,
            })
        }
    }
}

#[cfg(test)]
mod tests;
