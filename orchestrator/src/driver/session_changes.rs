//! What the operator does to a session between its turns, and what takes effect at once.

use a_society_facts::fact::session::Speaker;
use a_society_facts::id::{ClientId, RoleInstance, SessionId};
use a_society_flow::machine::OperatorWords;
use a_society_flow::machine::session::SessionChange;
use a_society_roles::role::compaction::system_note;

use super::core::Core;
use super::error::DriverError;
use crate::mint;

impl Core {
    /// Records what follows from a change of a role's session, durably. A command that was carried out before changes
    /// nothing again.
    pub(super) fn change_session(
        &mut self,
        role: &RoleInstance,
        change: SessionChange,
        client: Option<ClientId>,
    ) -> Result<usize, DriverError> {
        if self.is_draining() {
            return Err(DriverError::Gone);
        }
        let before = self.flow.position().seq;
        self.apply_to_session(role, change, client)?;
        self.flow.sync()?;
        let after = self.flow.position().seq;
        Ok(usize::try_from(after - before).unwrap_or(usize::MAX))
    }

    /// Puts a message into the session of a role.
    pub(super) fn inject(
        &mut self,
        role: &RoleInstance,
        speaker: Speaker,
        text: &str,
        client: Option<ClientId>,
    ) -> Result<usize, DriverError> {
        let note;
        let text = match speaker {
            Speaker::User | Speaker::Assistant => text,
            Speaker::System => {
                note = system_note(text);
                &note
            }
        };
        let change = SessionChange::Inject {
            speaker,
            words: OperatorWords {
                text: self.keep_words(text)?,
                message: mint::name(self.mint.as_mut(), "m")?,
            },
            opens: self.new_session(role)?,
        };
        self.change_session(role, change, client)
    }

    /// Lets the session of a role begin anew.
    pub(super) fn reset_session(
        &mut self,
        role: &RoleInstance,
        client: Option<ClientId>,
    ) -> Result<usize, DriverError> {
        let change = SessionChange::Reset {
            archive: self.next_archive('r'),
            session: self.new_incarnation()?,
        };
        self.change_session(role, change, client)
    }

    /// Opens a chat that was closed.
    pub(super) fn open_session(
        &mut self,
        role: &RoleInstance,
        client: Option<ClientId>,
    ) -> Result<usize, DriverError> {
        let change = SessionChange::Open {
            archive: self.next_archive('r'),
            session: self.new_incarnation()?,
        };
        self.change_session(role, change, client)
    }

    /// The name of an archive that is made now. No other record has its number.
    pub(super) fn next_archive(&self, kind: char) -> String {
        format!("{kind}{}", self.flow.position().seq + 1)
    }

    fn new_incarnation(&mut self) -> Result<SessionId, DriverError> {
        let at = self.flow.now();
        Ok(mint::uuid7(self.mint.as_mut(), at)?)
    }
}
