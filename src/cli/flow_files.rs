//! Flow files and scripts that the operator names: reading them, and saying what is wrong.

use std::io::Read;
use std::path::{Path, PathBuf};

use a_society_orchestrator::graph::Diagnostic;
use a_society_orchestrator::limits::FLOW_FILE_BYTES_MAX;
use a_society_orchestrator::project::docs::folder::Project;
use a_society_orchestrator::project::flow_file::{self, FileError, FlowFile};
use a_society_orchestrator::workspace::flow_files::{flow_files, script_beside};
use a_society_orchestrator::workspace::material::{Unfit, sound_project};
use a_society_orchestrator::{RoleScript, ScriptFault};
use a_society_state::disk::{Kind, RealDisk};
use a_society_state::files::kind_behind;
use similar::TextDiff;

use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Stop, from_io};
use crate::output::Output;
use crate::output_file;
use crate::text::{count, plain, quoted};

/// Reads a text file that the operator names.
///
/// # Errors
/// When it cannot be read, is too long, or is not text.
pub(crate) fn read_text(path: &Path) -> Result<String, Stop> {
    let shown = path.display().to_string();
    let mut bytes = Vec::new();
    output_file::open(path)?
        .take(FLOW_FILE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| from_io("read", &shown, &error))?;
    if bytes.len() as u64 > FLOW_FILE_BYTES_MAX {
        return Err(unusable(
            &shown,
            "it is larger than 16 MiB",
            "name a smaller file",
        ));
    }
    String::from_utf8(bytes).map_err(|_| {
        unusable(
            &shown,
            "it is not UTF-8 text",
            "save it as UTF-8, without other bytes",
        )
    })
}

fn unusable(path: &str, why: &str, hint: &str) -> Stop {
    let what = format!("{path} cannot be used");
    OperatorError::new(("file-unfit", ExitCode::Failed), what, why, hint).into()
}

/// Reads a flow file that was named behind these words of a command. Prints all of its diagnostics.
///
/// # Errors
/// When it cannot be read, or is not a flow file.
pub(crate) fn read_flow(out: &mut Output, path: &Path, typed: &str) -> Result<FlowFile, Stop> {
    let (file, diagnostics) = flow_file::inspect(path, read_named(path, typed)?);
    note_all(out, &diagnostics);
    file.ok_or_else(|| not_a_flow(path, &diagnostics))
}

/// The text of a flow file that was named behind these words of a command.
///
/// # Errors
/// As [`read_text`].
pub(crate) fn read_named(path: &Path, typed: &str) -> Result<String, Stop> {
    read_text(path).map_err(|stop| match stop {
        Stop::Error(error) if error.exit == ExitCode::NotFound => not_there(path, typed),
        stop @ (Stop::Error(_) | Stop::OutputClosed) => stop,
    })
}

/// So many flow files are named where one was not found.
const NAMED_MAX: usize = 6;

/// There is nothing at a path; the flow files that are there are named, the most similar one to be typed.
fn not_there(path: &Path, typed: &str) -> Stop {
    let shown = path.display().to_string();
    let mut there = flow_files(&RealDisk, Path::new("."));
    let (why, hint) = if there.is_empty() {
        let why = "no file in or below this folder begins a workflow";
        (why.to_owned(), "a-society init my-project".to_owned())
    } else {
        let likeness = |name: &String| TextDiff::from_chars(name.as_str(), shown.as_str()).ratio();
        there.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
        let more = there.len().saturating_sub(NAMED_MAX);
        let named = there[..there.len() - more].join(", ");
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        let hint = format!("a-society {typed} {}", quoted(&there[0]));
        (format!("this folder has {named}{more}"), hint)
    };
    let kind = ("not-found", ExitCode::NotFound);
    let what = format!("there is no file or project {shown}");
    OperatorError::new(kind, what, why, hint).into()
}

/// What an argument names: a flow file, or a project's folder.
pub(crate) enum Target {
    /// A flow file.
    File(FlowFile),
    /// The canonical graph of a project, with the project's folder.
    Project(FlowFile, PathBuf),
}

/// Reads a flow file, or a project's folder, that was named behind these words of a command. Prints all of its
/// diagnostics.
///
/// # Errors
/// When it cannot be read, or is neither.
pub(crate) fn read_target(out: &mut Output, path: &Path, typed: &str) -> Result<Target, Stop> {
    if kind_behind(&RealDisk, path) != Some(Kind::Folder) {
        return read_flow(out, path, typed).map(Target::File);
    }
    let project = read_project(out, path)?;
    Ok(Target::Project(project.canonical, path.to_owned()))
}

/// Reads a project's folder. Prints all of its diagnostics.
///
/// # Errors
/// When it is no project, or something is wrong with it.
fn read_project(out: &mut Output, folder: &Path) -> Result<Project, Stop> {
    sound_project(&RealDisk, folder, &mut |diagnostics| {
        note_all(out, diagnostics)
    })
    .map_err(unfit)
}

/// Tells everything that is remarkable about a file.
pub(crate) fn note_all(out: &mut Output, diagnostics: &[Diagnostic]) {
    if !out.is_json() {
        for line in diagnostics.iter().flat_map(lines) {
            out.note(&line);
        }
    }
}

/// Why no flow can be made of something.
pub(crate) fn unfit(unfit: Unfit) -> Stop {
    let (what, hint) = match &unfit {
        Unfit::Project {
            folder,
            diagnostics,
        } => return not_sound(folder, diagnostics),
        Unfit::File(FileError::NotAFlow { path, diagnostics }) => {
            return not_a_flow(path, diagnostics);
        }
        Unfit::Stranger { file, .. } => (
            format!("{} names a role that is not defined", file.display()),
            "define the role under roles: in the file, or in the project's a-docs/roles",
        ),
        Unfit::Overlay { file, .. } => (
            format!("{} cannot be laid over the project's graph", file.display()),
            "define its roles in the file itself",
        ),
        Unfit::Outside(path) => (
            format!("{} is not a file of the workspace", path.display()),
            "name one by its path in the workspace",
        ),
        Unfit::NoSuchRole { .. } | Unfit::NotAModel(_) => (
            "no chat can begin".to_owned(),
            "name a role of the project, or none for the built-in one: a-society chat",
        ),
        Unfit::File(_) => (
            "the flow cannot begin".to_owned(),
            "look at it: a-society check",
        ),
        Unfit::State(_) => (
            "the workspace cannot be looked at".to_owned(),
            "look at its rights",
        ),
    };
    let kind = ("flow-file-unfit", ExitCode::Failed);
    OperatorError::new(kind, what, unfit.to_string(), hint).into()
}

fn not_sound(folder: &Path, diagnostics: &[Diagnostic]) -> Stop {
    let errors: Vec<&Diagnostic> = diagnostics.iter().filter(|d| d.is_error()).collect();
    let first = errors.first();
    let why = first.map(|first| format!("{}: {}", first.file, first.message));
    let shown = folder.display();
    let count = count(errors.len(), "error");
    let error = OperatorError::new(
        ("project-unfit", ExitCode::Failed),
        format!("{shown} is not a sound project: {count}"),
        why.unwrap_or_default(),
        format!(
            "correct it, and check with: a-society check {shown}; or make a new one with: \
             a-society init DIR"
        ),
    );
    if first.is_some() { error.told() } else { error }.into()
}

fn not_a_flow(path: &Path, diagnostics: &[Diagnostic]) -> Stop {
    let errors: Vec<&Diagnostic> = diagnostics.iter().filter(|d| d.is_error()).collect();
    let first = errors.first();
    let why = first.map(|first| format!("{} in line {}", first.message, first.line));
    let shown = path.display();
    let error = OperatorError::new(
        ("flow-file-unfit", ExitCode::Failed),
        format!(
            "{shown} is not a flow file: {}",
            count(errors.len(), "error")
        ),
        why.unwrap_or_else(|| "it holds no graph".to_owned()),
        format!("correct it, and check with: a-society check {shown}"),
    );
    if first.is_some() { error.told() } else { error }.into()
}

/// A diagnostic as lines that are fit for a terminal.
pub(crate) fn lines(diagnostic: &Diagnostic) -> Vec<String> {
    let text = diagnostic.to_string();
    text.lines().map(|line| plain(line).into_owned()).collect()
}

/// The script for the turns of a flow: the one that is named, or the one beside the file.
pub(crate) fn script_path(flow: &Path, named: Option<&Path>) -> Option<PathBuf> {
    if let Some(named) = named {
        return Some(named.to_owned());
    }
    let is_file = flow.as_os_str() != "-";
    is_file.then(|| script_beside(&RealDisk, flow)).flatten()
}

/// Reads a script.
///
/// # Errors
/// When it cannot be read, or is not a script.
pub(crate) fn read_script(out: &mut Output, path: &Path) -> Result<String, Stop> {
    let source = read_text(path)?;
    let Err(faults) = RoleScript::parse(&source) else {
        return Ok(source);
    };
    note_script_faults(out, path, &faults);
    Err(not_a_script(path, &faults))
}

/// Prints everything that is wrong with a script.
pub(super) fn note_script_faults(out: &mut Output, path: &Path, faults: &[ScriptFault]) {
    if !out.is_json() {
        for fault in faults {
            out.note(&fault_line(path, fault));
        }
    }
}

/// A file is no script. Its faults were printed.
pub(super) fn not_a_script(path: &Path, faults: &[ScriptFault]) -> Stop {
    let shown = path.display();
    let first = faults.first().map(ToString::to_string).unwrap_or_default();
    OperatorError::new(
        ("script-unfit", ExitCode::Failed),
        format!("{shown} is not a script: {}", count(faults.len(), "error")),
        first,
        format!("correct it, and check with: a-society check FILE --script {shown}"),
    )
    .told()
    .into()
}

/// A fault of a script on one line.
pub(crate) fn fault_line(path: &Path, fault: &ScriptFault) -> String {
    let says = format!("error: {}: {fault}", path.display());
    plain(&says).into_owned()
}
