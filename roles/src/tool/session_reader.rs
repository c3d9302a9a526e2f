//! Through what the tools read other sessions and send to them.
//!
//! The driver knows which sessions there are and which of them a role may see. It gives the tools a reader that is
//! bound to the flow whose role asks.

use std::fmt;

use a_society_base::stop::StopSignal;
use a_society_facts::id::{CallId, RoleInstance};

use super::arguments::{HistoryAsked, SendAsked, SessionsAsked};

/// The sessions that the roles of one flow may see.
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

    /// Sends a message of a role, and gives its run as JSON: how far it is, and the answer. A message that is sent again
    /// by the same call counts once. The wait for the answer ends with the turn.
    ///
    /// # Errors
    /// Says in words, for the model, why nothing was sent.
    fn send(
        &self,
        asked: &SendAsked,
        role: &RoleInstance,
        call: &CallId,
        stop: &StopSignal,
    ) -> Result<String, String>;
}
