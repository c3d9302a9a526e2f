//! `decline`: the operator discards a staged handoff; its node waits for guidance.

use a_society_facts::Verb;
use a_society_facts::id::ApprovalId;

use super::context::Context;
use super::say::{To, say, text};
use crate::operator_error::Outcome;

/// The arguments of `decline`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Nothing is handed over. With --reason the role learns at once what to do instead; without, its \
node waits for a reply. APPROVAL may be left out if only one waits.

Examples:
  a-society decline a1b2
  a-society decline a1b2 a-4f0c19d27e33b8aa
  a-society decline a1b2 --reason 'The second chapter is still missing.'
  a-society decline a1b2 --reason - < reason.txt")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,

    /// The approval, as status shows it
    #[arg(value_name = "APPROVAL", value_parser = super::approve::approval)]
    approval: Option<ApprovalId>,

    /// What the role should do instead; it goes on with that at once. - reads it from standard input
    #[arg(long, value_name = "TEXT", value_parser = super::deny::some_words)]
    reason: Option<String>,
}

/// Declines.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let command = Verb::Decline {
        approval: arguments.approval.clone(),
        reason: arguments.reason.as_deref().map(text).transpose()?,
    };
    say(context, &arguments.to, command)
}
