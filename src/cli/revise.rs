//! `revise`: a flow walks the graph of another file from now on.

use std::path::PathBuf;

use a_society_facts::Verb;
use a_society_orchestrator::revision::judge;
use serde_json::json;

use super::context::Context;
use super::flow_files::read_flow;
use super::say::{To, from_fault, from_run, project_folder, say};
use crate::exit_code::ExitCode;
use crate::operator_error::Outcome;
use crate::text::plain;

/// The arguments of `revise`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The new graph must have a place for everything that happened and is happening; otherwise every \
reason is reported and nothing changes. --dry-run reports the changes beforehand. Budgets in the \
file are ignored; use a-society budget.

Examples:
  a-society revise a1b2 flow.yaml --dry-run
  a-society check flow.yaml && a-society revise a1b2 flow.yaml")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,

    /// The flow file; - reads it from standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Report what would change, or why it would be refused, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// Revises.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let source = read_flow(&mut context.out, &arguments.file, "revise FLOW")?.source;
    if arguments.dry_run {
        return foretold(context, arguments, source);
    }
    say(context, &arguments.to, Verb::Revise { source })
}

/// Prints what it would change.
fn foretold(context: &mut Context<'_>, arguments: &Arguments, source: String) -> Outcome {
    let (store, flow) = context.flow(arguments.to.flow())?;
    let project = project_folder(&store, &flow.project);
    let judged = judge(&store, &flow, &project, source).map_err(from_run)?;
    let fits = judged.refused.is_none();
    if context.out.is_json() {
        context.out.value(&json!({
            "dry_run": true,
            "project": flow.project,
            "flow": flow.flow,
            "fits": fits,
            "changes": judged.changes,
            "reasons": judged.reasons,
            "diagnostics": judged.diagnostics,
        }))?;
    } else {
        for change in &judged.changes {
            context.out.line(&plain(change))?;
        }
        if judged.changes.is_empty() {
            context.out.line("nothing changes")?;
        }
    }
    match judged.refused {
        Some(fault) => Err(from_fault(fault).into()),
        None => Ok(ExitCode::Ok),
    }
}
