//! What stops a flow that goes nowhere.

/// The bounds of a flow and of its turns, as the operator's configuration says them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfigBounds {
    /// The tokens that a flow may use, unless its file or the operator says otherwise; none if absent.
    pub tokens: Option<u64>,
    /// The answers of one turn.
    pub answers: u32,
    /// How often the same call may have the same result in a turn.
    pub same_call: u32,
}

impl Default for ConfigBounds {
    fn default() -> Self {
        Self {
            // Hours of work of several roles. What uses more asks the operator once.
            tokens: Some(20_000_000),
            // A role that needs more is not getting anywhere, and stops with an error.
            answers: 200,
            // The model is warned at the third call; a model that asks twice more will not stop by itself.
            same_call: 5,
        }
    }
}
