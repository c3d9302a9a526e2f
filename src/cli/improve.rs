//! `improve`: the operator says how roles look back when the forward work is done.

use a_society_facts::Verb;
use a_society_facts::fact::improvement::ImprovementMode;

use super::context::Context;
use super::say::{To, say};
use crate::operator_error::Outcome;

/// The arguments of `improve`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
graph: in the reverse order of the graph, each with the findings of its neighbours. parallel: all \
at once, then the owner. none: not at all.

Examples:
  a-society improve a1b2 graph
  a-society improve a1b2 none")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,

    /// How: graph, parallel or none
    #[arg(value_name = "HOW", value_parser = mode)]
    mode: ImprovementMode,
}

/// Chooses.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let mode = arguments.mode;
    say(context, &arguments.to, Verb::Improve { mode })
}

/// Reads a way to look back.
pub(crate) fn mode(text: &str) -> Result<ImprovementMode, String> {
    let known = [
        ImprovementMode::GraphBased,
        ImprovementMode::Parallel,
        ImprovementMode::None,
    ];
    let found = known
        .into_iter()
        .find(|mode| super::words::improvement(*mode) == text);
    found.ok_or_else(|| "it is graph, parallel or none".to_owned())
}
