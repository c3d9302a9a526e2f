//! `feedback`: the operator says whether a feedback report is written.

use a_society_facts::Verb;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::context::Context;
use super::say::{To, say};
use crate::operator_error::Outcome;

/// The arguments of `feedback`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  a-society feedback a1b2 yes
  a-society feedback a1b2 no")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,

    /// Whether: yes or no
    #[arg(value_name = "yes|no", value_parser = yes_or_no(), hide_possible_values = true, action = clap::ArgAction::Set)]
    granted: bool,
}

/// Decides.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let granted = arguments.granted;
    say(context, &arguments.to, Verb::Feedback { granted })
}

/// Reads a yes or a no.
pub(crate) fn yes_or_no() -> impl TypedValueParser<Value = bool> {
    PossibleValuesParser::new(["yes", "no"]).map(|typed| typed == "yes")
}
