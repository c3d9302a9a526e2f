//! `cancel`: a flow is ended before it is done.

use a_society_facts::Verb;

use super::context::Context;
use super::say::{To, say};
use crate::operator_error::Outcome;

/// The arguments of `cancel`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Nothing of it runs any more; everything that was recorded stays, and a node can be reopened.

Examples:
  a-society cancel a1b2
  a-society cancel a1b2 --why 'The release was called off.'")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,

    /// Why, for whoever reads the flow later
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
}

/// Cancels.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let why = arguments.why.clone();
    say(context, &arguments.to, Verb::Cancel { why })
}
