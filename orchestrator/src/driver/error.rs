//! Why a flow cannot be driven on, or an input leads to nothing.

use a_society_facts::id::BadName;
use a_society_flow::graph::Diagnostic;
use a_society_flow::machine::{Refusal, VerbNeed};

/// Why a change cannot be proposed or applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeFault {
    /// The file may not be changed.
    #[error("{path} cannot be changed: {why}")]
    OutOfPlace {
        /// As it was written.
        path: String,
        /// Why.
        why: String,
    },
    /// The file is not what it was.
    #[error("{0} was changed after this was proposed")]
    Changed(String),
    /// Its file is being written, because the operator wants it applied.
    #[error("the change {0} is being applied")]
    BeingWritten(String),
    /// The proposal would change nothing.
    #[error("{0} says exactly this already")]
    Nothing(String),
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// The machine refused; nothing changed.
    #[error(transparent)]
    Refused(#[from] Box<Refusal>),
    /// The disk or the journal refused.
    #[error(transparent)]
    State(#[from] a_society_state::Error),
    /// A name could not be made, which means that a prefix is wrong.
    #[error(transparent)]
    Name(#[from] BadName),
    /// The flow's graph cannot be read back from its own journal.
    #[error("the flow's graph cannot be read: {0}")]
    Graph(String),
    /// No request waits there for its provider.
    #[error("nothing is waiting to be retried there. Waiting for a provider: {}", listed(.0))]
    NothingWaits(Vec<String>),
    /// Several do, and none was named.
    #[error("several requests wait for their provider: {}", listed(.0))]
    ManyTries(Vec<String>),
    /// The revised flow file is not a flow file.
    #[error("the file is not a flow file")]
    NotAFlow(Vec<Diagnostic>),
    /// A change that a finding leads to cannot be proposed or applied.
    #[error(transparent)]
    Change(#[from] ChangeFault),
    /// As many commands wait for the outside world as may.
    #[error("too many commands are under way at once")]
    Busy,
    /// The flow's task is gone.
    #[error("the flow is not driven any more")]
    Gone,
    /// The system has no thread or socket left.
    #[error("the system refused: {0}")]
    System(#[from] std::io::Error),
}

impl DriverError {
    /// The error of the disk or the journal, apart from all others.
    ///
    /// # Errors
    /// With the error itself, when it is of another kind.
    pub fn into_state(self) -> Result<a_society_state::Error, Self> {
        match self {
            Self::State(error) => Ok(error),
            error @ (Self::Refused(_)
            | Self::Name(_)
            | Self::Graph(_)
            | Self::NothingWaits(_)
            | Self::ManyTries(_)
            | Self::NotAFlow(_)
            | Self::Change(_)
            | Self::Busy
            | Self::Gone
            | Self::System(_)) => Err(error),
        }
    }
}

impl DriverError {
    /// What has to be brought for a verb.
    ///
    /// # Errors
    /// With the error itself, when it is another.
    pub(super) fn into_need(self) -> Result<VerbNeed, Self> {
        if let Self::Refused(refusal) = &self
            && let Refusal::Needs(need) = refusal.as_ref()
        {
            return Ok(need.clone());
        }
        Err(self)
    }
}

impl From<Refusal> for DriverError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

/// Whose turns they are: a flow has as many at once as run at once, which is few.
fn listed(names: &[String]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join("; ")
    }
}
