//! `schema`: the JSON Schema of flow files, for editors, and of what `run --json` prints, for programs.

use a_society_orchestrator::graph::schema_text;

use super::context::Context;
use crate::exit_code::ExitCode;
use crate::operator_error::Outcome;

/// The arguments of `schema`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Editors that know YAML complete and check flow files with it. Faults that need the whole graph, \
such as a cycle, are found by check alone.

With --events it is the schema of the lines of run --json and resume --json.

Examples:
  a-society schema > flow.schema.json
  echo '# yaml-language-server: $schema=flow.schema.json' | cat - flow.yaml
  a-society schema --events > run-events.schema.json")]
pub(crate) struct Arguments {
    /// The schema of what run --json prints
    #[arg(long)]
    events: bool,
}

/// The schema of the lines of `run --json`; a test holds it against what is printed.
const EVENTS: &str = include_str!("../../docs/run-events.schema.json");

/// Prints it.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let flows = schema_text();
    let text = if arguments.events { EVENTS } else { &*flows };
    context.out.bytes(text.as_bytes())?;
    Ok(ExitCode::Ok)
}
