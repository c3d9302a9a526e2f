//! `retry`: a turn that was stopped, or failed, is taken again, or a request that waits for its
//! provider is tried before its time.

use a_society_facts::Verb;

use super::context::Context;
use super::say::{ToOnly, Who, say};
use crate::operator_error::Outcome;

/// The arguments of `retry`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
--node or --role may be left out if only one turn can be retried.

With --now no turn is retried: a request that was refused or failed, and would be sent again \
later, is sent at once. It counts as any other attempt.

Examples:
  a-society retry a1b2
  a-society retry a1b2 --node draft
  a-society retry a1b2 --now")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: ToOnly,

    #[command(flatten)]
    who: Who,

    /// Ask a provider at once that would be asked again later
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
    let to = arguments.to.resolved(context, "retry")?;
    say(context, &to, verb)
}
