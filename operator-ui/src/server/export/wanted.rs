//! What is wanted of a file, and what is made or why it is not.

use std::collections::BTreeSet;
use std::path::Path;

use super::limits::{FILE_BYTES_MAX, JOURNAL_BYTES_MAX};
use super::scrub::Redact;
use crate::protocol::Fault;

/// What can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The whole texts of items, and what calls were asked and gave.
    Bodies,
    /// The sessions as their models see them.
    Transcripts,
    /// The requests as they were sent.
    Requests,
    /// The lines of the journal.
    Events,
    /// What was handed over and changed.
    Files,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Bodies,
        Self::Transcripts,
        Self::Requests,
        Self::Events,
        Self::Files,
    ];

    /// Its word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Bodies => "bodies",
            Self::Transcripts => "transcripts",
            Self::Requests => "requests",
            Self::Events => "events",
            Self::Files => "files",
        }
    }
}

/// What is wanted of a file.
pub struct Wanted<'a> {
    /// Takes the secrets out of a text.
    pub redact: Redact<'a>,
    /// What is left out.
    pub without: BTreeSet<Part>,
    /// Whether more is left out if there is too much: that of which there is most, until the rest has room.
    pub shrinks: bool,
    /// The version of the program.
    pub build: &'a str,
    /// The workspace, as it is shown.
    pub workspace: &'a str,
    /// The folder of the flow's project, whose files proposals would change.
    pub project: &'a Path,
}

impl std::fmt::Debug for Wanted<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wanted")
            .field("without", &self.without)
            .field("shrinks", &self.shrinks)
            .field("build", &self.build)
            .field("workspace", &self.workspace)
            .field("project", &self.project)
            .finish_non_exhaustive()
    }
}

/// A file.
#[derive(Debug)]
pub struct Page {
    /// All of it.
    pub html: String,
    /// How many records it shows.
    pub events: u64,
    /// How many texts held secrets that were not redacted before.
    pub withheld: u64,
    /// What was left out because there was too much.
    pub left_out: Vec<Part>,
}

/// Why there is no file.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// There is too much in it.
    #[error("it holds more than {} MiB", FILE_BYTES_MAX >> 20)]
    TooLarge {
        /// What there is most of, among what can be left out.
        largest: Option<(Part, usize)>,
    },
    /// There is too much in the journal.
    #[error("its journal is longer than {} MiB", JOURNAL_BYTES_MAX >> 20)]
    TooLong,
    /// The program has no page.
    #[error("this program was built without its page")]
    NoPage,
    /// The flow cannot be read.
    #[error("{}", .0.why)]
    Unread(Fault),
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Self {
        Self::Unread(fault)
    }
}
