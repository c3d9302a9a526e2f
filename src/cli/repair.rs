//! `repair`: a damaged journal, mended by a plan that says what would be lost.

use a_society_state::repair::{Diagnosis, RepairPlan, Restored, apply, plan, restore};
use a_society_state::{Error, FlowRef, Store};
use serde_json::{Value, json};

use super::context::Context;
use super::report::{self, damage_json};
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop};
use crate::text::{plain, size};

/// The arguments of `repair`.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("what").required(true).args(["dry_run", "apply", "restore"]),
    after_help = "\
A repair keeps every record before the damage. Everything from there on is taken out of the \
journal and kept, byte for byte, in quarantine/ of the flow's folder; nothing is thrown away. \
--restore appends the records of such a piece again, as far as they can be read and are legal.

Examples:
  a-society repair a1b2 --dry-run
  a-society repair a1b2 --apply
  a-society repair a1b2 --restore 00000001-4096-…"
)]
pub(crate) struct Arguments {
    /// The flow
    #[arg(value_name = "FLOW")]
    flow: String,

    /// Print the plan and change nothing
    #[arg(long)]
    dry_run: bool,

    /// Carry the plan out
    #[arg(long)]
    apply: bool,

    /// Restore what is kept as quarantine/NAME
    #[arg(long, value_name = "NAME")]
    restore: Option<String>,
}

/// Repairs.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let (store, flow) = context.flow(&arguments.flow)?;
    if let Some(name) = &arguments.restore {
        return put_back(context, &store, &flow, name);
    }
    match plan(&store, &flow)? {
        Diagnosis::Sound => nothing(context, &flow, "its journal is sound"),
        Diagnosis::Torn => nothing(
            context,
            &flow,
            "only its end is torn off, which the next open mends by itself",
        ),
        Diagnosis::Beyond(damage) => Err(Error::Damaged(damage).into()),
        Diagnosis::Plan(wanted) if arguments.dry_run => {
            if context.out.is_json() {
                context.out.value(&plan_json(&wanted, false))?;
            } else {
                print(context, &wanted)?;
                let line = format!("to carry it out: a-society repair {flow} --apply");
                context.out.line(&line)?;
            }
            Ok(ExitCode::Ok)
        }
        Diagnosis::Plan(wanted) => carry_out(context, &store, &wanted),
    }
}

fn nothing(context: &mut Context<'_>, flow: &FlowRef, why: &str) -> Outcome {
    if context.out.is_json() {
        let found = json!({ "project": flow.project, "flow": flow.flow, "plan": null, "why": why });
        context.out.value(&found)?;
    } else {
        context
            .out
            .line(&format!("{flow}: nothing to repair: {why}"))?;
    }
    Ok(ExitCode::Ok)
}

fn print(context: &mut Context<'_>, plan: &RepairPlan) -> Result<(), Stop> {
    let out = &mut context.out;
    out.line(&format!(
        "{}: {}",
        plan.flow,
        plain(&plan.damage.to_string())
    ))?;
    out.line(&format!("  keep      records 1 to {}", plan.kept_records))?;
    out.line(&format!(
        "  lose      records {} to {}",
        plan.lost_from, plan.lost_to
    ))?;
    if let Some(again) = &plan.fork {
        let (parent, seq) = (&again.parent, again.shared.seq);
        out.line(&format!(
            "  fork      the flow begins as a fork of {parent} at record {seq} from now on"
        ))?;
    }
    for piece in &plan.pieces {
        out.line(&format!(
            "  take out  segment {} from byte {}: {}, of which {} lines verify",
            piece.segment,
            piece.offset_bytes,
            size(piece.bytes),
            piece.valid_lines
        ))?;
    }
    out.line("  what is taken out is kept, byte for byte, in the flow's folder quarantine/")
}

fn carry_out(context: &mut Context<'_>, store: &Store, wanted: &RepairPlan) -> Outcome {
    let json = context.out.is_json();
    if !json {
        print(context, wanted)?;
        context.out.flush()?;
    }
    let (opened, report) = apply(store, wanted)?;
    let (end, kept_in) = (opened.position().seq, opened.place().quarantine());
    opened.close()?;
    let kept_in = kept_in.display().to_string();
    let done = report::opened(&report);
    if json {
        let mut shown = plan_json(wanted, true);
        shown["done"] = json!(done);
        shown["quarantine"] = json!(kept_in);
        shown["last_seq"] = json!(end);
        context.out.value(&shown)?;
        return Ok(ExitCode::Ok);
    }
    context.out.line("done:")?;
    for said in &done {
        context.out.line(&format!("  {}", plain(said)))?;
    }
    let line = format!("the flow is whole again up to record {end}; the pieces are in {kept_in}");
    context.out.line(&plain(&line))?;
    let line = format!(
        "to put back what can still be read: a-society repair {} --restore NAME",
        wanted.flow
    );
    context.out.line(&line)?;
    Ok(ExitCode::Ok)
}

fn plan_json(plan: &RepairPlan, applied: bool) -> Value {
    let pieces = plan.pieces.iter().map(|piece| {
        json!({
            "segment": piece.segment,
            "offset_bytes": piece.offset_bytes,
            "bytes": piece.bytes,
            "valid_lines": piece.valid_lines,
        })
    });
    json!({
        "project": plan.flow.project,
        "flow": plan.flow.flow,
        "applied": applied,
        "plan": {
            "damage": damage_json(&plan.damage),
            "kept_records": plan.kept_records,
            "fork_at": plan.fork.as_ref().map(|again| again.shared.seq),
            "lost_from": plan.lost_from,
            "lost_to": plan.lost_to,
            "pieces": pieces.collect::<Vec<_>>(),
        },
    })
}

fn put_back(context: &mut Context<'_>, store: &Store, flow: &FlowRef, name: &str) -> Outcome {
    let kept = kept(store, flow);
    if !kept.iter().any(|known| known == name) {
        let why = if kept.is_empty() {
            "nothing of it is in quarantine".to_owned()
        } else {
            format!("there are: {}", kept.join(", "))
        };
        let what = format!("{flow} keeps nothing under the name {name:?}");
        let missing = ("piece-not-found", ExitCode::NotFound);
        let hint = "name one of those; a piece has a name after a repair or a recovery";
        return Err(OperatorError::new(missing, what, why, hint).into());
    }
    let (mut opened, _) = store.open(flow)?;
    let restored = restore(&mut opened, store.ground().disk.as_ref(), name)?;
    opened.close()?;
    told(context, flow, &restored)
}

fn told(context: &mut Context<'_>, flow: &FlowRef, restored: &Restored) -> Outcome {
    if context.out.is_json() {
        context.out.value(&json!({
            "project": flow.project,
            "flow": flow.flow,
            "restored": restored.records,
            "refused": restored.refused,
        }))?;
        return Ok(ExitCode::Ok);
    }
    let line = format!(
        "{flow}: {} records were put back at the end",
        restored.records
    );
    context.out.line(&line)?;
    for why in &restored.refused {
        let line = format!("  not put back: {}", plain(why));
        context.out.line(&line)?;
    }
    Ok(ExitCode::Ok)
}

/// The names of what recoveries and repairs took out of a journal.
fn kept(store: &Store, flow: &FlowRef) -> Vec<String> {
    store.place(flow).quarantined()
}
