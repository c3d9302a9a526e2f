//! `export`: one flow as one file, to be brought in elsewhere or to be looked at.

use std::path::PathBuf;

use a_society_state::archive::{List, export};
use a_society_state::{Error, FlowRef, Store};
use serde_json::json;

use super::context::Context;
use super::export_page;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop};
use crate::output::refused;
use crate::output_file::OutputFile;
use crate::text::{count, plain, size};

/// The arguments of `export`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The archive is a plain tar with the journal, blobs, record folder and views, and a list of them \
with their SHA-256, which import checks. A flow can be exported while it is being written; a \
damaged one is exported as it is.

With --html the export is one page for people: what the operator's page shows, at any event of \
the flow, read only, in one file that opens from a disk and reaches no network. Your keys and \
secrets, and whatever looks like one, are removed from every text. What remains is everything the \
roles said, read and wrote: look at it before you share it. Texts longer than 64 KiB are cut and \
marked, and a file holds at most 64 MiB before compression: of a longer flow the largest parts are \
left out and named. --without leaves out what you choose. Of the \
requests as they were sent it holds the last 1,000 that fit into 8 MiB.

Examples:
  a-society export a1b2 flow.tar
  a-society export a1b2 - | ssh other a-society import -
  a-society export --html a1b2
  a-society export --html a1b2 --output review.html --without transcripts,events")]
pub(crate) struct Arguments {
    /// The flow
    #[arg(value_name = "FLOW")]
    flow: String,

    /// The archive; `-` is stdout
    #[arg(value_name = "FILE", required_unless_present_any = ["html", "output"])]
    file: Option<PathBuf>,

    /// The same as FILE; with --html it is FLOW.html in this folder if absent
    #[arg(long, short, value_name = "FILE", conflicts_with = "file")]
    output: Option<PathBuf>,

    /// Write one page that shows the flow, instead of an archive
    #[arg(long)]
    html: bool,

    /// Leave these out of the page: bodies, transcripts, requests, events, files
    #[arg(
        long,
        value_name = "PARTS",
        value_enum,
        value_delimiter = ',',
        requires = "html"
    )]
    without: Vec<export_page::Part>,

    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

/// Exports.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let (store, flow) = context.flow(&arguments.flow)?;
    let named = arguments.file.as_ref().or(arguments.output.as_ref());
    let path = named.map_or_else(|| format!("{}.html", flow.flow).into(), PathBuf::clone);
    if arguments.html {
        let wanted = export_page::Order {
            path: &path,
            force: arguments.force,
            without: &arguments.without,
        };
        return export_page::run(context, &store, &flow, &wanted);
    }
    let to_stdout = path.as_os_str() == "-";
    let list = if to_stdout {
        into_stdout(context, &store, &flow)?
    } else {
        let mut file = OutputFile::create(&path, arguments.force)?;
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
            "file": path.display().to_string(),
            "files": list.files.len(),
            "bytes": bytes,
            "last_seq": list.end.map(|end| end.seq),
            "damage": list.damage,
        }))?;
    } else {
        let file = path.display().to_string();
        let files = count(list.files.len(), "file");
        let line = format!("{flow}: {files}, {} into {}", size(bytes), plain(&file));
        context.out.line(&line)?;
    }
    Ok(ExitCode::Ok)
}

fn into_stdout(context: &mut Context<'_>, store: &Store, flow: &FlowRef) -> Result<List, Stop> {
    if context.out.shows_bytes() {
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
            // The reader of the archive is gone.
            return refused(source);
        }
        error.into()
    })?;
    context.out.flush()?;
    Ok(list)
}
