//! What a flow delivered, handed to who asked for it.

use std::io::Write;
use std::path::Path;

use a_society_facts::view::flow::FlowPhase;
use a_society_orchestrator::delivered::{self, Delivered};
use a_society_orchestrator::pasted_secrets::without_secrets;
use a_society_state::look::Look;
use a_society_state::{FlowRef, Store};
use serde_json::{Value, json};

use super::context::Context;
use super::drive::Wishes;
use super::say::project_folder;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Stop, from_io};
use crate::output::Output;
use crate::output_file::{OutputFile, may_write};
use crate::text::{plain, printed, size};

/// The name of standard output.
const STDOUT: &str = "-";

/// Looks whether what a flow will deliver can be handed over, before the flow goes on. Who reads stdout as
/// a pipe or a file gets that and nothing else.
///
/// # Errors
/// When the file is there already and is not to be replaced, no file can be written there, or the wishes
/// contradict each other.
pub(crate) fn make_ready(context: &mut Context<'_>, wishes: &Wishes) -> Result<(), Stop> {
    let is_json = context.out.is_json();
    if wishes.quiet && is_json {
        let what = "--quiet and --json contradict each other";
        let why = "with --json every event is an object, and readers skip those they do not want";
        let hint = "leave --quiet out, or --json";
        return Err(OperatorError::new(("usage", ExitCode::Usage), what, why, hint).into());
    }
    let to_stdout = wishes.output.as_deref() == Some(Path::new(STDOUT));
    let is_read = !is_json && !context.out.shows_bytes();
    if to_stdout || is_read {
        context.out.stand_aside();
    }
    match wishes.output.as_deref() {
        Some(path) if !to_stdout => may_write(path, wishes.force),
        Some(_) | None => Ok(()),
    }
}

/// What a flow delivered.
///
/// # Errors
/// When its journal cannot be read.
pub(crate) fn of(store: &Store, flow: &FlowRef) -> Result<Option<Delivered>, Stop> {
    let project = project_folder(store, &flow.project);
    Ok(delivered::of(store, flow, &project)?)
}

/// What a flow delivered, for commands that only look: a flow whose forward work goes on is not read for it.
///
/// # Errors
/// When its journal cannot be read.
pub(crate) fn of_closed(
    store: &Store,
    flow: &FlowRef,
    seen: &Look,
) -> Result<Option<Delivered>, Stop> {
    let goes_on = seen.screen.flow.phase == FlowPhase::Forward;
    if goes_on || seen.damage.is_some() {
        return Ok(None);
    }
    of(store, flow)
}

/// Its path and how long it is.
pub(crate) fn in_short(made: &Delivered) -> String {
    let bytes = size(made.bytes.len() as u64);
    plain(&format!("{} ({bytes})", made.path)).into_owned()
}

/// For programs that only look: everything but the text.
pub(crate) fn place_as_json(made: &Delivered) -> Value {
    json!({
        "node": made.node,
        "path": made.path,
        "file": made.file,
        "bytes": made.bytes.len(),
    })
}

/// In words.
pub(crate) fn line(made: &Delivered) -> String {
    format!("delivered: {}", in_short(made))
}

/// How many lines of what was delivered are shown.
const LINES_MAX: usize = 12;

/// All of it, if it is a text, for a terminal.
pub(crate) fn text(made: &Delivered) -> Option<Vec<String>> {
    let text = std::str::from_utf8(&made.bytes).ok()?;
    Some(without_secrets(text).lines().map(printed).collect())
}

/// How it begins, if it is a text.
pub(crate) fn beginning(made: &Delivered) -> Vec<String> {
    let Ok(text) = std::str::from_utf8(&made.bytes) else {
        return Vec::new();
    };
    let text = without_secrets(text);
    let mut lines = text.lines();
    let shown = lines.by_ref().take(LINES_MAX);
    let mut shown: Vec<String> = shown.map(|line| format!("  │ {}", printed(line))).collect();
    let more = lines.count();
    if more > 0 {
        shown.push(format!("  │ [… {more} more lines]"));
    }
    shown
}

/// For programs: the text as well, if it is text.
pub(crate) fn as_json(made: &Delivered) -> Value {
    json!({
        "node": made.node,
        "path": made.path,
        "file": made.file,
        "bytes": made.bytes.len(),
        "text": std::str::from_utf8(&made.bytes).ok(),
    })
}

/// Hands it to the file, or to standard output, that the operator named.
///
/// # Errors
/// When it cannot be written, and when a flow that is over delivered nothing.
pub(crate) fn hand_over(
    out: &mut Output,
    wishes: &Wishes,
    made: Option<&Delivered>,
    is_over: bool,
) -> Result<(), Stop> {
    let Some(path) = &wishes.output else {
        let to_reader = made.filter(|_| out.is_aside());
        return to_reader.map_or(Ok(()), |made| out.result(&made.bytes));
    };
    let Some(made) = made else {
        if is_over {
            return Err(nothing());
        }
        out.note("nothing is delivered yet; resume takes --output, too");
        return Ok(());
    };
    if path == Path::new(STDOUT) {
        return out.result(&made.bytes);
    }
    let mut file = OutputFile::create(path, wishes.force)?;
    let shown = path.display().to_string();
    file.write_all(&made.bytes)
        .map_err(|error| from_io("write", &shown, &error))?;
    file.finish()
}

fn nothing() -> Stop {
    let what = "the flow is over, and delivered no file";
    let why = "its closing node neither wrote a file in its last turn nor was handed one";
    let hint = "leave --output out, or let an edge lead to the closing node";
    OperatorError::new(("nothing-delivered", ExitCode::Failed), what, why, hint).into()
}
