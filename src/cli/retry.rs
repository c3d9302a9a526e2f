//! `retry`: a turn that was stopped, or failed, is taken again, or a request that waits for its
//! provider is tried before its time.

use a_society_facts::Verb;

use super::context::Context;
use super::say::{To, Who, say};
use crate::operator_error::Outcome;

/// The arguments of `retry`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without --node or --role the only one that can be retried is meant.

With --now nothing is taken again: a request that was refused or came to nothing, and is made again
after a while, is made at once. It counts as every other try, so that what a turn may ask of its
provider stays the same.

Examples:
  a-society retry a1b2
  a-society retry a1b2 --node draft
  a-society retry a1b2 --now")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,

    #[command(flatten)]
    who: Who,

    /// Do not wait any longer for a provider that is asked again after a while
    #[arg(long)]
    now: bool,
}

/// Retries.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let to = arguments.who.whom();
    let verb = if arguments.now {
        Verb::RetryNow { to }
    } else {
        Verb::Retry { to }
    };
    say(context, &arguments.to, verb)
}
