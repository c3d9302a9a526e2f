//! Why something failed, as people read it.

use std::borrow::Cow;

/// A reason without the system's own number behind each of its words for an error: the words say it.
#[must_use]
pub fn in_words(reason: &str) -> Cow<'_, str> {
    const BEGINS: &str = " (os error ";
    let mut rest = reason;
    let mut words = String::new();
    while let Some(at) = rest.find(BEGINS) {
        let behind = &rest[at + BEGINS.len()..];
        let digits = behind.trim_start_matches('-');
        let after = digits.trim_start_matches(|c: char| c.is_ascii_digit());
        match after
            .strip_prefix(')')
            .filter(|_| after.len() < digits.len())
        {
            Some(after) => {
                words.push_str(&rest[..at]);
                rest = after;
            }
            None => {
                let next = rest.len() - behind.len();
                words.push_str(&rest[..next]);
                rest = behind;
            }
        }
    }
    if words.is_empty() {
        return Cow::Borrowed(rest);
    }
    words.push_str(rest);
    Cow::Owned(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_an_error_goes_and_every_other_word_stays() {
        for (said, words) in [
            (
                "Resource temporarily unavailable (os error 11)",
                "Resource temporarily unavailable",
            ),
            ("a: x (os error 2): b: y (os error -1).", "a: x: b: y."),
            (
                "it printed (os error ), (os error x) and (os error 1",
                "it printed (os error ), (os error x) and (os error 1",
            ),
            ("nothing", "nothing"),
            (" (os error 5)", ""),
        ] {
            assert_eq!(in_words(said), words);
        }
    }
}
