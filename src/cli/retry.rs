//! `retry`: a turn that was stopped, or failed, is taken again, or a request that waits for its
//! provider is tried before its time.

use a_society_orchestrator::control::message::{Command, Taken};

use super::context::Context;
use super::say::{To, Who, deliver, say, tell};
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
    if !arguments.now {
        let retry = Command::Retry { to };
        return say(context, &arguments.to, retry, "is tried again");
    }
    let said = deliver(context, &arguments.to, Command::RetryNow { to })?;
    let words = |_: Taken| "its provider is asked now";
    tell(context, &said, words)
}
