//! `prune`: flows that are over, removed by a plan, or one of them.

use a_society_facts::At;
use a_society_state::Store;
use a_society_state::removal::{self, NotRemoved, Removal, Stays};
use a_society_state::retention::{Going, PrunePlan, apply, plan};
use serde_json::{Value, json};

use super::asks::short;
use super::context::Context;
use super::duration::Duration;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop};
use crate::text::{age, count, one_line, plain, size};

/// Longer titles are cut in the plan.
const TITLE_COLUMNS_MAX: usize = 60;

/// The arguments of `prune`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Only flows that are completed or cancelled, undamaged and not being written are removed, and only \
if their last fact is older than DURATION, such as 12h, 30d or 2w. The plan is printed first, and \
exactly that plan is carried out. Export what you want to keep.

With FLOW only that flow is removed, however old it is. The plan lists what its folder holds and \
which flows were forked from it; those stay. Files that its roles wrote elsewhere in the project \
stay, too.

Examples:
  a-society prune a1b2 --dry-run
  a-society prune a1b2
  a-society prune --older-than 30d --dry-run
  a-society prune --older-than 30d
  a-society prune --older-than 2w --yes      from a script")]
pub(crate) struct Arguments {
    /// Only this flow: the beginning of its id, or of what comes after its dash
    #[arg(
        value_name = "FLOW",
        conflicts_with = "older_than",
        required_unless_present = "older_than"
    )]
    flow: Option<String>,

    /// How long ago the last fact of a flow must be
    #[arg(long, value_name = "DURATION")]
    older_than: Option<Duration>,

    /// Print the plan and change nothing
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,

    /// Do not ask
    #[arg(long)]
    yes: bool,
}

/// Prunes.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    match (&arguments.flow, arguments.older_than) {
        (Some(flow), _) => one(context, arguments, flow),
        (None, Some(older_than)) => old(context, arguments, older_than),
        // The arguments are refused before.
        (None, None) => Ok(ExitCode::Usage),
    }
}

/// Removes all that is over and old.
fn old(context: &mut Context<'_>, arguments: &Arguments, older_than: Duration) -> Outcome {
    let store = context.store()?;
    let now = store.ground().clock.now();
    let before = At::from_ms(now.ms().saturating_sub(older_than.ms));
    let planned = plan(&store, before)?;
    if !context.out.is_json() {
        print(context, &planned, now)?;
    }
    let nothing = planned.going.is_empty() && planned.leftovers.is_empty();
    let removed =
        if arguments.dry_run || nothing || !agreed(context, arguments, planned.going.len())? {
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

fn agreed(context: &mut Context<'_>, arguments: &Arguments, flows: usize) -> Result<bool, Stop> {
    if arguments.yes {
        return Ok(true);
    }
    let flows = count(flows, "flow");
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
            "there is no terminal to ask on",
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

/// Removes one flow.
fn one(context: &mut Context<'_>, arguments: &Arguments, typed: &str) -> Outcome {
    let store = context.store()?;
    let flow = store.find(typed)?;
    context.named = Some(flow.clone());
    let planned = removal::plan(&store, &flow)?;
    if !context.out.is_json() {
        print_one(context, &planned, store.ground().clock.now())?;
    }
    if let Some(stays) = &planned.stays {
        return Err(stay(&planned, stays));
    }
    let goes = !arguments.dry_run && agreed(context, arguments, 1)?;
    if goes {
        let removed = removal::remove(&store, &flow, planned.seq);
        removed.map_err(|error| match error {
            NotRemoved::Stays(stays) => stay(&planned, &stays),
            NotRemoved::WentOn { .. } => not_removed(
                &planned,
                error.to_string(),
                "look at what would go now: a-society prune FLOW --dry-run",
                ExitCode::Refused,
            ),
            NotRemoved::State(error) => error.into(),
        })?;
    }
    if context.out.is_json() {
        let mut value = removal_json(&planned);
        value["dry_run"] = json!(arguments.dry_run);
        value["removed"] = json!(goes);
        context.out.value(&value)?;
    } else if goes {
        context.out.line("removed 1 flow")?;
    }
    Ok(ExitCode::Ok)
}

fn stay(planned: &Removal, stays: &Stays) -> Stop {
    let flow = short(&planned.flow);
    let (hint, exit) = match stays {
        Stays::NotOver => (
            format!("end it first: a-society cancel {flow}"),
            ExitCode::Refused,
        ),
        Stays::Held(_) => (
            "wait until it is done, or end that process".to_owned(),
            ExitCode::Busy,
        ),
        Stays::Damaged(_) => (
            format!("look at it: a-society verify {flow}"),
            ExitCode::Refused,
        ),
        Stays::Foreign => (
            "take it over first: a-society import-state".to_owned(),
            ExitCode::Refused,
        ),
    };
    not_removed(planned, stays.to_string(), &hint, exit)
}

fn not_removed(planned: &Removal, why: String, hint: &str, exit: ExitCode) -> Stop {
    let what = format!("{} was not removed", planned.flow);
    OperatorError::new(("not-removed", exit), what, why, hint).into()
}

fn print_one(context: &mut Context<'_>, planned: &Removal, now: At) -> Result<(), Stop> {
    let title = one_line(&planned.title, TITLE_COLUMNS_MAX);
    let old = planned.updated_at.map(|at| age(now.ms() - at.ms()));
    let old = old.map(|old| format!("  ({old} old)")).unwrap_or_default();
    context
        .out
        .line(&format!("remove  {}  {title}{old}", planned.flow))?;
    for part in &planned.parts {
        let files = count(usize::try_from(part.files).unwrap_or(usize::MAX), "file");
        let line = format!("  {}  {files}, {}", plain(&part.name), size(part.bytes));
        context.out.line(&line)?;
    }
    for fork in &planned.forks {
        let title = one_line(&fork.title, TITLE_COLUMNS_MAX);
        let line = format!("stays   {}  {title}  (a fork of it)", fork.flow);
        context.out.line(&line)?;
    }
    let files = count(
        usize::try_from(planned.files()).unwrap_or(usize::MAX),
        "file",
    );
    let folder = planned.folder.display().to_string();
    let line = format!("{files}, {}, in {}", size(planned.bytes()), plain(&folder));
    context.out.line(&line)
}

fn removal_json(planned: &Removal) -> Value {
    let parts: Vec<Value> = (planned.parts.iter())
        .map(|part| json!({ "name": part.name, "files": part.files, "bytes": part.bytes }))
        .collect();
    let forks: Vec<Value> = (planned.forks.iter())
        .map(|fork| {
            json!({ "project": fork.flow.project, "flow": fork.flow.flow, "title": fork.title })
        })
        .collect();
    json!({
        "project": planned.flow.project,
        "flow": planned.flow.flow,
        "title": planned.title,
        "updated_at": planned.updated_at,
        "folder": planned.folder.display().to_string(),
        "files": planned.files(),
        "bytes": planned.bytes(),
        "parts": parts,
        "forks": forks,
    })
}
