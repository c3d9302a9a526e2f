//! What the tools read other sessions from.
//!
//! The driver knows which sessions there are and which of them a role may see. It gives the tools a reader that is
//! bound to the role that asks.

use std::fmt;

use super::arguments::{HistoryAsked, SessionsAsked};

/// The sessions that one role may see.
pub trait ReadSessions: fmt::Debug + Send + Sync {
    /// The sessions, as JSON.
    ///
    /// # Errors
    /// Says in words, for the model, what it asked wrongly or why nothing can be read.
    fn list(&self, asked: &SessionsAsked) -> Result<String, String>;

    /// Messages of one session, as JSON.
    ///
    /// # Errors
    /// Says in words, for the model, what it asked wrongly or why nothing can be read.
    fn history(&self, asked: &HistoryAsked) -> Result<String, String>;
}
