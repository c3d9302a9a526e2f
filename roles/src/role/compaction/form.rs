//! The form of a replacement.

use std::fmt::Write;

use super::limits::TAG_NUMBER_MAX;
use crate::handoff::{AllowedOutcomes, endings};

/// Everything that a replacement says.
#[derive(Debug, Clone, Copy)]
pub struct Replacement<'a> {
    /// The name of the compaction, by which the archive is found.
    pub id: &'a str,
    /// The summary of the conversation.
    pub summary: &'a str,
    /// What the flow knows about the role's work.
    pub flow: &'a str,
    /// The role's task list, if it keeps one.
    pub todo: &'a str,
    /// The last packet, or words of the operator, that the role has not answered.
    pub request: &'a str,
    /// The notes of the system in the conversation, as the role reads them.
    pub notes: &'a str,
    /// How the turn may end; nothing if no turn is open.
    pub allowed: Option<&'a AllowedOutcomes>,
}

/// The message that replaces a conversation.
#[must_use]
pub fn replacement_message(replacement: &Replacement<'_>) -> String {
    let id = format!(" id=\"{}\"", replacement.id);
    let mut text = tagged("summary", &id, replacement.summary.trim());
    let parts = [
        ("flow", replacement.flow.trim()),
        ("todo", replacement.todo.trim()),
        ("request", replacement.request),
    ];
    for (tag, part) in parts {
        if !part.trim().is_empty() {
            text.push_str(&tagged(tag, "", part));
        }
    }
    text.push_str(replacement.notes);
    text.push_str(
        "Your conversation up to here was replaced by this. Go on with the next step; do not start \
         over.",
    );
    if let Some(allowed) = replacement.allowed {
        let _ = write!(text, " {}", endings(allowed));
    }
    text.push('\n');
    text
}

/// A note of the system, as a role reads it: no words of the person it talks to.
#[must_use]
pub fn system_note(text: &str) -> String {
    let note = tagged("system-note", "", text.trim());
    note.trim_end().to_owned()
}

/// A text between tags whose end is not in it: where it is, the tag has a number.
fn tagged(tag: &str, attributes: &str, text: &str) -> String {
    let mut name = tag.to_owned();
    for number in 2..TAG_NUMBER_MAX {
        if !text.contains(&format!("</{name}>")) {
            break;
        }
        name = format!("{tag}-{number}");
    }
    format!("<{name}{attributes}>{text}</{name}>\n")
}

/// The beginning of a text that may have so many bytes, with a note in place of the rest.
#[must_use]
pub fn bounded(text: &str, most_bytes: usize, note: &str) -> String {
    if text.len() <= most_bytes {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(most_bytes);
    let head = text.get(..end).unwrap_or_default();
    format!("{head}\n{note}")
}
