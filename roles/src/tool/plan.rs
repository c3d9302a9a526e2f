//! The plan of a call: its effect, before anything happens.

use a_society_facts::Hash;
use a_society_facts::fact::turn::{CallEnd, Effect, FileChange};

use super::toolbox::Deed;
use crate::consent::ConsentQuestion;
use crate::turn::step::PlannedText;

/// A call whose arguments were read and found good.
#[derive(Debug, Clone)]
pub struct CallPlan {
    /// The tool.
    pub tool: &'static str,
    /// What it may do to the world.
    pub effect: Effect,
    /// For a checkable call, the file's hash now; absent if the file does not exist.
    pub before: Option<Hash>,
    /// For a checkable call, the file's hash when it is done.
    pub after: Option<Hash>,
    /// For a checkable call of several files, each of them; then the hashes above are absent.
    pub files: Vec<FileChange>,
    /// For a checkable call, what it changes in the text of each file.
    pub texts: Vec<PlannedText>,
    /// One line for the operator.
    pub summary: String,
    /// What consent needs to know.
    pub ask: ConsentQuestion,
    pub(super) deed: Deed,
}

impl CallPlan {
    /// Whether nothing has to be there before the call is recorded as started.
    #[must_use]
    pub(crate) const fn needs_no_process(&self) -> bool {
        match self.deed {
            Deed::Command(_) => false,
            Deed::Read(_)
            | Deed::Write(..)
            | Deed::Patch(_)
            | Deed::Fetch(_)
            | Deed::Search(_)
            | Deed::Output(_)
            | Deed::Todo(_)
            | Deed::Say(_) => true,
        }
    }
}

/// Why a call is not even tried, in words by which a model can do better.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRefusal {
    /// What is wrong with it.
    pub kind: RefusalKind,
    /// What the model reads.
    pub text: String,
}

/// What is wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalKind {
    /// There is no such tool, or not here.
    UnknownTool,
    /// Its arguments are not what the tool takes.
    Arguments,
    /// It would reach what is out of reach, even with consent.
    OutOfReach,
    /// What it would work on is not there, or not of the kind it needs.
    NotPossible,
    /// The file it would change is no longer what was read.
    Stale,
}

impl CallRefusal {
    pub(super) fn new(kind: RefusalKind, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { kind, text }
    }

    /// How the call is recorded to have ended.
    #[must_use]
    pub fn end(&self) -> CallEnd {
        match self.kind {
            RefusalKind::OutOfReach => CallEnd::Denied,
            RefusalKind::UnknownTool
            | RefusalKind::Arguments
            | RefusalKind::NotPossible
            | RefusalKind::Stale => CallEnd::Failed,
        }
    }
}
