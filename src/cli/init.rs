//! `init`: a project with a small flow that runs at once.

use std::io::Write;
use std::path::{Path, PathBuf};

use a_society_state::disk::{Disk, RealDisk};
use serde_json::json;

use super::context::Context;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop, from_io};
use crate::output_file::{OutputFile, make_folder, whole_path};
use crate::text::plain;
use crate::workspace;

/// A file of the template: its path in the project, and what it says.
macro_rules! template {
    ($($path:literal),* $(,)?) => {
        [$((concat!("a-docs/", $path), include_str!(concat!("../template/", $path)))),*]
    };
}

/// The files that are written.
const FILES: [(&str, &str); 12] = template![
    "agents.md",
    "indexes/main.md",
    "style.md",
    "roles/owner/main.md",
    "roles/owner/required-readings.yaml",
    "roles/owner/ownership.yaml",
    "roles/writer/main.md",
    "roles/writer/required-readings.yaml",
    "roles/writer/ownership.yaml",
    "workflow/main.yaml",
    "workflow/script.yaml",
    "improvement/meta-analysis.md",
];

/// Where the flow stands that fills the folder.
const INITIALIZATION: &str = "a-docs/initialization/flow.yaml";
/// The flow for a folder that holds work already.
const TAKEOVER: &str = include_str!("../template/initialization/takeover.yaml");
/// The flow for a folder in which nothing was made yet.
const GREENFIELD: &str = include_str!("../template/initialization/greenfield.yaml");

/// The arguments of `init`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
It writes a folder a-docs: two roles, what they read, and a graph that they walk, with a script that
takes their turns until models do. A folder that lies in no workspace becomes one, too.

With it comes a flow in which the owner fills that folder with what is true of your project. Where work
lies there already, it looks at that first and asks about what it does not say (a takeover); in a new
folder it asks what the project is to become (greenfield). Its turns are taken by a model. Files that are
there already are never replaced: then no file is written, and it ends with 6.

Examples:
  a-society init && a-society run .
  a-society init my-project
  a-society init my-project && a-society run my-project/a-docs/initialization/flow.yaml")]
pub(crate) struct Arguments {
    /// The folder; made if it is not there
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,
}

/// Writes it.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let dir = &arguments.dir;
    let is_takeover = holds_work(dir)?;
    let flow = if is_takeover { TAKEOVER } else { GREENFIELD };
    let written: Vec<(&str, &str)> = FILES.into_iter().chain([(INITIALIZATION, flow)]).collect();
    if let Some(name) = written.iter().find(|(name, _)| dir.join(name).exists()) {
        return Err(taken(&dir.join(name.0)));
    }
    make_folder(dir)?;
    // Inside a workspace it is one more project of it.
    let around = workspace::around(dir)?;
    if let Some(around) = &around {
        let whole = whole_path(dir)?;
        if whole != *around && whole.parent() != Some(around.as_path()) {
            return Err(too_deep(dir, around));
        }
    }
    let files = written.iter().map(|(name, text)| begin(dir, name, text));
    // Every name is looked at before the first one is taken.
    let files = files.collect::<Result<Vec<_>, Stop>>()?;
    if around.is_none() {
        workspace::make(dir)?;
    }
    for file in files {
        file.finish()?;
    }
    let shown = dir.display().to_string();
    if context.out.is_json() {
        let names: Vec<&str> = written.iter().map(|(name, _)| *name).collect();
        context.out.value(&json!({
            "folder": shown,
            "files": names,
            "workspace": around.is_none(),
            "takeover": is_takeover,
        }))?;
        return Ok(ExitCode::Ok);
    }
    let place = plain(&shown).into_owned();
    let what = if around.is_none() {
        "a workspace with a project"
    } else {
        "a project"
    };
    context
        .out
        .line(&format!("{place}: {what}, described in a-docs"))?;
    let next = match (around.is_none(), place.as_str()) {
        (_, ".") => "a-society run .".to_owned(),
        (true, place) => format!("cd {place} && a-society run ."),
        (false, place) => format!("a-society run {place}"),
    };
    context.out.note(&format!("run it: {next}"));
    let inside = if around.is_none() || place == "." {
        ""
    } else {
        &format!("{place}/")
    };
    let first = if is_takeover {
        "let a model look at what is there, ask you, and fill it in"
    } else {
        "let a model ask you what it is to become, and fill it in"
    };
    let line = format!("{first}: a-society run {inside}{INITIALIZATION}");
    context.out.note(&line);
    Ok(ExitCode::Ok)
}

/// Whether a folder holds something that is not ours and not hidden.
fn holds_work(dir: &Path) -> Result<bool, Stop> {
    match RealDisk.list(dir) {
        Ok(entries) => Ok(entries
            .iter()
            .any(|entry| !entry.name.starts_with('.') && entry.name != "a-docs")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(from_io("read", &dir.display().to_string(), &error).into()),
    }
}

fn taken(path: &Path) -> Stop {
    let what = format!("{} is there already", path.display());
    let why = "nothing is replaced, and nothing was written";
    let hint = "name another folder: a-society init DIR";
    OperatorError::new(("file-exists", ExitCode::Refused), what, why, hint).into()
}

fn too_deep(dir: &Path, around: &Path) -> Stop {
    let what = format!("{} cannot become a project", dir.display());
    let why = format!(
        "it lies in the workspace {}, whose projects are its own folders",
        around.display()
    );
    let hint = "name a folder directly in the workspace, or one outside of it";
    OperatorError::new(("project-unfit", ExitCode::Refused), what, why, hint).into()
}

fn begin(dir: &Path, name: &str, text: &str) -> Result<OutputFile, Stop> {
    let path = dir.join(name);
    make_folder(path.parent().unwrap_or(dir))?;
    let mut file = OutputFile::create(&path, false)?;
    let written = file.write_all(text.as_bytes());
    written.map_err(|error| from_io("write", &path.display().to_string(), &error))?;
    Ok(file)
}
