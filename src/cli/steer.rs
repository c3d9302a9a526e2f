//! `steer`: the operator says something to a role at work.

use a_society_facts::fact::operator::SteerWhen;
use a_society_facts::id::RoleInstance;
use a_society_orchestrator::control::message::Command;

use super::context::Context;
use super::say::{To, role, say, text};
use crate::operator_error::Outcome;

/// The arguments of `steer`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The role hears it at the beginning of its next turn. With --now its present turn is cut off for
it. A role that waits for you is answered with reply instead.

Examples:
  a-society steer a1b2 writer 'Keep it under two pages.'
  a-society steer a1b2 writer --now - < note.txt")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,

    /// The role instance
    #[arg(value_name = "ROLE", value_parser = role)]
    role: RoleInstance,

    /// What it says; - reads it from standard input
    #[arg(value_name = "TEXT")]
    text: String,

    /// Cut its present turn off
    #[arg(long)]
    now: bool,
}

/// Steers.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let command = Command::Steer {
        role: arguments.role.clone(),
        text: text(&arguments.text)?,
        when: if arguments.now {
            SteerWhen::Interrupt
        } else {
            SteerWhen::Queue
        },
    };
    say(context, &arguments.to, command, "said")
}
