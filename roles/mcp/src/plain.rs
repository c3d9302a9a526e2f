//! Texts of strangers, made harmless for a terminal, a page and a sentence.

use std::fmt::Write;

use a_society_base::text::misleads;

/// The text with everything that does not show as itself written as an escape: control characters,
/// those that change the direction of a text, and those without width. Line ends and tabs stay.
pub(super) fn escaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_plain(letter) || letter == '\n' || letter == '\t' {
            plain.push(letter);
        } else {
            // Writing to a string cannot fail.
            let _fine = write!(plain, "\\u{{{:x}}}", u32::from(letter));
        }
    }
    plain
}

/// The same on one line.
pub(super) fn line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    escaped(&words.join(" "))
}

/// Whether a letter shows as itself. Wide spaces and full-width letters do in prose, where they are not
/// mistaken for others; commands have a stricter rule.
pub(super) fn is_plain(letter: char) -> bool {
    let is_wide = matches!(letter, '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{3000}')
        || matches!(letter, '\u{ff01}'..='\u{ff5e}');
    is_wide || !misleads(letter)
}

/// The beginning of a text, with a mark if something is missing.
pub(super) fn head(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let kept = text
        .get(..text.floor_char_boundary(bytes_max))
        .unwrap_or("");
    format!("{kept} [… {} bytes are left out]", text.len() - kept.len())
}

/// The beginning and the end of a text, with a mark between if something is missing.
pub(super) fn ends(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let half = bytes_max / 2;
    let first = text.get(..text.floor_char_boundary(half)).unwrap_or("");
    let last = text
        .get(text.ceil_char_boundary(text.len() - half)..)
        .unwrap_or("");
    let missing = text.len() - first.len() - last.len();
    format!("{first}\n[… {missing} bytes are left out here …]\n{last}")
}

/// The end of a text, with a mark if something is missing.
pub(super) fn tail(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let from = text.ceil_char_boundary(text.len() - bytes_max);
    format!("… {}", text.get(from..).unwrap_or(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_show_as_itself_is_escaped() {
        let table = [
            ("plain ü 漢，（字） 😀\n\t", "plain ü 漢，（字） 😀\n\t"),
            ("\u{1b}]52;c;x\u{7}", "\\u{1b}]52;c;x\\u{7}"),
            ("a\rb\u{8}", "a\\u{d}b\\u{8}"),
            ("\u{9b}2J", "\\u{9b}2J"),
            ("\u{202e}evil\u{2066}", "\\u{202e}evil\\u{2066}"),
            ("a\u{200b}b\u{feff}", "a\\u{200b}b\\u{feff}"),
            ("\u{e0041}\0", "\\u{e0041}\\u{0}"),
        ];
        for (text, plain) in table {
            assert_eq!(escaped(text), plain);
        }
    }

    #[test]
    fn cut_texts_say_how_much_is_missing_and_stay_texts() {
        assert_eq!(head("äöü", 3), "ä [… 4 bytes are left out]");
        assert_eq!(ends("äöüß", 5), "ä\n[… 4 bytes are left out here …]\nß");
        assert_eq!(tail("äöü", 3), "… ü");
        for cut in [head, ends, tail] {
            assert_eq!(cut("äöü", 6), "äöü");
        }
    }

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(line(" a\n\n b\t\u{1b}c "), "a b \\u{1b}c");
    }
}
