//! `session inject`: a message in a session that begins no turn.

use a_society_facts::Verb;
use a_society_facts::fact::session::Speaker;
use a_society_facts::id::RoleInstance;
use serde_json::json;

use super::context::Context;
use super::say::{deliver, role, text};
use super::session::{no_session, sessions};
use super::session_ref::SessionTo;
use crate::exit_code::ExitCode;
use crate::operator_error::Outcome;

/// The arguments of `session inject`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The model reads the message with its next request, and no turn begins because of it. While a turn \
is open the message waits until that turn is over; steer speaks to a role in the middle of its \
turn. A message of the system reads as a note and stays when the session is trimmed or compacted. \
A chat takes messages before the first of its person.

Examples:
  a-society session inject c3d4 --role user 'I work on Linux.'
  a-society session inject c3d4 --role assistant 'Understood: Linux only.'
  a-society session inject a1b2 --role system --whose writer - < rules.txt")]
pub(crate) struct InjectArguments {
    #[command(flatten)]
    to: SessionTo,

    /// The message; - reads it from standard input
    #[arg(value_name = "TEXT")]
    text: String,

    /// Whose the message is
    #[arg(long, value_name = "SPEAKER")]
    role: SpeakerName,

    /// The role instance that has the session; may be left out where only one has a session, as in a chat
    #[arg(long, value_name = "ROLE", value_parser = role)]
    whose: Option<RoleInstance>,
}

/// Whose a message is.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum SpeakerName {
    /// The person who talks to the role
    User,
    /// The role itself
    Assistant,
    /// Neither: a note of the system
    System,
}

impl SpeakerName {
    const fn speaker(self) -> Speaker {
        match self {
            Self::User => Speaker::User,
            Self::Assistant => Speaker::Assistant,
            Self::System => Speaker::System,
        }
    }
}

/// Puts a message into a session.
pub(crate) fn run(context: &mut Context<'_>, arguments: &InjectArguments) -> Outcome {
    let (to, role) = arguments.to.found(context, arguments.whose.as_ref())?;
    let verb = Verb::Inject {
        role: role.clone(),
        speaker: arguments.role.speaker(),
        text: text(&arguments.text)?,
    };
    let said = deliver(context, &to, verb)?;
    let views = sessions(&said.store, &said.flow)?;
    let session = views.session(&role);
    let session = session.ok_or_else(|| no_session(&role, &views))?;
    let waiting = session.injected.len();
    if context.out.is_json() {
        context.out.value(&json!({
            "project": said.flow.project,
            "flow": said.flow.flow,
            "role": role,
            "seq": said.taken.seq,
            "facts": said.taken.facts,
            "messages": session.messages.len(),
            "waiting": waiting,
        }))?;
        return Ok(ExitCode::Ok);
    }
    let words = match (said.taken.facts, waiting) {
        (0, _) => "this command was already taken, and counts once".to_owned(),
        (_, 0) => format!("{role} reads it with its next request"),
        _ => format!("a turn of {role} is open; it reads this when the next one begins"),
    };
    context.out.line(&format!("{}: {words}", said.flow))?;
    Ok(ExitCode::Ok)
}
