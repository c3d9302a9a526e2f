//! `fork`: a new flow that begins with a part of another.

use a_society_facts::id::Seq;
use a_society_orchestrator::fork::{PlannedFork, Wish, make, plan};
use a_society_orchestrator::mint::SystemMint;
use serde_json::json;

use super::asks;
use super::context::Context;
use super::say::{from_run, goes_on, project_folder};
use crate::exit_code::ExitCode;
use crate::operator_error::{Outcome, Stop};
use crate::text::plain;

/// The arguments of `fork`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The fork shares the flow's journal up to record SEQ and goes on by itself from there; the \
original does not change, may go on meanwhile, and may be removed later. Sessions and the record \
folder are as they were at that record. A turn that was under way goes on as after a crash: a \
call of unknown outcome is not run again by itself. --dry-run prints what is carried over and \
what is not. log prints the records with their numbers.

Examples:
  a-society fork a1b2 --dry-run
  a-society fork a1b2 --at 120 --name 'With the other model'
  a-society resume \"$(a-society fork a1b2 --at 120 --json | jq -r .flow)\"")]
pub(crate) struct Arguments {
    /// The flow
    #[arg(value_name = "FLOW")]
    flow: String,

    /// The last record that is shared; the latest if absent
    #[arg(long, value_name = "SEQ")]
    at: Option<Seq>,

    /// The fork's title; that of the flow if absent
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,

    /// Print the plan, and create nothing
    #[arg(long)]
    dry_run: bool,
}

/// Forks it.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let (store, flow) = context.flow(&arguments.flow)?;
    let project = project_folder(&store, &flow.project);
    let wish = Wish {
        at: arguments.at,
        name: arguments.name.clone(),
    };
    let planned = plan(&store, &project, &flow, wish).map_err(from_run)?;
    if !context.out.is_json() {
        print(context, &planned)?;
    }
    let now = store.ground().clock.now();
    let made = if arguments.dry_run {
        None
    } else {
        Some(make(&store, &planned, now, &mut SystemMint).map_err(from_run)?)
    };
    if context.out.is_json() {
        context.out.value(&json!({
            "dry_run": arguments.dry_run,
            "parent": { "project": flow.project, "flow": flow.flow, "at_seq": planned.at() },
            "title": planned.name(),
            "carried": planned.carried,
            "not_carried": planned.not_carried,
            "project": flow.project,
            "flow": made.as_ref().map(|made| &made.flow),
        }))?;
        return Ok(ExitCode::Ok);
    }
    if let Some(made) = made {
        context.out.line(&format!("forked: {made}"))?;
        let state = store.look(&made)?.screen.flow;
        let command = goes_on(&state, asks::short(&made));
        let note = format!("it has no driver yet; continue with: {command}");
        context.out.note(&note);
    }
    Ok(ExitCode::Ok)
}

fn print(context: &mut Context<'_>, planned: &PlannedFork) -> Result<(), Stop> {
    let out = &mut context.out;
    let head = format!(
        "{} at record {}, {}",
        planned.parent(),
        planned.at(),
        planned.recorded_at()
    );
    out.line(&head)?;
    let name = plain(planned.name()).into_owned();
    out.line(&format!("it is called {}", out.paint.bold(&name)))?;
    for (heading, lines) in [
        ("carried", &planned.carried),
        ("not carried", &planned.not_carried),
    ] {
        out.line(&out.paint.dim(heading))?;
        for line in lines {
            out.line(&format!("  {}", plain(line)))?;
        }
    }
    Ok(())
}
