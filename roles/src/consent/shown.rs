//! What the operator reads before an answer: the whole text, and nothing in it can pretend.
//!
//! A text of a model could move the cursor, hide a part, or change the direction in which it is
//! read. So everything that is not plainly visible becomes an escape here, and stays one on every
//! screen.

use std::fmt::Write as _;

use a_society_base::text::misleads;

/// The text with every character that could mislead written as an escape. Ends of lines stay.
#[must_use]
pub(crate) fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        // Nearly all of most texts is plain.
        let plain = rest.bytes().position(|byte| !is_plain(byte));
        let (before, after) = rest.split_at(plain.unwrap_or(rest.len()));
        out.push_str(before);
        let mut letters = after.chars();
        let Some(letter) = letters.next() else {
            return out;
        };
        rest = letters.as_str();
        match letter {
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\\' if reads_as_escape(rest) => out.push_str("\\\\"),
            letter if misleads(letter) => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{{{:x}}}", u32::from(letter));
            }
            letter => out.push(letter),
        }
    }
}

/// Whether a backslash before this text would look like an escape of ours, or like a part of one. Every other backslash is
/// shown as it is, so that what is copied from the screen is the call.
fn reads_as_escape(rest: &str) -> bool {
    rest.starts_with("u{")
        || (rest.chars().next()).is_some_and(|next| {
            matches!(next, '\\' | 't' | 'r' | '\t' | '\r') || misleads(next) && next != '\n'
        })
}

/// Whether a byte is a letter of ASCII that is shown as it is.
const fn is_plain(byte: u8) -> bool {
    matches!(byte, b'\n' | b' '..=b'~') && byte != b'\\'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_could_mislead_is_shown_as_what_it_is() {
        for (id, text, expected) in [
            (
                "U05 clipboard",
                "a\u{1b}]52;c;x\u{7}",
                "a\\u{1b}]52;c;x\\u{7}",
            ),
            ("U05 clear", "\u{1b}[2J", "\\u{1b}[2J"),
            ("U05 c1", "\u{9b}1m", "\\u{9b}1m"),
            ("U05 overwrite", "rm -rf x\rls", "rm -rf x\\rls"),
            ("U05 backspace", "id\u{8}\u{8}ls", "id\\u{8}\\u{8}ls"),
            ("U07 bidi", "a\u{202e}b", "a\\u{202e}b"),
            ("U07 zero width", "pwd\u{200b}", "pwd\\u{200b}"),
            ("C59 wide", "\u{ff1b}", "\\u{ff1b}"),
            ("C59 nbsp", "pwd\u{a0}", "pwd\\u{a0}"),
            ("an escape that was written", "\\u{7}", "\\\\u{7}"),
            ("a tab that was written", "a\\tb\tc", "a\\\\tb\\tc"),
            ("a backslash before a tab", "\\\t", "\\\\\\t"),
            ("two backslashes", "\\\\ ", "\\\\\\ "),
            (
                "a line that goes on",
                "a && \\\n  grep 'x\\.y' C:\\dir",
                "a && \\\n  grep 'x\\.y' C:\\dir",
            ),
            ("plain", "grüße,\n日本", "grüße,\n日本"),
        ] {
            assert_eq!(shown(text), expected, "{id}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_never_misleads_and_different_texts_look_different(
            one in "\\PC{0,20}|[\\x00-\\x7f]{0,20}", two in any::<String>(),
            (left, right) in ("[\\\\tru{7}\\t\\r\\n\u{7}]{0,6}", "[\\\\tru{7}\\t\\r\\n\u{7}]{0,6}"),
        ) {
            prop_assert_eq!(shown(&left) == shown(&right), left == right);
            prop_assert!(!shown(&two).chars().any(|c| misleads(c) && c != '\n'));
            prop_assert_eq!(shown(&one) == shown(&two), one == two);
        }
    }
}
