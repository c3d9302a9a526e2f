//! Keys, which are never shown.

use std::fmt;

use a_society_base::redact::Redactor;

/// The placeholder for a key in texts.
pub(crate) const HIDDEN: &str = "[key]";

/// How short a word may be that is taken for a key by how it begins.
const KEY_CHARS: usize = 12;

/// A key.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps a key. Blanks at its ends are those of a file or a variable, and never its own.
    #[must_use]
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_owned())
    }

    /// The key itself, for the one header that carries it.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether it is empty.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

/// A text without this key, and without anything that looks like a secret: a provider repeats what
/// it was sent, and whatever else it has at hand.
#[must_use]
pub(crate) fn without_keys(text: &str, key: Option<&Secret>) -> String {
    let text = match key {
        Some(key) if !key.is_empty() => text.replace(key.reveal(), HIDDEN),
        Some(_) | None => text.to_owned(),
    };
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '*' | '.');
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find("sk-") {
        let (before, word) = rest.split_at(at);
        let end = word.find(|c| !is_part(c)).unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        let begins = !before.ends_with(|c: char| c.is_ascii_alphanumeric());
        out.push_str(before);
        out.push_str(if begins && word.len() >= KEY_CHARS {
            HIDDEN
        } else {
            word
        });
        rest = after;
    }
    out.push_str(rest);
    Redactor::new(&[]).redact(&out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_shown() {
        let key = Secret::new(" abc123secret\n");
        assert_eq!(format!("{key:?}"), HIDDEN);
        assert_eq!(
            without_keys("no abc123secret, abc123secret!", Some(&key)),
            "no [key], [key]!"
        );
        assert_eq!(without_keys("none", Some(&Secret::new(""))), "none");
    }

    #[test]
    fn words_that_look_like_keys_are_hidden_and_others_are_not() {
        assert_eq!(
            without_keys("Incorrect API key provided: sk-proj-****abcd.", None),
            "Incorrect API key provided: [key]"
        );
        for text in ["task-management", "sk-1", "a risk-free sk-"] {
            assert_eq!(without_keys(text, None), text);
        }
    }
}
