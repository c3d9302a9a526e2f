//! `graph`: the graph of a flow file, for people and for programs that draw.

use std::path::PathBuf;

use a_society_orchestrator::graph::{to_dot, to_mermaid, to_text};
use serde_json::json;

use super::context::Context;
use super::flow_files::{Target, read_target};
use crate::exit_code::ExitCode;
use crate::operator_error::Outcome;
use crate::text::plain;

/// The forms a graph is shown in.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// One line a node, in the order of the work
    Text,
    /// A Mermaid flowchart
    Mermaid,
    /// A Graphviz digraph
    Dot,
}

/// The arguments of `graph`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  a-society graph flow.yaml
  a-society graph my-project
  a-society graph flow.yaml --format mermaid
  a-society graph flow.yaml --format dot | dot -Tsvg > flow.svg")]
pub(crate) struct Arguments {
    /// The flow file or the project's folder; - reads a file from standard input
    #[arg(value_name = "FILE|PROJECT")]
    file: PathBuf,

    /// How it is shown
    #[arg(long, short, value_enum, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// Shows it.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let (Target::File(file) | Target::Project(file, _)) =
        read_target(&mut context.out, &arguments.file, "graph")?;
    let (word, text) = match arguments.format {
        Format::Text => ("text", to_text(&file.graph)),
        Format::Mermaid => ("mermaid", to_mermaid(&file.graph)),
        Format::Dot => ("dot", to_dot(&file.graph)),
    };
    if context.out.is_json() {
        context
            .out
            .value(&json!({ "format": word, "graph": text }))?;
    } else {
        for line in text.lines() {
            context.out.line(&plain(line))?;
        }
    }
    Ok(ExitCode::Ok)
}
