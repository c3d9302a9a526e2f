//! `rebuild`: the views of a flow, folded anew from its journal.

use serde_json::json;

use super::context::Context;
use super::report;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome};
use crate::text::{count, plain};

/// The arguments of `rebuild`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Views are flow.json and each role's transcript.json and feed.json. They are caches: delete one, \
rebuild it, and it has the same bytes. The journal is opened for writing, which also recovers it.

Examples:
  a-society rebuild a1b2
  a-society rebuild demo/a1b2 --json")]
pub(crate) struct Arguments {
    /// The flow
    #[arg(value_name = "FLOW")]
    flow: String,
}

/// Rebuilds them.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let (store, flow) = context.flow(&arguments.flow)?;
    let seen = store.look(&flow)?;
    if seen.end.is_none() && seen.damage.is_none() {
        // Opening a folder in which nothing was ever recorded would begin a journal.
        let empty = ("flow-empty", ExitCode::Refused);
        let what = format!("{flow} has no views");
        let why = "nothing was ever recorded in it";
        return Err(OperatorError::new(empty, what, why, "a-society ls --all").into());
    }
    let (mut opened, report) = store.open(&flow)?;
    let differed = opened.rebuild_views()?;
    let views = a_society_state::views::names(opened.views()).len();
    opened.close()?;
    if context.out.is_json() {
        context.out.value(&json!({
            "project": flow.project,
            "flow": flow.flow,
            "views": views,
            "differed": differed,
            "recovered": report::opened(&report),
        }))?;
        return Ok(ExitCode::Ok);
    }
    for said in report::opened(&report) {
        context.out.note(&plain(&said));
    }
    let written = count(views, "view");
    if differed.is_empty() {
        context.out.line(&format!(
            "{flow}: {written} written; all were what they should be"
        ))?;
    } else {
        context.out.line(&format!(
            "{flow}: {written} written; these had been missing or different:"
        ))?;
        for path in &differed {
            context.out.line(&format!("  {}", plain(path)))?;
        }
    }
    Ok(ExitCode::Ok)
}
