//! `steer`: the operator says something to a role at work.

use a_society_facts::Verb;
use a_society_facts::fact::operator::SteerWhen;
use a_society_facts::id::RoleInstance;
use a_society_operator_ui::fold::asks::open;

use super::asks;
use super::context::Context;
use super::say::{To, role, say, text};
use super::status::works_and_asks;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop};

/// The arguments of `steer`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The role reads the message with the next request of its turn, and goes on with it if it was about \
to end. With --now the answer that is arriving is cut off, what was said so far is kept, and the \
next request leaves at once, also where it was waiting for its provider; a call that runs \
finishes first, and later calls of the same answer do not run. A program or a person gets the \
message when the next turn begins, and so does a role whose turn is still to come. A message that \
no role read is reported when the flow is over. Use reply for a role that waits for you.

Examples:
  a-society steer a1b2 writer 'Keep it under two pages.'
  a-society steer a1b2 writer --now - < note.txt")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,

    /// The role instance
    #[arg(value_name = "ROLE", value_parser = role)]
    role: RoleInstance,

    /// The message; - reads it from standard input
    #[arg(value_name = "TEXT")]
    text: String,

    /// Cut off the answer that is arriving
    #[arg(long)]
    now: bool,
}

/// Steers.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let command = Verb::Steer {
        role: arguments.role.clone(),
        text: text(&arguments.text)?,
        when: if arguments.now {
            SteerWhen::Interrupt
        } else {
            SteerWhen::Queue
        },
    };
    let refused = match say(context, &arguments.to, command) {
        Err(Stop::Error(error)) if error.exit == ExitCode::Refused => error,
        outcome => return outcome,
    };
    Err(not_working(context, arguments, *refused)?.into())
}

/// The refusal of words for a role that is not at work, which says what waits in its place. Any other one stays as it is.
fn not_working(
    context: &mut Context<'_>,
    arguments: &Arguments,
    refused: OperatorError,
) -> Result<OperatorError, Stop> {
    let (store, flow) = context.flow(arguments.to.flow())?;
    let state = store.look(&flow)?.screen.flow;
    let role = &arguments.role;
    let mut running = state.running.iter();
    if state.status.is_over() || running.any(|(_, running)| running.role == *role) {
        return Ok(refused);
    }
    let asks = open(&state, &works_and_asks(&store, &flow, &state)?);
    let why = asks
        .iter()
        .map(|ask| format!("{} waits for {}", asks::who(ask), ask.wants()));
    let why: Vec<String> = why.collect();
    let answers = asks
        .first()
        .map(|ask| asks::commands(asks::short(&flow), ask));
    let mut answers = answers.unwrap_or_default().into_iter();
    // The words that were meant for the role are an answer in words.
    let Some(answer) = answers.find(|answer| !asks::is_pick(answer)) else {
        return Ok(refused);
    };
    Ok(OperatorError::new(
        ("not-working", ExitCode::Refused),
        format!("{role} is not at work, so it cannot be steered"),
        why.join("; "),
        // What is typed in its place is one word for a shell.
        answer.command.replace(" TEXT", " \"…\""),
    ))
}
