//! `improve`: the operator chooses whether and how a retrospective runs when the forward work is done.

use a_society_facts::Verb;
use a_society_facts::fact::improvement::ImprovementMode;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::context::Context;
use super::say::{To, say};
use super::words;
use crate::operator_error::Outcome;

/// The arguments of `improve`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
graph: in the reverse order of the graph, each with the findings of its neighbours. parallel: all \
at once, then the owner. none: no retrospective.

Examples:
  a-society improve a1b2 graph
  a-society improve a1b2 none")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,

    /// How: graph, parallel or none
    #[arg(value_name = "HOW", value_parser = mode(), hide_possible_values = true)]
    mode: ImprovementMode,
}

/// Chooses.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let mode = arguments.mode;
    say(context, &arguments.to, Verb::Improve { mode })
}

/// The ways to run a retrospective.
const MODES: [ImprovementMode; 3] = [
    ImprovementMode::GraphBased,
    ImprovementMode::Parallel,
    ImprovementMode::None,
];

/// Reads a way to run a retrospective.
pub(crate) fn mode() -> impl TypedValueParser<Value = ImprovementMode> {
    let known = PossibleValuesParser::new(MODES.map(words::improvement));
    known.try_map(|typed| {
        let mut modes = MODES.into_iter();
        let found = modes.find(|mode| words::improvement(*mode) == typed);
        found.ok_or("expected graph, parallel or none")
    })
}
