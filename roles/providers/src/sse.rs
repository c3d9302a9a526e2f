//! Server-sent events, from bytes that break off anywhere.
//!
//! Follows the event stream format of HTML: lines end with LF, CR or CRLF, one space after a
//! colon is no part of the value, several `data` lines are one text, an event that no blank line
//! ends is dropped. Bytes become text only when a line is whole, so that a character that two pieces
//! share survives.

use memchr::memchr2;

use super::limits;

/// One thing of an event stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SseItem {
    /// An event.
    Event(SseEvent),
    /// A line that says only that the connection lives.
    Comment,
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct SseEvent {
    /// Its name; empty if it has none.
    pub(super) name: String,
    /// Its data.
    pub(super) data: String,
}

/// Why a stream is read no further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum TooLong {
    /// One event is.
    #[error("one event of the stream is longer than {} bytes", limits::EVENT_BYTES)]
    Event,
    /// All of it is.
    #[error("the stream is longer than {} bytes", limits::STREAM_BYTES)]
    Stream,
}

/// Reads a stream piece by piece.
#[derive(Debug)]
pub(super) struct Decoder {
    /// The line that is not whole yet.
    line: Vec<u8>,
    /// The event that is not whole yet.
    event: SseEvent,
    has_data: bool,
    /// Whether the last line ended with CR, so that an LF which follows belongs to it.
    after_cr: bool,
    is_first_line: bool,
    event_limit: usize,
    left: u64,
}

impl Default for Decoder {
    fn default() -> Self {
        Self {
            line: Vec::new(),
            event: SseEvent::default(),
            has_data: false,
            after_cr: false,
            is_first_line: true,
            event_limit: limits::EVENT_BYTES,
            left: limits::STREAM_BYTES,
        }
    }
}

impl Decoder {
    /// Takes the next bytes, and adds to `out` whatever they complete.
    pub(super) fn feed(&mut self, mut bytes: &[u8], out: &mut Vec<SseItem>) -> Result<(), TooLong> {
        let length = bytes.len() as u64;
        self.left = self.left.checked_sub(length).ok_or(TooLong::Stream)?;
        if self.after_cr && !bytes.is_empty() {
            self.after_cr = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = memchr2(b'\n', b'\r', bytes) {
            let (line, rest) = bytes.split_at(end);
            bytes = match rest {
                [b'\r', b'\n', rest @ ..] | [b'\n', rest @ ..] => rest,
                [b'\r'] => {
                    self.after_cr = true;
                    &[]
                }
                [_, rest @ ..] => rest,
                [] => &[],
            };
            if self.line.is_empty() && line.len() <= self.event_limit {
                self.end_line(line, out)?;
                continue;
            }
            self.grow(line)?;
            let line = std::mem::take(&mut self.line);
            self.end_line(&line, out)?;
        }
        self.grow(bytes)
    }

    fn grow(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.line.len() + bytes.len() > self.event_limit {
            return Err(TooLong::Event);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self, line: &[u8], out: &mut Vec<SseItem>) -> Result<(), TooLong> {
        let line = String::from_utf8_lossy(line);
        let mut line = line.as_ref();
        if std::mem::take(&mut self.is_first_line) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            if std::mem::take(&mut self.has_data) {
                out.push(SseItem::Event(event));
            }
            return Ok(());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "" => out.push(SseItem::Comment),
            "event" => value.clone_into(&mut self.event.name),
            "data" => {
                if self.event.data.len() + value.len() > self.event_limit {
                    return Err(TooLong::Event);
                }
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            // `id` and `retry` are for streams that are resumed, and unknown fields are ignored.
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<SseItem> {
        let mut decoder = Decoder::default();
        let mut out = Vec::new();
        for piece in pieces {
            decoder.feed(piece, &mut out).unwrap();
        }
        out
    }

    fn event(name: &str, data: &str) -> SseItem {
        SseItem::Event(SseEvent {
            name: name.into(),
            data: data.into(),
        })
    }

    #[test]
    fn lines_end_in_three_ways_and_fields_are_read_as_the_format_says() {
        for end in ["\n", "\r", "\r\n"] {
            let text = [
                "\u{feff}event: a",
                "data: one",
                "data:two",
                "data:  three",
                "id: 7",
                "retry: 10",
                "colour: red",
                "",
                ": a comment",
                "data",
                "",
                "event: nameless",
                "",
                "data: x",
                "",
                "data: never ended",
            ]
            .join(end);
            assert_eq!(
                read(&[text.as_bytes()]),
                [
                    event("a", "one\ntwo\n three"),
                    SseItem::Comment,
                    event("", ""),
                    event("", "x"),
                ],
                "{end:?}"
            );
        }
    }

    /// Four scripts, whose characters take one to four bytes, and each way to end a line.
    const SAMPLE: &str = "event: d\r\ndata: a\u{e9}\u{6f22}\u{1f600}\r\r\n: \u{5d0}\ndata: \u{939}\u{93f}\u{ff}\n\ndata: z\r\n\r\n";

    #[test]
    fn every_split_in_two_and_in_three_reads_the_same() {
        let bytes = SAMPLE.as_bytes();
        let whole = read(&[bytes]);
        assert_eq!(whole.len(), 4);
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                assert_eq!(read(&pieces), whole, "split at {first} and {second}");
            }
        }
        let each: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(read(&each), whole);
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced_and_nothing_else_is_lost() {
        assert_eq!(read(&[b"data: a\xffb\n\n"]), [event("", "a\u{fffd}b")]);
    }

    #[test]
    fn lines_events_and_streams_have_an_end() {
        let small = || Decoder {
            event_limit: 10,
            left: 40,
            ..Decoder::default()
        };
        let mut out = Vec::new();
        assert_eq!(small().feed(b"data: 123456", &mut out), Err(TooLong::Event));
        let mut two_lines = small();
        two_lines.feed(b"data: 1234\n", &mut out).unwrap();
        two_lines.feed(b"data: 5678\n", &mut out).unwrap();
        assert_eq!(
            two_lines.feed(b"data: 9012\n", &mut out),
            Err(TooLong::Event)
        );
        let mut long = small();
        long.feed(b"data: 1\n\ndata: 2\n\n", &mut out).unwrap();
        long.feed(b"data: 1\n\ndata: 2\n\n", &mut out).unwrap();
        assert_eq!(long.feed(b"data: 1\n\n", &mut out), Err(TooLong::Stream));
    }
}
