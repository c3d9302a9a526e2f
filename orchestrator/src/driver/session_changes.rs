//! What the operator does to a session between its turns, and what takes effect at once.

use a_society_facts::fact::session::Speaker;
use a_society_facts::id::{ClientId, RoleInstance};
use a_society_flow::machine::session::SessionChange;
use a_society_flow::machine::{OperatorWords, SessionWish};
use a_society_roles::role::compaction::system_note;

use super::error::DriverError;
use super::pen::FlowPen;

/// Carries out what the operator wants of a role's session, durably. A command that was carried out before changes nothing
/// again.
///
/// # Errors
/// When the session does not take it, or when the journal refuses.
pub(super) fn carry_out(
    pen: &mut FlowPen,
    role: &RoleInstance,
    wish: SessionWish,
    client: Option<ClientId>,
) -> Result<usize, DriverError> {
    let change = match wish {
        SessionWish::Restore { archive } => SessionChange::Restore { archive },
        SessionWish::Inject { speaker, text } => SessionChange::Inject {
            speaker,
            words: injected(pen, speaker, &text)?,
            opens: pen.new_session(role)?,
        },
        SessionWish::Trim { keep } => SessionChange::Trim {
            archive: pen.next_archive('t'),
            keep,
        },
        SessionWish::Open => SessionChange::Open {
            archive: pen.next_archive('r'),
            session: pen.new_incarnation()?,
        },
        SessionWish::Reset => SessionChange::Reset {
            archive: pen.next_archive('r'),
            session: pen.new_incarnation()?,
        },
    };
    pen.durably(|pen| pen.apply_to_session(role, change, client))
}

/// A message that the operator puts into a session.
fn injected(pen: &mut FlowPen, speaker: Speaker, text: &str) -> Result<OperatorWords, DriverError> {
    let note;
    let text = match speaker {
        Speaker::User | Speaker::Assistant => text,
        Speaker::System => {
            note = system_note(text);
            &note
        }
    };
    Ok(OperatorWords {
        text: pen.keep_words(text)?,
        message: pen.name("m")?,
    })
}
