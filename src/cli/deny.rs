//! `deny`: the operator denies a call its consent.

use a_society_facts::Verb;
use a_society_facts::id::ConsentId;

use super::allow::request;
use super::context::Context;
use super::say::{To, say, text};
use crate::operator_error::Outcome;

/// The arguments of `deny`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The call does not run, nor does anything else of the same answer. With --reason the role reads \
your text in place of the call's result and goes on at once; without, it waits for your reply. \
REQUEST may be left out if only one call asks.

Examples:
  a-society deny a1b2
  a-society deny a1b2 q-4f0c19d27e33b8aa
  a-society deny a1b2 --reason 'Do it without the network.'
  a-society deny a1b2 --reason - < reason.txt")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,

    /// The request, as status shows it
    #[arg(value_name = "REQUEST", value_parser = request)]
    consent: Option<ConsentId>,

    /// What the role should do instead; it goes on with that at once. - reads it from standard input
    #[arg(long, value_name = "TEXT", value_parser = some_words)]
    reason: Option<String>,
}

/// Denies.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let command = Verb::Deny {
        consent: arguments.consent.clone(),
        action: None,
        reason: arguments.reason.as_deref().map(text).transpose()?,
    };
    say(context, &arguments.to, command)
}

/// Reads words that say something.
pub(crate) fn some_words(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("it says nothing; leave it out to say nothing".to_owned());
    }
    Ok(text.to_owned())
}
