//! `init`: a project with a small flow that runs at once.

use std::path::PathBuf;

use serde_json::json;

use super::context::Context;
use crate::exit_code::ExitCode;
use crate::new_project::{self, INITIALIZATION};
use crate::operator_error::Outcome;
use crate::text::plain;

/// The arguments of `init`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
It writes a folder a-docs: two roles, what they read, and a graph that they walk, with a script \
that takes their turns until models do. A folder outside every workspace becomes a workspace, \
too.

It also writes a flow in which the owner fills that folder with what is true of your project. \
Where there is work already, the owner looks at it first and asks about what it does not show (a \
takeover); in a new folder it asks what the project is to become (greenfield). Its turns are \
taken by a model. Files that exist are never replaced: in that case no file is written, and init \
ends with 6.

Examples:
  a-society init && a-society run .
  a-society init my-project
  a-society init my-project && a-society run my-project/a-docs/initialization/flow.yaml")]
pub(crate) struct Arguments {
    /// The folder; created if it does not exist
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,
}

/// Writes it.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let dir = &arguments.dir;
    let made = new_project::make(dir)?;
    let shown = dir.display().to_string();
    if context.out.is_json() {
        context.out.value(&json!({
            "folder": shown,
            "files": made.files,
            "workspace": made.is_workspace,
            "takeover": made.is_takeover,
        }))?;
        return Ok(ExitCode::Ok);
    }
    let place = plain(&shown).into_owned();
    let what = if made.is_workspace {
        "a workspace with a project"
    } else {
        "a project"
    };
    context
        .out
        .line(&format!("{place}: {what}, described in a-docs"))?;
    let next = match (made.is_workspace, place.as_str()) {
        (_, ".") => "a-society run .".to_owned(),
        (true, place) => format!("cd {place} && a-society run ."),
        (false, place) => format!("a-society run {place}"),
    };
    context.out.note(&format!("run it: {next}"));
    let inside = if made.is_workspace || place == "." {
        ""
    } else {
        &format!("{place}/")
    };
    let first = if made.is_takeover {
        "let a model look at what is there, ask you, and fill it in"
    } else {
        "let a model ask you what it is to become, and fill it in"
    };
    let line = format!("{first}: a-society run {inside}{INITIALIZATION}");
    context.out.note(&line);
    Ok(ExitCode::Ok)
}
