//! `export`: one flow as one file.

use std::path::PathBuf;

use a_society_state::archive::{List, export};
use a_society_state::{Error, FlowRef, Store};
use serde_json::json;

use super::context::Context;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop};
use crate::output::refused;
use crate::output_file::OutputFile;
use crate::text::{count, plain, size};

/// The arguments of `export`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The archive is a plain tar with the journal, blobs, record folder and views, and a list of them with
their SHA-256, which an import checks. A flow can be exported while it is written, and a damaged one
is exported as it is.

Examples:
  a-society export a1b2 flow.tar
  a-society export a1b2 - | ssh other a-society import -")]
pub(crate) struct Arguments {
    /// The flow
    #[arg(value_name = "FLOW")]
    flow: String,

    /// The archive; `-` is stdout
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Replace the file if it is there already
    #[arg(long)]
    force: bool,
}

/// Exports.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let (store, flow) = context.flow(&arguments.flow)?;
    let to_stdout = arguments.file.as_os_str() == "-";
    let list = if to_stdout {
        into_stdout(context, &store, &flow)?
    } else {
        let mut file = OutputFile::create(&arguments.file, arguments.force)?;
        let list = export(&store, &flow, &mut file)?;
        file.finish()?;
        list
    };
    if let Some(damage) = &list.damage {
        let note = format!("the flow is damaged and was exported as it is: {damage}");
        context.out.note(&plain(&note));
    }
    let bytes: u64 = list.files.values().map(|file| file.bytes).sum();
    if to_stdout {
        return Ok(ExitCode::Ok);
    }
    if context.out.is_json() {
        context.out.value(&json!({
            "project": flow.project,
            "flow": flow.flow,
            "file": arguments.file.display().to_string(),
            "files": list.files.len(),
            "bytes": bytes,
            "last_seq": list.end.map(|end| end.seq),
            "damage": list.damage,
        }))?;
    } else {
        let file = arguments.file.display().to_string();
        let files = count(list.files.len(), "file");
        let line = format!("{flow}: {files}, {} into {}", size(bytes), plain(&file));
        context.out.line(&line)?;
    }
    Ok(ExitCode::Ok)
}

fn into_stdout(context: &mut Context<'_>, store: &Store, flow: &FlowRef) -> Result<List, Stop> {
    if context.out.is_terminal() {
        let what = "the archive was not written to the terminal";
        let hint = "name a file, or send the output to one";
        let why = "it is no text";
        return Err(
            OperatorError::new(("stdout-is-terminal", ExitCode::Refused), what, why, hint).into(),
        );
    }
    let exported = export(store, flow, context.out.writer());
    let list = exported.map_err(|error| {
        if let Error::Io { source, .. } = &error
            && source.kind() == std::io::ErrorKind::BrokenPipe
        {
            // Whoever read the archive does not read any more.
            return refused(source);
        }
        error.into()
    })?;
    context.out.flush()?;
    Ok(list)
}
