//! `unpause`: a flow that pauses goes on.

use a_society_facts::Verb;

use super::context::Context;
use super::say::{To, say};
use crate::operator_error::Outcome;

/// The arguments of `unpause`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  a-society unpause a1b2")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,
}

/// Lets it go on.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    say(context, &arguments.to, Verb::Unpause {})
}
