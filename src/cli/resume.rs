//! `resume`: a flow that is not over goes on, whatever ended the process that drove it before.

use a_society_orchestrator::run::{self, Amendment};

use super::begin::note_idle_rules;
use super::consent_flags::ConsentFlags;
use super::context::Context;
use super::drive::{Wishes, shown};
use super::report::opened;
use super::say::{from_run, project_folder};
use super::signals::Interrupts;
use crate::operator_error::Outcome;
use crate::text::plain;

/// The arguments of `resume`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
resume goes on exactly where the journal ends: an answer that is recorded is not asked for again, \
and a command that may have run is not run again by itself. It prints and ends as run does; if \
another process drives the flow, it ends with 5.

The rules with which the flow was started still hold. --allow and --deny add to them, and also \
answer what is already being asked; run --help explains rules.

Examples:
  a-society resume a1b2
  a-society resume a1b2 --until-waiting --json
  a-society resume a1b2 --output notes.md
  a-society resume a1b2 --improve none
  a-society resume a1b2 --allow 'cargo test *' --deny web")]
pub(crate) struct Arguments {
    /// The flow; the only one that is not over, or the only one at all, if left out
    #[arg(value_name = "FLOW")]
    flow: Option<String>,

    #[command(flatten)]
    beforehand: ConsentFlags,

    #[command(flatten)]
    wishes: Wishes,
}

/// Goes on with it.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    super::delivered::make_ready(context, &arguments.wishes)?;
    let (store, flow) = context.flow_or_only("resume", arguments.flow.as_deref())?;
    let project = project_folder(&store, &flow.project);
    let interrupts = Interrupts::listen()?;
    let known = store.look(&flow)?.screen.flow.seq;
    let amendment = Amendment {
        mode: arguments.beforehand.mode(),
        rules: arguments.beforehand.rules(),
        ends: arguments.wishes.ends(),
    };
    note_idle_rules(context, &store, &amendment.rules, &project);
    let turns = arguments.wishes.turns_at_once.map(usize::from);
    let resumed = run::resume(&store, &flow, project, turns, amendment);
    let (driven, report) = resumed.map_err(from_run)?;
    if !context.out.is_json() {
        for line in opened(&report) {
            context.out.note(&plain(&line));
        }
    }
    shown(
        context,
        &store,
        &flow,
        known,
        driven,
        interrupts,
        arguments.wishes.clone(),
    )
}
