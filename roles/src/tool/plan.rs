//! The plan of a call: its effect, before anything happens.

use a_society_facts::Hash;
use a_society_facts::fact::turn::{Effect, FileChange};

use super::deed::Deed;
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
            | Deed::Sessions(_)
            | Deed::Send(_)
            | Deed::Say(_) => true,
        }
    }
}
