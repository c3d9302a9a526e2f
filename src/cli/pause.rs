//! `pause`: nothing new is started until the flow is let go on.

use a_society_facts::Verb;

use super::context::Context;
use super::say::{To, say};
use crate::operator_error::Outcome;

/// The arguments of `pause`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Running turns finish. The flow goes on with unpause.

Examples:
  a-society pause a1b2")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,
}

/// Pauses.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    say(context, &arguments.to, Verb::Pause {})
}
