//! `verify`: every byte of a flow, or of all of them, against what was written.

use a_society_state::verify::{Verified, verify};
use a_society_state::{FlowRef, Store};
use serde_json::{Value, json};

use super::context::Context;
use super::report::{damage_advice, damage_json, torn, torn_json};
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop};
use crate::text::{count, plain, size};

/// The arguments of `verify`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
verify changes nothing. It ends with 4 if anything is damaged. A torn end and stale views are no \
damage: the next open repairs both.

Examples:
  a-society verify
  a-society verify a1b2
  a-society verify --json | jq '.flows[] | select(.sound | not)'")]
pub(crate) struct Arguments {
    /// The flow; all flows if absent
    #[arg(value_name = "FLOW")]
    flow: Option<String>,
}

/// The result of checking one flow.
type Checked = Result<Verified, OperatorError>;

/// Checks.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let (store, flows) = match &arguments.flow {
        Some(typed) => {
            let (store, flow) = context.flow(typed)?;
            (store, vec![flow])
        }
        None => {
            let store = context.store()?;
            let census = store.census()?;
            for stranger in &census.strangers {
                let path = stranger.path.display().to_string();
                let note = format!("not a flow: {}: {}", plain(&path), plain(&stranger.why));
                if !context.out.is_json() {
                    context.out.note(&note);
                }
            }
            (store, census.flows)
        }
    };
    let checked = check_all(context, &store, &flows)?;
    if context.out.is_json() {
        let flows: Vec<Value> = checked.iter().map(as_json).collect();
        context.out.value(&json!({ "flows": flows }))?;
    }
    Ok(worst(&checked))
}

/// A flow, and what was found of it.
struct CheckedFlow {
    flow: FlowRef,
    checked: Checked,
}

fn check_all(
    context: &mut Context<'_>,
    store: &Store,
    flows: &[FlowRef],
) -> Result<Vec<CheckedFlow>, Stop> {
    let mut all = Vec::with_capacity(flows.len());
    for (number, flow) in flows.iter().enumerate() {
        let progress = format!("verifying {} of {}: {flow}", number + 1, flows.len());
        context.out.progress(&progress);
        let checked = verify(store, flow).map_err(OperatorError::from);
        if !context.out.is_json() {
            print(context, flow, &checked)?;
        }
        all.push(CheckedFlow {
            flow: flow.clone(),
            checked,
        });
    }
    Ok(all)
}

/// Damage weighs more than a failure to look, because it does not go away.
fn worst(all: &[CheckedFlow]) -> ExitCode {
    let mut worst = ExitCode::Ok;
    for CheckedFlow { checked, .. } in all {
        match checked {
            Ok(verified) if !verified.is_sound() => return ExitCode::Damaged,
            Ok(_) => {}
            Err(error) => worst = error.exit,
        }
    }
    worst
}

fn print(context: &mut Context<'_>, flow: &FlowRef, checked: &Checked) -> Result<(), Stop> {
    let paint = context.out.paint;
    let verified = match checked {
        Ok(verified) => verified,
        Err(error) => {
            context
                .out
                .line(&format!("{}  {flow}", paint.red("failed ")))?;
            let says = format!("{}: {}", error.what, error.why);
            return context.out.line(&format!("  {}", plain(&says)));
        }
    };
    let word = if verified.is_sound() {
        paint.green("ok     ")
    } else {
        paint.red("damaged")
    };
    let records = count(
        usize::try_from(verified.records).unwrap_or(usize::MAX),
        "record",
    );
    let blobs = count(verified.blobs, "blob");
    let bytes = size(verified.bytes);
    context
        .out
        .line(&format!("{word}  {flow}  {records}, {bytes}, {blobs}"))?;
    for remark in remarks(verified) {
        context.out.line(&format!("  {}", plain(&remark)))?;
    }
    Ok(())
}

fn remarks(verified: &Verified) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(damage) = &verified.damage {
        remarks.push(damage.to_string());
        remarks.push(format!("try: {}", damage_advice(&verified.flow, damage)));
    }
    if let Some(tail) = &verified.torn {
        remarks.push(torn(tail));
    }
    for (blob, why) in &verified.blobs_lost {
        remarks.push(format!("the blob {blob} is lost: {why}"));
    }
    if !verified.views_stale.is_empty() {
        remarks.push(format!(
            "views to be folded anew by the next open: {}",
            verified.views_stale.join(", ")
        ));
    }
    remarks
}

fn as_json(CheckedFlow { flow, checked }: &CheckedFlow) -> Value {
    let verified = match checked {
        Ok(verified) => verified,
        Err(error) => {
            return json!({
                "project": flow.project,
                "flow": flow.flow,
                "sound": null,
                "error": { "code": error.code, "what": error.what, "why": error.why },
            });
        }
    };
    let lost = verified.blobs_lost.iter();
    let lost: Vec<Value> = lost
        .map(|(blob, why)| json!({ "blob": blob, "why": why }))
        .collect();
    json!({
        "project": flow.project,
        "flow": flow.flow,
        "sound": verified.is_sound(),
        "records": verified.records,
        "bytes": verified.bytes,
        "last_seq": verified.last_seq,
        "damage": verified.damage.as_ref().map(damage_json),
        "torn": verified.torn.as_ref().map(torn_json),
        "blobs": verified.blobs,
        "blobs_lost": lost,
        "views_stale": verified.views_stale,
    })
}
