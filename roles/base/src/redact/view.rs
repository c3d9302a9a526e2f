//! A text without the escape sequences of terminals, and the way back.

use std::borrow::Cow;
use std::ops::Range;

/// The bytes that are searched, and their places in the text.
#[derive(Debug)]
pub(super) struct SearchedBytes<'a> {
    bytes: Cow<'a, [u8]>,
    /// The place of each byte; empty if nothing was left out.
    places: Vec<usize>,
    length: usize,
}

const ESCAPE: u8 = 0x1b;

impl<'a> SearchedBytes<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let original = text.as_bytes();
        let length = original.len();
        if memchr::memchr(ESCAPE, original).is_none() {
            let bytes = Cow::Borrowed(original);
            let places = Vec::new();
            return Self {
                bytes,
                places,
                length,
            };
        }
        let (mut bytes, mut places, mut at) = (Vec::new(), Vec::new(), 0);
        while let Some(byte) = original.get(at) {
            let skipped = sequence(original.get(at..).unwrap_or_default());
            if skipped == 0 {
                bytes.push(*byte);
                places.push(at);
            }
            at += skipped.max(1);
        }
        let bytes = Cow::Owned(bytes);
        Self {
            bytes,
            places,
            length,
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A range of the view as one of the text, with all that was left out within it.
    pub(super) fn original(&self, range: Range<usize>) -> Range<usize> {
        if self.places.is_empty() {
            return range;
        }
        let place = |at: usize| self.places.get(at).copied().unwrap_or(self.length);
        let last = range.end.checked_sub(1).map_or(0, place);
        place(range.start)..(last + 1).min(self.length)
    }
}

/// The length of the escape sequence at the beginning of these bytes; 0 if there is none.
fn sequence(bytes: &[u8]) -> usize {
    let [ESCAPE, b'[', rest @ ..] = bytes else {
        return 0;
    };
    let parameters = rest
        .iter()
        .take_while(|byte| (0x30..=0x3f).contains(*byte))
        .count();
    match rest.get(parameters) {
        Some(0x40..=0x7e) => parameters + 3,
        Some(_) | None => 0,
    }
}
