//! `retry`: a turn that was stopped, or failed, is taken again.

use a_society_orchestrator::control::message::Command;

use super::context::Context;
use super::say::{To, Who, say};
use crate::operator_error::Outcome;

/// The arguments of `retry`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without --node or --role the only one that can be retried is meant.

Examples:
  a-society retry a1b2
  a-society retry a1b2 --node draft")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,

    #[command(flatten)]
    who: Who,
}

/// Retries.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let to = arguments.who.whom();
    say(
        context,
        &arguments.to,
        Command::Retry { to },
        "is tried again",
    )
}
