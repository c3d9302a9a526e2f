//! `allow`: the operator lets a call run that asks for consent.

use a_society_facts::Verb;
use a_society_facts::id::ConsentId;

use super::context::Context;
use super::say::{To, say};
use crate::operator_error::Outcome;

/// The arguments of `allow`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The call runs exactly as it was shown. REQUEST may be left out if only one call asks. With \
--for-the-flow similar calls are not asked about again in this flow: all edits of files, exactly \
this command, or exactly this tool of a server.

Examples:
  a-society allow a1b2
  a-society allow a1b2 q-4f0c19d27e33b8aa
  a-society allow a1b2 --for-the-flow")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,

    /// The request, as status shows it
    #[arg(value_name = "REQUEST", value_parser = request)]
    consent: Option<ConsentId>,

    /// Also allow similar calls for the rest of this flow
    #[arg(long)]
    for_the_flow: bool,
}

/// Allows.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let command = Verb::Allow {
        consent: arguments.consent.clone(),
        action: None,
        for_the_flow: arguments.for_the_flow,
    };
    say(context, &arguments.to, command)
}

/// Reads the name of a request for consent.
pub(crate) fn request(text: &str) -> Result<ConsentId, String> {
    text.parse()
        .map_err(|bad: a_society_facts::id::BadName| bad.to_string())
}
