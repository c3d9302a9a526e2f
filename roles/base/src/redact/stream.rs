//! Redaction of a text that arrives in pieces, cut anywhere.
//!
//! What could still become a secret is held back: the last word, a key in armour that has not
//! ended, and the beginning of a known value. What comes out, all pieces together, is the same as
//! if the whole text had been there at once.

use std::ops::Range;

use super::{Redactor, blanked};

/// How much is held back at most. A word that long is no key; an armoured key is shorter.
const HELD_BYTES: usize = 32 * 1024;

/// A word that says that the next one is a key.
const BEARERS: [&str; 2] = ["Bearer ", "bearer "];

/// A text that arrives in pieces.
#[derive(Debug)]
pub struct RedactedStream {
    redactor: Redactor,
    pub(super) held: String,
    /// A secret was longer than what is held: what follows belongs to it until a word ends.
    is_within: bool,
}

impl RedactedStream {
    /// Begins a text.
    #[must_use]
    pub fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            held: String::new(),
            is_within: false,
        }
    }

    /// Takes a piece, and gives what is certain by now.
    pub fn push(&mut self, piece: &str) -> String {
        let piece = self.without_the_rest_of_a_secret(piece);
        self.held.push_str(piece);
        // Within a word nothing becomes certain.
        if self.held.len() <= HELD_BYTES && !piece.contains(is_end) {
            return String::new();
        }
        let mut ranges = self.redactor.ranges(&self.held);
        let keep_from = self.keep_from(&ranges);
        if self.held.len() - keep_from > HELD_BYTES {
            return self.overflow(&ranges);
        }
        let rest = self.held.split_off(keep_from);
        let certain = std::mem::replace(&mut self.held, rest);
        ranges.retain(|range| range.start < keep_from);
        blanked(&certain, &ranges)
    }

    /// Ends the text, and gives what was held back.
    #[must_use]
    pub fn finish(self) -> String {
        self.redactor.redact(&self.held)
    }

    fn without_the_rest_of_a_secret<'a>(&mut self, piece: &'a str) -> &'a str {
        if !self.is_within {
            return piece;
        }
        let end = piece.find(is_end).unwrap_or(piece.len());
        self.is_within = end == piece.len();
        piece.get(end..).unwrap_or_default()
    }

    /// From where on the text could still become a secret.
    fn keep_from(&self, ranges: &[Range<usize>]) -> usize {
        let held = self.held.as_str();
        let mut from = held.len() - self.redactor.begun(held.as_bytes());
        from = from.min(open_armour(held).unwrap_or(from));
        // What was found is not torn apart either.
        loop {
            let start = word_start(held, from);
            let around = ranges
                .iter()
                .find(|range| range.start < start && start < range.end);
            let start = around.map_or(start, |range| range.start);
            if start == from {
                return from;
            }
            from = start;
        }
    }

    /// More is held than may be. It is given out now; a secret at its end swallows what follows.
    fn overflow(&mut self, ranges: &[Range<usize>]) -> String {
        let held = std::mem::take(&mut self.held);
        self.is_within = ranges.last().is_some_and(|range| range.end == held.len());
        blanked(&held, ranges)
    }
}

fn is_end(letter: char) -> bool {
    letter.is_whitespace()
}

/// Where the word begins that this place is in, and what says that it is a key.
fn word_start(text: &str, at: usize) -> usize {
    let mut at = at;
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let before = text.get(..at).unwrap_or_default();
    let last = before
        .char_indices()
        .rev()
        .find(|(_, letter)| is_end(*letter));
    let start = last.map_or(0, |(at, letter)| at + letter.len_utf8());
    let before = text.get(..start).unwrap_or_default();
    let bearer = BEARERS.iter().find(|bearer| before.ends_with(*bearer));
    start - bearer.map_or(0, |bearer| bearer.len())
}

/// Where the first armour begins of which the end is not known yet.
fn open_armour(text: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find("-----BEGIN ")) {
        let start = from + at;
        match armour_end(text.get(start..).unwrap_or_default()) {
            Some(end) => from = start + end,
            None => return Some(start),
        }
    }
    None
}

/// Where an armour ends; nothing if that is not known yet.
fn armour_end(text: &str) -> Option<usize> {
    let end = text.find("-----END ")? + 9;
    let close = text.get(end..)?.find("-----")?;
    Some(end + close + 5)
}
