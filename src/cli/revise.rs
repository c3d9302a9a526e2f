//! `revise`: a flow walks the graph of another file from now on.

use std::path::PathBuf;

use a_society_orchestrator::control::message::Command;

use super::context::Context;
use super::flow_files::read_flow;
use super::say::{To, say};
use crate::operator_error::Outcome;

/// The arguments of `revise`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The new graph must have a place for everything that happened and is happening; if it has not, every
reason is said and nothing changes.

Examples:
  a-society check flow.yaml && a-society revise a1b2 flow.yaml")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,

    /// The flow file; - reads it from standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Revises.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let source = read_flow(&mut context.out, &arguments.file)?.source;
    say(
        context,
        &arguments.to,
        Command::Revise { source },
        "revised",
    )
}
