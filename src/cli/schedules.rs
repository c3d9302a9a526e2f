//! `schedules`: what servers of this workspace begin at due times, and the last run of each.

use a_society_facts::At;
use a_society_orchestrator::schedules::list::{NotListed, ScheduleRow, schedules};
use a_society_state::schedules::MissedRuns;
use serde_json::json;

use super::context::Context;
use super::models::unusable;
use super::table::{self, Cell};
use crate::exit_code::ExitCode;
use crate::operator_error::{Outcome, Stop};
use crate::text::{count, plain};

/// The arguments of `schedules`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
schedules: in your configuration says what a-society serve begins at due times: a flow or a chat. \
Each due time has one run at most, whatever ends the server. A run is a flow as any other, and \
every command works on it.

Examples:
  a-society schedules ls
  a-society schedules ls --json | jq -r '.schedules[] | select(.missed) | .name'")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: SchedulesCommand,
}

#[derive(Debug, clap::Subcommand)]
enum SchedulesCommand {
    /// List the schedules of this workspace: when each is due, its last run, and what was missed
    #[command(after_help = "\
Examples:
  a-society schedules ls
  a-society schedules ls --json | jq -r '.schedules[].next'")]
    Ls,
}

/// Lists schedules.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    match arguments.verb {
        SchedulesCommand::Ls => ls(context),
    }
}

fn ls(context: &mut Context<'_>) -> Outcome {
    let store = context.store()?;
    let rows = schedules(&store).map_err(|error| match error {
        NotListed::Configuration(error) => unusable(error),
        NotListed::State(error) => Stop::from(error),
    })?;
    if context.out.is_json() {
        let rows: Vec<_> = rows.iter().map(row_json).collect();
        context.out.value(&json!({ "schedules": rows }))?;
        return Ok(ExitCode::Ok);
    }
    if rows.is_empty() {
        context
            .out
            .line("no schedule of your configuration is for this workspace")?;
        return Ok(ExitCode::Ok);
    }
    let now = store.ground().clock.now();
    for line in table::lines(&cells(&rows, now)) {
        context.out.line(&line)?;
    }
    for row in &rows {
        for line in troubles(row) {
            context.out.line(&plain(&line))?;
        }
    }
    Ok(ExitCode::Ok)
}

fn row_json(row: &ScheduleRow) -> serde_json::Value {
    let last = row.last.as_ref().map(|(run, standing)| {
        json!({
            "due": run.due,
            "flow": run.address().to_string(),
            "standing": standing,
        })
    });
    json!({
        "name": row.name,
        "when": row.timing,
        "next": row.next,
        "last": last,
        "missed": row.missed,
        "failed": row.failed,
    })
}

fn cells(rows: &[ScheduleRow], now: At) -> Vec<Vec<Cell>> {
    let head = ["SCHEDULE", "WHEN", "NEXT", "LAST RUN", "NOW"];
    let mut cells: Vec<Vec<Cell>> = vec![head.into_iter().map(Cell::from).collect()];
    cells.extend(rows.iter().map(|row| {
        let next = match row.next {
            None => "never again".to_owned(),
            Some(next) if next <= now => format!("due since {}", minute(next)),
            Some(next) => minute(next),
        };
        let (last, standing) = match &row.last {
            None => (String::new(), String::new()),
            Some((run, standing)) => (
                run.address().to_string(),
                standing.clone().unwrap_or_else(|| "removed".to_owned()),
            ),
        };
        let texts = [row.name.clone(), row.timing.clone(), next, last, standing];
        texts
            .iter()
            .map(|text| plain(text).into_owned().into())
            .collect()
    }));
    cells
}

/// A moment without its milliseconds.
fn minute(at: At) -> String {
    at.to_string().replace(".000Z", "Z")
}

fn troubles(row: &ScheduleRow) -> Vec<String> {
    let name = &row.name;
    let missed = row.missed.as_ref().map(|missed| {
        let MissedRuns {
            count: number,
            first,
            last,
            made_up,
        } = missed;
        let number = count(usize::try_from(*number).unwrap_or(usize::MAX), "run");
        let then = if *made_up {
            "one run made up for it"
        } else {
            "skipped"
        };
        let (first, last) = (minute(*first), minute(*last));
        format!("{name} missed {number}, from {first} to {last}: {then}")
    });
    let failed = row.failed.as_ref().map(|failed| {
        let due = minute(failed.due);
        format!("{name} could not run at {due}: {}", failed.why)
    });
    missed.into_iter().chain(failed).collect()
}
