//! `schema`: the JSON Schema of flow files, for editors.

use a_society_orchestrator::graph::schema_text;

use super::context::Context;
use crate::exit_code::ExitCode;
use crate::operator_error::Outcome;

/// The arguments of `schema`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Editors that know YAML complete and check flow files with it. Faults that need the whole graph, \
such as a cycle, are found by check alone.

Examples:
  a-society schema > flow.schema.json
  echo '# yaml-language-server: $schema=flow.schema.json' | cat - flow.yaml")]
pub(crate) struct Arguments {}

/// Prints it.
pub(crate) fn run(context: &mut Context<'_>, _: &Arguments) -> Outcome {
    context.out.bytes(schema_text().as_bytes())?;
    Ok(ExitCode::Ok)
}
