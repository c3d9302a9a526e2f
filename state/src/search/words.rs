//! What counts as a word, and when two words are the same.
//!
//! A word is a run of letters, digits and the marks on them. Where a script puts no blanks between words, each of
//! its characters is a word of its own, so that what is looked for is found within a sentence. Words are compared
//! without case, without the accents of European scripts, and in the one form that Unicode gives to all ways in which
//! a text can be encoded.

use std::ops::Range;

use icu_normalizer::properties::CanonicalCombiningClassMapBorrowed;
use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

use super::limits::WORD_BYTES_MAX;

const DECOMPOSED: DecomposingNormalizerBorrowed<'static> =
    DecomposingNormalizerBorrowed::new_nfkd();
const COMPOSED: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfc();
const CLASSES: CanonicalCombiningClassMapBorrowed<'static> =
    CanonicalCombiningClassMapBorrowed::new();

/// The accents of the Latin, Greek and Cyrillic scripts. The marks of other scripts make other words.
const ACCENTS: std::ops::RangeInclusive<char> = '\u{300}'..='\u{36f}';

/// The ranges of a text that are words, in order.
pub(super) fn words(text: &str) -> WordsOfText<'_> {
    WordsOfText { text, at: 0 }
}

/// The words of a text.
#[derive(Debug)]
pub(super) struct WordsOfText<'a> {
    text: &'a str,
    at: usize,
}

impl Iterator for WordsOfText<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let rest = self.text.get(self.at..)?;
        let mut letters = rest.char_indices().skip_while(|(_, c)| !begins(*c));
        let (from, first) = letters.next()?;
        let alone = stands_alone(first);
        let goes_on = |c: char| joins(c) || (!alone && c.is_alphanumeric() && !stands_alone(c));
        let end = letters.find(|(_, c)| !goes_on(*c));
        let end = end.map_or(rest.len(), |(at, _)| at);
        let found = self.at + from..self.at + end;
        self.at = found.end;
        Some(found)
    }
}

fn begins(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    c.is_alphanumeric()
}

/// Whether a character belongs to the one before it and is no letter by itself: a mark, or a sign that joins or allows
/// a break.
fn joins(c: char) -> bool {
    if c.is_ascii() {
        return false;
    }
    matches!(c, '\u{ad}' | '\u{200c}' | '\u{200d}') || CLASSES.get_u8(c) != 0
}

/// Whether a character is of a script that puts no blanks between words.
fn stands_alone(c: char) -> bool {
    if c < '\u{e00}' {
        return false;
    }
    matches!(c,
        // Thai and Lao, Burmese, Khmer.
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        // Radicals, the marks of repetition, kana and bopomofo.
        | '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3031}'..='\u{312f}' | '\u{31a0}'..='\u{31ff}'
        // Han, the forms for compatibility, kana of half width.
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}'
        | '\u{20000}'..='\u{3ffff}')
}

/// Appends a word as it is compared. A longer word counts with its beginning.
pub(super) fn fold(word: &str, out: &mut String) {
    let from = out.len();
    if word.is_ascii() {
        out.push_str(word);
        out[from..].make_ascii_lowercase();
    } else {
        let bare = DECOMPOSED.normalize_iter(word.chars());
        let bare = bare
            .filter(|c| !ACCENTS.contains(c) && !matches!(c, '\u{ad}' | '\u{200c}' | '\u{200d}'));
        // By way of upper case, which makes one of the sigmas, of the two i of Turkish, and of ß and SS.
        let same = bare.flat_map(char::to_lowercase);
        let same = same
            .flat_map(char::to_uppercase)
            .flat_map(char::to_lowercase);
        // The upper case of a letter may have accents again.
        let same = DECOMPOSED
            .normalize_iter(same)
            .filter(|c| !ACCENTS.contains(c));
        out.extend(COMPOSED.normalize_iter(same));
    }
    let end = out.floor_char_boundary(out.len().min(from + WORD_BYTES_MAX));
    out.truncate(end);
}

/// A word as it is compared.
pub(super) fn folded(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    fold(word, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        words(text).map(|at| folded(&text[at])).collect()
    }

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        assert_eq!(
            all("let x_1 = foo.bar(42);"),
            ["let", "x", "1", "foo", "bar", "42"]
        );
        assert_eq!(all("don't"), ["don", "t"]);
        assert_eq!(all(" -- \n"), [""; 0]);
        assert_eq!(all("\u{301}"), [""; 0]);
    }

    #[test]
    fn case_accents_and_encodings_make_no_other_word() {
        for same in [
            &["café", "CAFE\u{301}", "Cafe"][..],
            // The two i of Turkish are one word, whatever case they are in.
            &[
                "İstanbul",
                "ISTANBUL",
                "ıstanbul",
                "istanbul",
                "i\u{307}stanbul",
            ],
            &["Straße", "STRASSE", "straẞe"],
            &["ΟΔΟΣ", "οδος", "οδοσ"],
            &["ﬁle", "file", "ＦＩＬＥ"],
            &["Ёлка", "елка"],
            &["한국", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}"],
            &["na\u{ad}ive", "naïve"],
        ] {
            let folds: Vec<Vec<String>> = same.iter().map(|text| all(text)).collect();
            assert!(
                folds.iter().all(|one| *one == folds[0] && one.len() == 1),
                "{folds:?}"
            );
        }
    }

    #[test]
    fn scripts_without_blanks_are_read_by_the_character() {
        assert_eq!(all("東京で会う"), ["東", "京", "で", "会", "う"]);
        assert_eq!(all("見ろgit版2"), ["見", "ろ", "git", "版", "2"]);
        // A voiced sound is the same in one character and in two.
        assert_eq!(all("か\u{3099}"), all("が"));
        assert_ne!(all("か"), all("が"));
        assert_eq!(all("ｶ"), all("カ"));
    }

    #[test]
    fn a_mark_of_another_script_makes_another_word() {
        assert_ne!(all("कि"), all("क"));
        assert_eq!(all("हिन्दी").len(), 1);
    }

    #[test]
    fn a_long_word_counts_with_its_beginning() {
        let long = "ä".repeat(1_000);
        let found = all(&long);
        assert_eq!(found, ["a".repeat(WORD_BYTES_MAX)]);
    }
}
