//! What is looked for, and where it is in a text.

use std::ops::Range;

use super::limits::{BEGINNING_CHARS_MIN, QUERY_BYTES_MAX, QUERY_WORDS_MAX};
use super::words::{fold, folded, words};

/// Words that all have to be in one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchWords {
    pieces: Vec<SearchPiece>,
}

/// Words that follow one another.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SearchPiece {
    words: Vec<String>,
    /// Whether a longer word counts as the last one.
    is_begun: bool,
}

/// Why something cannot be looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoWords {
    /// There is no letter and no digit in it.
    #[error("there is no word in it")]
    Empty,
    /// It is too long.
    #[error("it is longer than {QUERY_BYTES_MAX} bytes or has more than {QUERY_WORDS_MAX} words")]
    TooLong,
}

impl SearchWords {
    /// Reads words as people type them: `word`, `begin*` for every word that begins so, `"some words"` that follow one
    /// another. What is written together, such as `src/main.rs`, is words that follow one another, too.
    ///
    /// # Errors
    /// When there is no word in it, or too much.
    pub fn read(text: &str) -> Result<Self, NoWords> {
        if text.len() > QUERY_BYTES_MAX {
            return Err(NoWords::TooLong);
        }
        let mut pieces = Vec::new();
        for (n, part) in text.split('"').enumerate() {
            if n % 2 == 1 {
                pieces.extend(SearchPiece::read(part, false));
            } else {
                let parts = part.split_whitespace();
                pieces
                    .extend(parts.filter_map(|part| SearchPiece::read(part, part.ends_with('*'))));
            }
        }
        match pieces.iter().map(|piece| piece.words.len()).sum::<usize>() {
            0 => Err(NoWords::Empty),
            count if count > QUERY_WORDS_MAX => Err(NoWords::TooLong),
            _ => Ok(Self { pieces }),
        }
    }

    /// The same while it is typed: the last word may not be whole yet.
    ///
    /// # Errors
    /// When there is no word in it, or too much.
    pub fn typed(text: &str) -> Result<Self, NoWords> {
        let mut read = Self::read(text)?;
        let is_open = text.ends_with(|c: char| !c.is_whitespace() && c != '"');
        if let Some(last) = read.pieces.last_mut().filter(|_| is_open) {
            last.is_begun = last.may_be_begun();
        }
        Ok(read)
    }

    /// Where they are in a text: the ranges of words that were looked for. Nothing if one of them is not there.
    #[must_use]
    pub fn places(&self, text: &str) -> Option<Vec<Range<usize>>> {
        let mut all = String::new();
        let mut places: Vec<(Range<usize>, Range<usize>)> = Vec::new();
        for place in words(text) {
            let from = all.len();
            fold(&text[place.clone()], &mut all);
            places.push((place, from..all.len()));
        }
        let word = |n: usize| all.get(places.get(n)?.1.clone());
        let mut found: Vec<Range<usize>> = Vec::new();
        for piece in &self.pieces {
            let before = found.len();
            let long = piece.words.len();
            for at in 0..places.len().saturating_sub(long - 1) {
                if piece.is_at(|n| word(at + n)) {
                    let of_piece = places.get(at..at + long).into_iter().flatten();
                    found.extend(of_piece.map(|(place, _)| place.clone()));
                }
            }
            if found.len() == before {
                return None;
            }
        }
        found.sort_by_key(|place| place.start);
        found.dedup();
        Some(found)
    }

    /// The same as an expression of the index, in one of its columns.
    pub(super) fn expression(&self, column: &str) -> String {
        let pieces = self.pieces.iter().map(|piece| {
            // A word has letters and digits only, so that nothing in it can end the quotes.
            let star = if piece.is_begun { "*" } else { "" };
            format!("{column} : \"{}\"{star}", piece.words.join(" "))
        });
        pieces.collect::<Vec<_>>().join(" AND ")
    }
}

impl SearchPiece {
    fn read(text: &str, is_begun: bool) -> Option<Self> {
        let words: Vec<String> = words(text).map(|at| folded(&text[at])).collect();
        let words: Vec<String> = words.into_iter().filter(|word| !word.is_empty()).collect();
        let mut piece = Self { words, is_begun };
        piece.is_begun &= piece.may_be_begun();
        (!piece.words.is_empty()).then_some(piece)
    }

    /// Too many words begin with one letter: it counts as a word.
    fn may_be_begun(&self) -> bool {
        let last = self.words.last().map_or("", String::as_str);
        last.chars().count() >= BEGINNING_CHARS_MIN
    }

    fn is_at<'a>(&self, word: impl Fn(usize) -> Option<&'a str>) -> bool {
        let last = self.words.len() - 1;
        self.words.iter().enumerate().all(|(n, wanted)| {
            word(n).is_some_and(|there| {
                let begins = n == last && self.is_begun && there.starts_with(wanted.as_str());
                there == wanted || begins
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(query: &str, text: &str) -> Option<Vec<String>> {
        let places = SearchWords::read(query).unwrap().places(text)?;
        Some(places.into_iter().map(|at| text[at].to_owned()).collect())
    }

    #[test]
    fn all_words_have_to_be_there_whole_in_any_order() {
        let text = "The journal is the only truth";
        assert_eq!(found("truth journal", text).unwrap(), ["journal", "truth"]);
        assert_eq!(found("journals", text), None);
        assert_eq!(found("journ", text), None);
        assert_eq!(found("journal lie", text), None);
        assert_eq!(found("the", text).unwrap(), ["The", "the"]);
    }

    #[test]
    fn a_star_stands_for_the_rest_of_a_word() {
        assert_eq!(found("jour*", "a journal").unwrap(), ["journal"]);
        assert_eq!(
            found("src/ma*", "see src/main.rs").unwrap(),
            ["src", "main"]
        );
        assert_eq!(found("j*", "a journal"), None);
        assert_eq!(found("a*", "a journal").unwrap(), ["a"]);
        let typed = SearchWords::typed("only tru").unwrap();
        assert!(typed.places("the only truth").is_some());
        assert!(
            SearchWords::typed("only tru ")
                .unwrap()
                .places("the only truth")
                .is_none()
        );
    }

    #[test]
    fn quoted_words_follow_one_another_and_so_do_words_written_together() {
        let text = "write-ahead log, then log ahead";
        assert_eq!(found("\"ahead log\"", text).unwrap(), ["ahead", "log"]);
        assert_eq!(found("\"log write\"", text), None);
        assert_eq!(found("write_ahead", text).unwrap(), ["write", "ahead"]);
        assert_eq!(found("京都", "東京都").unwrap(), ["京", "都"]);
        assert_eq!(found("東都", "東京都"), None);
    }

    #[test]
    fn what_has_no_word_or_too_many_is_refused() {
        assert_eq!(SearchWords::read(" -- \" "), Err(NoWords::Empty));
        assert_eq!(SearchWords::read(&"x ".repeat(33)), Err(NoWords::TooLong));
        assert_eq!(SearchWords::read(&"x".repeat(1_025)), Err(NoWords::TooLong));
    }
}
