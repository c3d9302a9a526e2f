//! The operator's input may hold a key that was pasted by mistake. It is blanked out before any disk
//! and any model sees it, and its sender is warned.

use std::sync::LazyLock;

use a_society_base::redact::Redactor;

/// Knows the well-known kinds of secrets; values of ours are not typed by anybody.
static KINDS: LazyLock<Redactor> = LazyLock::new(|| Redactor::new(&[]));

/// The text with everything blanked out that looks like a secret.
#[must_use]
pub fn without_secrets(text: &str) -> String {
    KINDS.redact(text)
}

/// Whether something in a text looks like a secret.
#[must_use]
pub fn holds_a_secret(text: &str) -> bool {
    KINDS.redact(text) != text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k07_a_key_among_words_is_blanked_out_and_words_alone_stay_as_they_are() {
        let key = format!("sk-ant-{}", "api03-CANARYCANARYCANARY");
        let text = format!("Use {key} for it.");
        assert_eq!(without_secrets(&text), "Use [secret withheld] for it.");
        assert!(holds_a_secret(&text));
        for words in ["Write the token table.", "password reset flow", "a=b, c=d"] {
            assert!(!holds_a_secret(words), "{words}");
        }
    }
}
