//! A request in pieces: what is before its messages, those that will be written in the same way the
//! next time, and the rest.
//!
//! On every wire the messages come last in the body, so that the pieces only have to be concatenated,
//! with what earlier requests of the session wrote between the first two.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::Serialize;

use crate::request::HistoryMessage;

/// What is after the last message.
pub(crate) const END: &[u8] = b"]}";

/// The messages of a request that are still to be encoded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SplitHistory<'a> {
    /// Those that stay as they are written.
    pub(crate) settled: &'a [Cow<'a, HistoryMessage>],
    /// Those that may be written in another way the next time.
    pub(crate) open: &'a [Cow<'a, HistoryMessage>],
}

/// A request without the part that is already encoded.
#[derive(Debug)]
pub(crate) struct WrittenRequest {
    /// Everything up to the messages, to which a message follows.
    pub(crate) head: Vec<u8>,
    /// The messages that stay, with commas between them.
    pub(crate) settled: Vec<u8>,
    /// Those that may be written in another way the next time.
    pub(crate) open: Vec<u8>,
    /// The names of the calls of those that stay.
    pub(crate) ids: HashSet<String>,
}

/// The beginning of a body whose messages are still to come.
pub(super) fn head(frame: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut head = serde_json::to_vec(frame)?;
    head.truncate(head.len().saturating_sub(END.len()));
    Ok(head)
}

/// Messages as the items of a JSON array.
pub(super) fn list(items: &[impl Serialize]) -> serde_json::Result<Vec<u8>> {
    let mut out = Vec::new();
    for item in items {
        if !out.is_empty() {
            out.push(b',');
        }
        serde_json::to_writer(&mut out, item)?;
    }
    Ok(out)
}
