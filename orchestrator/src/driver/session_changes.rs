//! What the operator does to a session between its turns, and what takes effect at once.

use a_society_facts::Verb;
use a_society_facts::fact::session::Speaker;
use a_society_facts::id::ClientId;
use a_society_flow::machine::session::SessionChange;
use a_society_flow::machine::{OperatorWords, Refusal, VerbNeed};
use a_society_roles::role::compaction::system_note;

use super::error::DriverError;
use super::pen::FlowPen;

/// Carries out what the operator wants of a role's session, durably. A command that was carried out before changes nothing
/// again.
///
/// # Errors
/// When the session does not take it, when the verb changes no session, or when the journal refuses.
pub(super) fn carry_out(
    pen: &mut FlowPen,
    verb: Verb,
    client: Option<ClientId>,
) -> Result<usize, DriverError> {
    let (role, change) = if let Verb::Restore { role, archive } = verb {
        (role, SessionChange::Restore { archive })
    } else if let Verb::Inject {
        role,
        speaker,
        text,
    } = verb
    {
        let words = injected(pen, speaker, &text)?;
        let opens = pen.new_session(&role)?;
        let change = SessionChange::Inject {
            speaker,
            words,
            opens,
        };
        (role, change)
    } else if let Verb::Trim { role, keep } = verb {
        let archive = pen.next_archive('t');
        (role, SessionChange::Trim { archive, keep })
    } else if let Verb::Open { role } = verb {
        let (archive, session) = (pen.next_archive('r'), pen.new_incarnation()?);
        (role, SessionChange::Open { archive, session })
    } else if let Verb::Reset { role } = verb {
        let (archive, session) = (pen.next_archive('r'), pen.new_incarnation()?);
        (role, SessionChange::Reset { archive, session })
    } else {
        return Err(Refusal::Needs(VerbNeed::Driver).into());
    };
    pen.durably(|pen| pen.apply_to_session(&role, change, client))
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
