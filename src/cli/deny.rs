//! `deny`: the operator denies a call its consent.

use a_society_facts::id::ConsentId;
use a_society_orchestrator::control::message::Command;

use super::allow::request;
use super::context::Context;
use super::say::{To, say};
use crate::operator_error::Outcome;

/// The arguments of `deny`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The call does not run, nor does anything else of the same answer; the role then waits for your
guidance. Without REQUEST the only one that asks is meant.

Examples:
  a-society deny a1b2
  a-society deny a1b2 q-4f0c19d27e33b8aa
  a-society reply a1b2 'Do it without the network.'")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,

    /// The request, as status shows it
    #[arg(value_name = "REQUEST", value_parser = request)]
    consent: Option<ConsentId>,
}

/// Denies.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let command = Command::Deny {
        consent: arguments.consent.clone(),
        action: None,
    };
    say(context, &arguments.to, command, "denied")
}
