//! `reopen`: a node that is done runs again.

use a_society_facts::Verb;
use a_society_facts::id::NodeId;

use super::context::Context;
use super::say::{To, node, say, text};
use crate::operator_error::Outcome;

/// The arguments of `reopen`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
What the node hands over then flows forward as a correction. A flow whose forward work was done \
returns to it.

Examples:
  a-society reopen a1b2 draft
  a-society reopen a1b2 draft --note 'Mention the new flag.'")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,

    /// The node
    #[arg(value_name = "NODE", value_parser = node)]
    node: NodeId,

    /// A message for its role; - reads it from standard input
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

/// Reopens.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let command = Verb::Reopen {
        node: arguments.node.clone(),
        note: arguments.note.as_deref().map(text).transpose()?,
    };
    say(context, &arguments.to, command)
}
