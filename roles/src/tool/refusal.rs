//! Why a call is refused.

use a_society_facts::fact::turn::CallEnd;

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
    pub(crate) fn end(&self) -> CallEnd {
        match self.kind {
            RefusalKind::OutOfReach => CallEnd::Denied,
            RefusalKind::UnknownTool
            | RefusalKind::Arguments
            | RefusalKind::NotPossible
            | RefusalKind::Stale => CallEnd::Failed,
        }
    }
}
