//! `approve`: the operator lets a staged handoff through.

use a_society_facts::Verb;
use a_society_facts::id::ApprovalId;

use super::context::Context;
use super::say::{To, say};
use crate::operator_error::Outcome;

/// The arguments of `approve`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The handoff goes through exactly as it was emitted. APPROVAL may be left out if only one waits.

Examples:
  a-society approve a1b2
  a-society approve a1b2 a-4f0c19d27e33b8aa")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,

    /// The approval, as status shows it
    #[arg(value_name = "APPROVAL", value_parser = approval)]
    approval: Option<ApprovalId>,
}

/// Approves.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let approval = arguments.approval.clone();
    say(context, &arguments.to, Verb::Approve { approval })
}

/// Reads the name of an approval.
pub(crate) fn approval(text: &str) -> Result<ApprovalId, String> {
    text.parse()
        .map_err(|bad: a_society_facts::id::BadName| bad.to_string())
}
