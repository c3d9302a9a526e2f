//! `cancel`: a flow is ended before it is done.

use a_society_facts::Verb;

use super::context::Context;
use super::say::{To, say};
use crate::operator_error::Outcome;

/// The arguments of `cancel`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Nothing of the flow runs any more; everything recorded stays, and a node can be reopened.

Examples:
  a-society cancel a1b2
  a-society cancel a1b2 --why 'The release was called off.'")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,

    /// The reason, for later readers of the flow
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
}

/// Cancels.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let why = arguments.why.clone();
    say(context, &arguments.to, Verb::Cancel { why })
}
