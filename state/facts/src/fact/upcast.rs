//! Old shapes of facts, read as the present ones.
//!
//! A journal written by an old version is never rewritten. Its lines hold the version of their
//! shapes (`"v"`), and the reader turns an old shape into the present one here, step by
//! step, one version at a time. `tests/journals/` keeps a journal of every version that ever was.

use std::borrow::Cow;

/// The version of the shapes that are written now.
pub(crate) const VERSION: u32 = 1;

/// The present shape of a payload, or why it has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Upcast<'a> {
    /// The word and the payload as they are read now.
    Present(&'a str, Cow<'a, [u8]>),
    /// The line was written by a version that is newer than this program.
    Newer,
}

/// Brings a line's word and payload from its version to the present one.
#[must_use]
pub(crate) fn upcast<'a>(version: u32, word: &'a str, payload: &'a [u8]) -> Upcast<'a> {
    if version > VERSION || version == 0 {
        return Upcast::Newer;
    }
    // Version 1 is the first and the present one. A step from version n to n + 1 goes here, as a
    // function of (word, payload) that touches only the words that changed.
    Upcast::Present(word, Cow::Borrowed(payload))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_present_version_is_read_as_it_stands() {
        let read = upcast(VERSION, "flow_completed", b"{}");
        assert_eq!(
            read,
            Upcast::Present("flow_completed", Cow::Borrowed(b"{}"))
        );
    }

    #[test]
    fn a_newer_version_is_not_guessed_at() {
        assert_eq!(upcast(VERSION + 1, "flow_completed", b"{}"), Upcast::Newer);
        assert_eq!(upcast(0, "flow_completed", b"{}"), Upcast::Newer);
    }
}
