//! `session close` and `session open`: a chat that takes no messages, and one that takes them again.

use std::time::Duration;

use a_society_facts::Verb;
use a_society_facts::id::RoleInstance;
use a_society_facts::view::session::ArchiveKind;
use a_society_orchestrator::control::client::ObeyedBy;
use a_society_state::watch::FolderWatch;
use serde_json::json;

use super::asks::short;
use super::context::Context;
use super::say::{Said, deliver};
use super::session::{no_session, of_archive, sessions};
use super::session_ref::SessionTo;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop};
use crate::text::plain;

/// How long the end of a turn is waited for that close stops.
const STOPPED_US_MAX: u64 = 15 * 1_000_000;

/// How often it is looked for while nothing is written: the system may miss a change.
const LOOK: Duration = Duration::from_millis(500);

/// The arguments of `session close`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A chat that is closed takes no messages, and everything that it holds is kept. While a turn is \
open it is not closed; with --force the turn is stopped, and its end is waited for, 15 seconds at \
most. To close a chat twice changes nothing. A session of a flow is not closed, since it ends with \
the flow.

Examples:
  a-society session close c3d4
  a-society session close c3d4 --force --json | jq .stopped")]
pub(crate) struct CloseArguments {
    #[command(flatten)]
    to: SessionTo,

    /// Stop the turn that is open
    #[arg(long)]
    force: bool,
}

/// The arguments of `session open`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The chat takes messages again. What was said before it was closed is archived, and the model does \
not see it; restore puts it back. To open a chat that is not closed changes nothing.

Examples:
  a-society session open c3d4
  a-society session open c3d4 --json
  a-society session archives c3d4 assistant")]
pub(crate) struct OpenArguments {
    #[command(flatten)]
    to: SessionTo,
}

/// Closes a chat.
pub(crate) fn close(context: &mut Context<'_>, arguments: &CloseArguments) -> Outcome {
    let (to, role) = arguments.to.found(context, None)?;
    let force = arguments.force;
    let verb = Verb::Close {
        role: role.clone(),
        force,
    };
    let said = deliver(context, &to, verb)?;
    // Without a driver the turn is one that a crash cut off, and no wait ends it.
    let is_driven = said.heard == ObeyedBy::ByDriver;
    let is_stopped = waits(&said, &role, if is_driven { STOPPED_US_MAX } else { 0 })?;
    if context.out.is_json() {
        context.out.value(&json!({
            "project": said.flow.project,
            "flow": said.flow.flow,
            "role": role,
            "seq": said.taken.seq,
            "facts": said.taken.facts,
            "stopped": is_stopped,
        }))?;
    } else {
        let name = short(&said.flow);
        let words = if said.taken.facts == 0 {
            "it is closed already"
        } else {
            "closed"
        };
        let line = format!(
            "{}: {words}; to go on: a-society session open {name}",
            said.flow
        );
        context.out.line(&line)?;
    }
    if is_stopped {
        return Ok(ExitCode::Ok);
    }
    let name = short(&said.flow);
    let (what, why, hint) = if is_driven {
        (
            format!("the turn of {role} did not end within 15 seconds"),
            "the chat is closed, and the turn will end, or its process has to be ended",
            format!("a-society status {name}"),
        )
    } else {
        (
            format!("a turn of {role} that was cut off is open"),
            "the chat is closed, and no process drives it, so that the turn ends when it is resumed",
            format!("a-society resume {name}"),
        )
    };
    Err(OperatorError::new(("turn-open", ExitCode::Failed), what, why, hint).into())
}

/// Waits until no turn of a role is open, for so long at most. Whether none is.
fn waits(said: &Said, role: &RoleInstance, most_us: u64) -> Result<bool, Stop> {
    let watch = FolderWatch::new().ok();
    let watched = said.store.place(&said.flow).watched();
    let watch = watch.filter(|watch| watch.add(&watched).is_ok());
    let clock = &said.store.ground().clock;
    let began = clock.elapsed_us();
    loop {
        let seen = said.store.look(&said.flow)?;
        if seen.screen.flow.main_turn_of(role).is_none() {
            return Ok(true);
        }
        if clock.elapsed_us().saturating_sub(began) >= most_us {
            return Ok(false);
        }
        let waited = watch.as_ref().map(|watch| watch.wait(LOOK));
        if !matches!(waited, Some(Ok(_))) {
            std::thread::sleep(LOOK);
        }
    }
}

/// Opens a chat that was closed.
pub(crate) fn open(context: &mut Context<'_>, arguments: &OpenArguments) -> Outcome {
    let (to, role) = arguments.to.found(context, None)?;
    let said = deliver(context, &to, Verb::Open { role: role.clone() })?;
    let views = sessions(&said.store, &said.flow)?;
    let session = views.session(&role);
    let session = session.ok_or_else(|| no_session(&role, &views))?;
    let mut archives = session.archives.iter().rev();
    let made = archives.find(|kept| kept.kind == ArchiveKind::Reset);
    let made = made.filter(|_| said.taken.facts > 0);
    if context.out.is_json() {
        context.out.value(&json!({
            "project": said.flow.project,
            "flow": said.flow.flow,
            "role": role,
            "seq": said.taken.seq,
            "facts": said.taken.facts,
            "session": session.session_id,
            "generation": session.generation,
            "archive": made.map(|kept| of_archive(&role, kept)),
        }))?;
        return Ok(ExitCode::Ok);
    }
    let name = short(&said.flow);
    let words = match made {
        None => "it is open".to_owned(),
        Some(kept) => format!(
            "opened; what was said before is archived: a-society session restore {name} {role} {}",
            plain(&kept.id)
        ),
    };
    context.out.line(&format!("{}: {words}", said.flow))?;
    Ok(ExitCode::Ok)
}
