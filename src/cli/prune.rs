//! `prune`: flows that are over, removed by a plan.

use a_society_facts::At;
use a_society_state::Store;
use a_society_state::retention::{Going, PrunePlan, apply, plan};
use serde_json::{Value, json};

use super::context::Context;
use super::duration::Duration;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop};
use crate::text::{age, count, one_line, plain};

/// Longer titles are cut in the plan.
const TITLE_COLUMNS_MAX: usize = 60;

/// The arguments of `prune`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Only flows that are completed or cancelled, undamaged and not being written are removed, and only if
their last fact is older than DURATION, such as 12h, 30d or 2w. The plan is printed first, and exactly
it is carried out. Export what you want to keep.

Examples:
  a-society prune --older-than 30d --dry-run
  a-society prune --older-than 30d
  a-society prune --older-than 2w --yes      from a script")]
pub(crate) struct Arguments {
    /// How long ago the last fact of a flow must be
    #[arg(long, value_name = "DURATION")]
    older_than: Duration,

    /// Print the plan and change nothing
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,

    /// Do not ask
    #[arg(long)]
    yes: bool,
}

/// Prunes.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let store = context.store()?;
    let now = store.ground().clock.now();
    let before = At::from_ms(now.ms().saturating_sub(arguments.older_than.ms));
    let planned = plan(&store, before)?;
    if !context.out.is_json() {
        print(context, &planned, now)?;
    }
    let nothing = planned.going.is_empty() && planned.leftovers.is_empty();
    let removed = if arguments.dry_run || nothing || !agreed(context, arguments, &planned)? {
        None
    } else {
        Some(carry_out(context, &store, &planned)?)
    };
    if context.out.is_json() {
        let going: Vec<Value> = planned.going.iter().map(as_json).collect();
        context.out.value(&json!({
            "dry_run": arguments.dry_run,
            "plan": going,
            "staying": planned.staying,
            "leftovers": planned.leftovers.iter().map(|p| p.display().to_string()).collect::<Vec<_>>(),
            "removed": removed,
        }))?;
    }
    Ok(ExitCode::Ok)
}

fn agreed(
    context: &mut Context<'_>,
    arguments: &Arguments,
    planned: &PrunePlan,
) -> Result<bool, Stop> {
    if arguments.yes {
        return Ok(true);
    }
    let flows = count(planned.going.len(), "flow");
    let asked = if context.out.is_json() {
        None
    } else {
        context.out.flush()?;
        context.out.confirm(&format!("Remove {flows} for ever?"))
    };
    asked.ok_or_else(|| {
        OperatorError::new(
            ("not-confirmed", ExitCode::Refused),
            format!("{flows} to remove; nothing was removed"),
            "nobody can be asked, because this is no terminal",
            "look at the plan with --dry-run, then add --yes",
        )
        .into()
    })
}

fn carry_out(
    context: &mut Context<'_>,
    store: &Store,
    planned: &PrunePlan,
) -> Result<Vec<String>, Stop> {
    let removed = apply(store, planned)?;
    if !context.out.is_json() {
        let line = format!("removed {}", count(removed.len(), "flow"));
        context.out.line(&line)?;
        if removed.len() < planned.going.len() {
            let left = count(planned.going.len() - removed.len(), "flow");
            let note = format!("{left} stayed, because another process opened it since the plan");
            context.out.note(&note);
        }
    }
    Ok(removed.iter().map(ToString::to_string).collect())
}

fn print(context: &mut Context<'_>, planned: &PrunePlan, now: At) -> Result<(), Stop> {
    for going in &planned.going {
        let old = age(now.ms() - going.updated_at.ms());
        let title = one_line(&going.title, TITLE_COLUMNS_MAX);
        let line = format!("remove  {}  {title}  ({old} old)", going.flow);
        context.out.line(&line)?;
    }
    for leftover in &planned.leftovers {
        let path = leftover.display().to_string();
        let line = format!("finish  {}  (an earlier removal was cut off)", plain(&path));
        context.out.line(&line)?;
    }
    let going = count(planned.going.len(), "flow");
    let staying = count(planned.staying, "flow");
    context
        .out
        .line(&format!("{going} to remove, {staying} to stay"))
}

fn as_json(going: &Going) -> Value {
    json!({
        "project": going.flow.project,
        "flow": going.flow.flow,
        "title": going.title,
        "updated_at": going.updated_at,
    })
}
