//! A text that is typed at the cursor of `run`, below the nodes, which are drawn on meanwhile. Pure. What was typed
//! stays until it is sent or taken back, whatever happens to the question.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::text::{chopped, printed, width, wrapped};

/// The longest text that is typed here; a longer one is written in the editor, or given with `reply FLOW -`.
const TEXT_BYTES_MAX: usize = 16 * 1024;

/// So many rows of a text are shown, the last ones.
const ROWS_MAX: usize = 8;

/// On a row that has less room behind what is asked, the text begins on the next one.
const ROOM_COLUMNS_MIN: usize = 20;

const ESC: u8 = 0x1b;
const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// What keys did to a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// It is part of the text now, took a part away, or means nothing here.
    Typed,
    /// There is no room for it.
    Full,
    /// The text is to be sent.
    Sent,
    /// The text is left as it is.
    Left,
    /// The next question is to be shown.
    Next,
    /// The text is to be opened in the editor.
    Editor,
    /// All of what is asked is to be shown.
    Read,
}

/// A text that is typed.
#[derive(Debug, Default)]
pub(crate) struct Field {
    text: String,
    /// The beginning of a letter whose other bytes have not come yet.
    letter: Vec<u8>,
    is_pasting: bool,
}

impl Field {
    /// A field with a text in it.
    pub(crate) fn with(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    /// The text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Keys were pressed. What follows the end of the text in the same piece is dropped: the operator could not
    /// see what it would answer.
    pub(crate) fn take(&mut self, keys: &[u8]) -> Written {
        let mut rest = keys;
        while let Some((key, after)) = rest.split_first() {
            if let Some(after) = rest.strip_prefix(PASTE_BEGINS) {
                (self.is_pasting, rest) = (true, after);
                continue;
            }
            if let Some(after) = rest.strip_prefix(PASTE_ENDS) {
                (self.is_pasting, rest) = (false, after);
                continue;
            }
            if *key == ESC {
                if matches!(after, [b'v' | b'V', ..]) && !self.is_pasting {
                    return Written::Read;
                }
                let sequence = sequence(rest);
                if sequence == 1 && !self.is_pasting {
                    return Written::Left;
                }
                rest = &rest[sequence..];
                continue;
            }
            rest = after;
            let written = self.key(*key);
            if written != Written::Typed {
                return written;
            }
        }
        Written::Typed
    }

    fn key(&mut self, key: u8) -> Written {
        match key {
            b'\r' if self.is_pasting => self.push('\n'),
            b'\r' if self.text.ends_with('\\') => {
                self.text.pop();
                self.push('\n')
            }
            b'\r' => Written::Sent,
            // Ctrl-J.
            b'\n' => self.push('\n'),
            b'\t' if self.is_pasting => self.push('\t'),
            b'\t' => Written::Next,
            // Ctrl-G.
            0x07 => Written::Editor,
            0x7f | 0x08 => {
                let end = self.text.grapheme_indices(true).next_back();
                self.text.truncate(end.map_or(0, |(at, _)| at));
                Written::Typed
            }
            // Ctrl-U and Ctrl-W.
            0x15 => {
                self.text.clear();
                Written::Typed
            }
            0x17 => {
                let kept = self.text.trim_end();
                let kept = kept.rfind(char::is_whitespace).map_or(0, |at| at + 1);
                self.text.truncate(kept);
                Written::Typed
            }
            0..0x20 => Written::Typed,
            byte => {
                self.letter.push(byte);
                match std::str::from_utf8(&self.letter) {
                    Ok(letter) => {
                        let letter = letter.chars().next();
                        self.letter.clear();
                        letter.map_or(Written::Typed, |letter| self.push(letter))
                    }
                    Err(error) if error.error_len().is_none() => Written::Typed,
                    // It is no text.
                    Err(_) => {
                        self.letter.clear();
                        Written::Typed
                    }
                }
            }
        }
    }

    fn push(&mut self, letter: char) -> Written {
        if self.text.len() >= TEXT_BYTES_MAX {
            return Written::Full;
        }
        self.text.push(letter);
        Written::Typed
    }

    /// The rows on a screen of so many columns behind what is asked, the last of which ends at the cursor.
    pub(crate) fn rows(&self, mark: &str, columns: usize) -> Vec<String> {
        let columns = columns.saturating_sub(1).max(2);
        let mut rows = Vec::new();
        let mut mark = mark.trim_end();
        if width(mark) + ROOM_COLUMNS_MIN > columns {
            rows = wrapped(mark.trim_end_matches('>').trim_end(), columns);
            mark = ">";
        }
        let mut typed = Vec::new();
        for (number, line) in self.text.split('\n').enumerate() {
            let line = printed(line);
            let line = match number {
                0 => format!("{mark} {line}"),
                _ => format!("  {line}"),
            };
            typed.extend(chopped(&line, columns));
        }
        let shown = typed.len().saturating_sub(ROWS_MAX);
        rows.extend(typed.into_iter().skip(shown));
        rows
    }
}

/// How long the sequence is with which a key like an arrow begins.
fn sequence(keys: &[u8]) -> usize {
    match keys {
        [ESC, b'[' | b'O', rest @ ..] => {
            let end = rest.iter().position(|byte| (0x40..=0x7e).contains(byte));
            end.map_or(keys.len(), |end| end + 3)
        }
        // A letter with Alt.
        [ESC, _, ..] => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &str) -> (Written, String) {
        let mut field = Field::default();
        let written = field.take(keys.as_bytes());
        (written, field.text)
    }

    #[test]
    fn letters_are_text_and_enter_sends() {
        assert_eq!(
            typed("yes, Füße 漢字\r"),
            (Written::Sent, "yes, Füße 漢字".to_owned())
        );
        assert_eq!(typed("one two\u{17}"), (Written::Typed, "one ".to_owned()));
        assert_eq!(typed("x👩‍👧\u{7f}"), (Written::Typed, "x".to_owned()));
        assert_eq!(typed("abc\u{15}d"), (Written::Typed, "d".to_owned()));
        assert_eq!(
            typed("a\u{1b}[Db\u{1b}x"),
            (Written::Typed, "ab".to_owned())
        );
        assert_eq!(typed("ab\u{1b}"), (Written::Left, "ab".to_owned()));
        assert_eq!(typed("ab\t"), (Written::Next, "ab".to_owned()));
        assert_eq!(typed("ab\u{1b}vc"), (Written::Read, "ab".to_owned()));
    }

    #[test]
    fn ctrl_j_a_backslash_before_enter_and_a_paste_make_new_lines() {
        assert_eq!(typed("one\\\rtwo"), (Written::Typed, "one\ntwo".to_owned()));
        assert_eq!(typed("one\ntwo\r"), (Written::Sent, "one\ntwo".to_owned()));
        let pasted = "\u{1b}[200~one\r\ttwo\u{1b}[201~";
        assert_eq!(typed(pasted), (Written::Typed, "one\n\ttwo".to_owned()));
    }

    #[test]
    fn a_letter_whose_bytes_come_apart_is_one_letter() {
        let mut field = Field::default();
        for byte in "ß漢".as_bytes() {
            assert_eq!(field.take(&[*byte]), Written::Typed);
        }
        assert_eq!(field.text(), "ß漢");
        field.take(&[0xff, b'a']);
        assert_eq!(field.text(), "ß漢a");
    }

    #[test]
    fn a_text_that_is_full_takes_nothing_more() {
        let mut field = Field::with("x".repeat(TEXT_BYTES_MAX));
        assert_eq!(field.take(b"y"), Written::Full);
        assert_eq!(field.text().len(), TEXT_BYTES_MAX);
    }

    #[test]
    fn rows_fit_the_screen_and_the_last_one_ends_at_the_cursor() {
        let field = Field::with("the bank's, add a rounding line to it\nand go on".to_owned());
        assert_eq!(
            field.rows("your answer> ", 40),
            [
                "your answer> the bank's, add a rounding",
                " line to it",
                "  and go on"
            ]
        );
        let long = Field::default().rows("which file? (nothing for record/lead.md)> ", 40);
        assert_eq!(long, ["which file? (nothing for", "record/lead.md)", "> "]);
    }
}
