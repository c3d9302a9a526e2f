//! `init`: a workspace with a small flow that runs at once.

use std::io::Write;
use std::path::{Path, PathBuf};

use a_society_state::store::OUR_FOLDER;
use serde_json::json;

use super::context::Context;
use crate::exit_code::ExitCode;
use crate::operator_error::{Outcome, Stop, from_io};
use crate::output_file::{OutputFile, make_folder};
use crate::text::plain;

/// The files that are written.
const FILES: [(&str, &str); 2] = [
    ("flow.yaml", include_str!("../../examples/hello/flow.yaml")),
    (
        "script.yaml",
        include_str!("../../examples/hello/script.yaml"),
    ),
];

/// The arguments of `init`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
It makes .a-society, flow.yaml and script.yaml. Files that are there already are never replaced: then
nothing is written, and it ends with 6.

Examples:
  a-society init && a-society run flow.yaml
  a-society init my-project")]
pub(crate) struct Arguments {
    /// The folder; made if it is not there
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,
}

/// Writes it.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let dir = &arguments.dir;
    make_folder(&dir.join(OUR_FOLDER))?;
    let files = FILES.map(|(name, text)| begin(dir, name, text));
    // Every name is looked at before the first one is taken.
    let files = files.into_iter().collect::<Result<Vec<_>, Stop>>()?;
    for file in files {
        file.finish()?;
    }
    let shown = dir.display().to_string();
    if context.out.is_json() {
        let names = FILES.map(|(name, _)| name);
        context
            .out
            .value(&json!({ "folder": shown, "files": names }))?;
        return Ok(ExitCode::Ok);
    }
    let place = plain(&shown);
    context.out.line(&format!(
        "{place}: a workspace with flow.yaml and script.yaml"
    ))?;
    let file = dir.join("flow.yaml").display().to_string();
    let file = plain(&file).into_owned();
    context.out.note(&format!("run it: a-society run {file}"));
    Ok(ExitCode::Ok)
}

fn begin(dir: &Path, name: &str, text: &str) -> Result<OutputFile, Stop> {
    let path = dir.join(name);
    let mut file = OutputFile::create(&path, false)?;
    let written = file.write_all(text.as_bytes());
    written.map_err(|error| from_io("write", &path.display().to_string(), &error))?;
    Ok(file)
}
