//! `session trim` and `session reset`: leaving out the oldest messages, or all.

use a_society_facts::Verb;
use a_society_facts::id::RoleInstance;
use a_society_facts::view::session::{Archive, ArchiveKind, SessionView};
use serde_json::json;

use super::context::Context;
use super::say::{Said, deliver, role};
use super::session::{no_session, of_archive, sessions};
use super::session_ref::SessionTo;
use crate::exit_code::ExitCode;
use crate::operator_error::{Outcome, Stop};
use crate::text::plain;

/// The arguments of `session trim`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The last N messages stay, and more where that is needed: the last message of a person always \
stays, a call stays with its results, and a node that is under way keeps what it was given. \
Everything else is archived, with nothing in its place; no model is asked. A session with an open \
turn is left alone. The system prompt is no message and always stays.

Examples:
  a-society session trim a1b2 writer --keep 12
  a-society session trim c3d4 --keep 4 --json | jq .messages")]
pub(crate) struct TrimArguments {
    #[command(flatten)]
    to: SessionTo,

    /// The role instance; may be left out where only one has a session, as in a chat
    #[arg(value_name = "ROLE", value_parser = role)]
    role: Option<RoleInstance>,

    /// How many of the last messages stay at least
    #[arg(long, value_name = "N")]
    keep: u64,
}

/// The arguments of `session reset`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The session begins anew under the same key: a model sees nothing that was said before, and files \
have to be read again before they are changed. What was said is archived and can be restored, and \
turns, tokens and cost count on. A role of a flow is reset between nodes only, because a node \
under way needs what it was given.

Examples:
  a-society session reset c3d4
  a-society session reset a1b2 writer --json | jq -r .archive.archive")]
pub(crate) struct ResetArguments {
    #[command(flatten)]
    to: SessionTo,

    /// The role instance; may be left out where only one has a session, as in a chat
    #[arg(value_name = "ROLE", value_parser = role)]
    role: Option<RoleInstance>,
}

/// Leaves the oldest messages of a session out.
pub(crate) fn trim(context: &mut Context<'_>, arguments: &TrimArguments) -> Outcome {
    let (to, role) = arguments.to.found(context, arguments.role.as_ref())?;
    let verb = Verb::Trim {
        role: role.clone(),
        keep: arguments.keep,
    };
    let said = deliver(context, &to, verb)?;
    cut(context, &said, &role, ArchiveKind::Trim)
}

/// Lets a session begin anew.
pub(crate) fn reset(context: &mut Context<'_>, arguments: &ResetArguments) -> Outcome {
    let (to, role) = arguments.to.found(context, arguments.role.as_ref())?;
    let verb = Verb::Reset { role: role.clone() };
    let said = deliver(context, &to, verb)?;
    cut(context, &said, &role, ArchiveKind::Reset)
}

/// What is left, and where the rest is.
fn cut(
    context: &mut Context<'_>,
    said: &Said,
    role: &RoleInstance,
    kind: ArchiveKind,
) -> Result<ExitCode, Stop> {
    let views = sessions(&said.store, &said.flow)?;
    let session = views.session(role);
    let session = session.ok_or_else(|| no_session(role, &views))?;
    let made = session.archives.iter().rfind(|kept| kept.kind == kind);
    let made = made.filter(|kept| said.taken.facts > 0 && kept.seq <= said.taken.seq);
    if context.out.is_json() {
        context.out.value(&json!({
            "project": said.flow.project,
            "flow": said.flow.flow,
            "role": role,
            "seq": said.taken.seq,
            "facts": said.taken.facts,
            "messages": session.messages.len(),
            "session": session.session_id,
            "generation": session.generation,
            "archive": made.map(|kept| of_archive(role, kept)),
        }))?;
        return Ok(ExitCode::Ok);
    }
    let words = words(session, role, made);
    context.out.line(&format!("{}: {words}", said.flow))?;
    Ok(ExitCode::Ok)
}

fn words(session: &SessionView, role: &RoleInstance, made: Option<&Archive>) -> String {
    let left = session.messages.len();
    let Some(kept) = made else {
        return format!("all {left} messages of {role} stay");
    };
    let (count, name) = (kept.archived_transcript_history.len(), plain(&kept.id));
    match kept.kind {
        ArchiveKind::Reset => format!(
            "the session of {role} begins anew; its {count} messages are archived as {name}"
        ),
        ArchiveKind::Trim | ArchiveKind::Compact => {
            format!("{left} messages of {role} stay; {count} are archived as {name}")
        }
    }
}
