//! Errors of the disk, with the path and the reason.

use std::io;
use std::path::{Path, PathBuf};

use a_society_facts::id::{BadName, FlowId, Seq};
use a_society_facts::line::CannotWrite;

use crate::journal::verdict::Damage;
use crate::ledger::LedgerError;

/// A failure of the state.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system refused.
    #[error("could not {doing} {}: {source}", path.display())]
    Io {
        /// What was tried, in words.
        doing: &'static str,
        /// Where.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Another process writes this flow.
    #[error("another process writes this flow: {holder}")]
    Busy {
        /// Who, in words.
        holder: String,
    },
    /// The file system has no locks.
    #[error("the file system of {} does not support locks: {source}", path.display())]
    NoLocks {
        /// The lock file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The journal is damaged and may only be read.
    #[error("{0}")]
    Damaged(Box<Damage>),
    /// There is no such flow.
    #[error("there is no flow {0:?} here")]
    NoFlow(String),
    /// Several flows begin so.
    #[error("{prefix:?} is the beginning of {} flows: {}", candidates.len(), candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// What it could mean.
        candidates: Vec<String>,
    },
    /// The flow exists already.
    #[error("the flow {0} exists already")]
    Exists(FlowId),
    /// Another program keeps this flow, and nothing of it was imported.
    #[error("the flow {0} is kept by another program and was not imported")]
    Foreign(FlowId),
    /// A name cannot be used.
    #[error(transparent)]
    Name(#[from] BadName),
    /// The disk is full; the flow is paused.
    #[error("the disk is full")]
    DiskFull,
    /// A sync failed earlier, and this writer writes no more.
    #[error("this flow's writer stopped because the disk failed: {why}")]
    Poisoned {
        /// What failed.
        why: String,
    },
    /// The fact does not follow from what is true.
    #[error("record {seq} would not be legal: {why}")]
    Illegal {
        /// The number it would have had.
        seq: Seq,
        /// Why not.
        why: String,
    },
    /// The fact cannot be a line.
    #[error(transparent)]
    CannotWrite(#[from] CannotWrite),
    /// A flow cannot be forked there.
    #[error("it cannot be forked at record {at}: {why}")]
    NotForkable {
        /// Where.
        at: Seq,
        /// Why not.
        why: String,
    },
    /// The ledger that holds the flow's journal fails.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Another worker went on with the flow, so that this one stopped.
    #[error(
        "another worker went on with this flow; what this one had not handed in is in its quarantine"
    )]
    MovedOn,
    /// Something that is not what it should be, described in words.
    #[error("{} {what}", path.display())]
    Unfit {
        /// Where.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
}

impl Error {
    /// A refusal of the file system.
    #[must_use]
    pub fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io {
            doing,
            path: path.to_owned(),
            source,
        }
    }

    /// Whether it says that there is no room.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self, Self::DiskFull) || matches!(self, Self::Io { source, .. } if is_full(source))
    }

    /// Whether it says that something is not there.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        match self {
            Self::Io { source, .. } => source.kind() == io::ErrorKind::NotFound,
            Self::NoFlow(_) => true,
            Self::Busy { .. }
            | Self::NoLocks { .. }
            | Self::Damaged(_)
            | Self::Ambiguous { .. }
            | Self::Exists(_)
            | Self::Foreign(_)
            | Self::Name(_)
            | Self::DiskFull
            | Self::Poisoned { .. }
            | Self::Illegal { .. }
            | Self::CannotWrite(_)
            | Self::NotForkable { .. }
            | Self::Ledger(_)
            | Self::MovedOn
            | Self::Unfit { .. } => false,
        }
    }
}

/// Whether an error means that there is no room.
#[must_use]
pub fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}
