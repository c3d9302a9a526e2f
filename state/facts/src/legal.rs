//! What may follow what: judged before a fact is appended, and again when a journal is opened.

use crate::fact::Fact;
use crate::view::FlowState;

/// Why a fact may not follow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Illegal {
    /// The flow does not exist.
    #[error("the flow is not created yet")]
    NotCreated,
}

/// Whether a fact may follow.
///
/// # Errors
/// When it may not, with the reason.
pub fn legal(state: &FlowState, fact: &Fact) -> Result<(), Illegal> {
    match fact {
        Fact::NodeClaimed(_) if !state.is_created() => Err(Illegal::NotCreated),
        _ => Ok(()),
    }
}
