//! Redaction of a text that arrives in pieces, cut anywhere.
//!
//! What could still become a secret is held back: the last word, a key in armour that has not
//! ended, and the beginning of a known value. What comes out, all pieces together, is the same as
//! if the whole text had been there at once.

use super::{MARK, Redactor};

/// How much is held back at most. A word that long is no key; an armoured key is shorter.
const HELD_BYTES: usize = 32 * 1024;

/// How many bytes around a word belong to it: what comes before an assignment or a scheme.
const BEARERS: [&str; 2] = ["Bearer ", "bearer "];

/// A text that arrives in pieces.
#[derive(Debug)]
pub struct Stream {
    redactor: Redactor,
    pub(super) held: String,
    /// A secret was longer than what is held: what follows belongs to it until a word ends.
    is_within: bool,
}

impl Stream {
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
        let keep_from = self.keep_from();
        if self.held.len() - keep_from > HELD_BYTES {
            return self.overflow();
        }
        let rest = self.held.split_off(keep_from);
        let certain = std::mem::replace(&mut self.held, rest);
        self.redactor.redact(&certain)
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
    fn keep_from(&self) -> usize {
        let held = self.held.as_str();
        let word = held.rfind(is_end).map_or(0, |at| {
            at + held
                .get(at..)
                .and_then(|rest| rest.chars().next())
                .map_or(1, char::len_utf8)
        });
        let before = held.get(..word).unwrap_or_default();
        let bearer = BEARERS.iter().find(|bearer| before.ends_with(*bearer));
        let mut from = word - bearer.map_or(0, |bearer| bearer.len());
        from = from.min(held.len() - self.redactor.begun(held.as_bytes()));
        // Every armour that has begun is looked at from its first one, as the whole text would be.
        let mut open = 0;
        while let Some(at) = held.get(open..).and_then(|rest| rest.find("-----BEGIN ")) {
            let start = open + at;
            let rest = held.get(start..).unwrap_or_default();
            match armour_end(rest) {
                Some(end) => open = start + end,
                None => {
                    from = from.min(start);
                    break;
                }
            }
        }
        while !held.is_char_boundary(from) {
            from -= 1;
        }
        from
    }

    /// More is held than may be. It is given out now; a secret at its end swallows what follows.
    fn overflow(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        let out = self.redactor.redact(&held);
        self.is_within = out.ends_with(MARK) && !held.ends_with(MARK);
        out
    }
}

fn is_end(letter: char) -> bool {
    letter.is_whitespace()
}

/// Where an armour ends; nothing if that is not known yet.
fn armour_end(text: &str) -> Option<usize> {
    let end = text.find("-----END ")? + 9;
    let close = text.get(end..)?.find("-----")?;
    Some(end + close + 5)
}
