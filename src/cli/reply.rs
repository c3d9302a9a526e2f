//! `reply`: the operator answers a node or a role that waits.

use a_society_facts::Verb;

use super::context::Context;
use super::say::{To, Who, say, text};
use crate::operator_error::Outcome;

/// The arguments of `reply`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A node that waits takes the answer and goes on: at once if a process drives the flow, otherwise \
when it is resumed. Without --node or --role the answer goes to the only one that waits.

Examples:
  a-society reply a1b2 'Use the blue one.'
  a-society reply a1b2 --node review 'Good, go on.'
  a-society reply a1b2 --role owner - < answer.txt")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,

    #[command(flatten)]
    who: Who,

    /// The answer; - reads it from standard input
    #[arg(value_name = "TEXT")]
    text: String,
}

/// Answers.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let command = Verb::Reply {
        to: arguments.who.whom(),
        text: text(&arguments.text)?,
        asked: None,
    };
    say(context, &arguments.to, command)
}
