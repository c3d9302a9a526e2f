//! `retry`: a turn that was stopped, or failed, is taken again, or a request that waits for its
//! provider is tried before its time.

use a_society_orchestrator::control::message::{Command, Taken};

use super::context::Context;
use super::say::{To, Who, deliver, say, tell};
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
    to: To,

    #[command(flatten)]
    who: Who,

    /// Ask a provider at once that would be asked again later
    #[arg(long)]
    now: bool,
}

/// Retries.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let to = arguments.who.whom();
    if !arguments.now {
        let retry = Command::Retry { to };
        return say(context, &arguments.to, retry, "is tried again");
    }
    let said = deliver(context, &arguments.to, Command::RetryNow { to })?;
    let words = |_: Taken| "its provider is asked now";
    tell(context, &said, words)
}
