//! `decline`: the operator discards a staged handoff; its node waits for guidance.

use a_society_facts::id::ApprovalId;
use a_society_orchestrator::control::message::Command;

use super::context::Context;
use super::say::{To, say};
use crate::operator_error::Outcome;

/// The arguments of `decline`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Nothing is handed over, and the node waits for a reply that says what to do instead. Without
APPROVAL the only one that waits is meant.

Examples:
  a-society decline a1b2
  a-society decline a1b2 a-4f0c19d27e33b8aa")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,

    /// The approval, as status shows it
    #[arg(value_name = "APPROVAL", value_parser = super::approve::approval)]
    approval: Option<ApprovalId>,
}

/// Declines.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let approval = arguments.approval.clone();
    say(
        context,
        &arguments.to,
        Command::Decline { approval },
        "declined",
    )
}
