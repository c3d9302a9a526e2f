//! `check`: everything that is wrong with a flow file or a project, and with the script that plays it.

use std::path::{Path, PathBuf};

use a_society_orchestrator::graph::Diagnostic;
use a_society_orchestrator::project::docs::folder::workflow_of;
use a_society_orchestrator::project::flow_file::inspect;
use a_society_orchestrator::{Script, ScriptFault};
use serde_json::json;

use super::context::Context;
use super::flow_files::{fault_line, inspect_project, lines, read_text, script_path};
use crate::exit_code::ExitCode;
use crate::operator_error::Outcome;
use crate::text::count;

/// The arguments of `check`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Everything is said at once: the code, the place, the line with a caret under the fault, and what to
try. A script.yaml beside the file is checked, too. Of a project its whole folder a-docs is checked:
rules, index, roles with what they read and own, and the graph. It ends with 1 if there is an error;
warnings alone end with 0.

Examples:
  a-society check flow.yaml
  a-society check my-project
  a-society check flow.yaml --script other.yaml
  a-society check flow.yaml --json | jq -r '.diagnostics[] | \"\\(.line): \\(.message)\"'
  a-society check - < flow.yaml")]
pub(crate) struct Arguments {
    /// The flow file or the project's folder; - reads a file from standard input
    #[arg(value_name = "FILE|PROJECT")]
    file: PathBuf,

    /// The script that takes turns; script.yaml beside the file if it is there
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
}

/// What was found.
struct Found {
    diagnostics: Vec<Diagnostic>,
    script: Option<(PathBuf, Vec<ScriptFault>)>,
}

/// Checks.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let (is_there, diagnostics, graph) = if arguments.file.is_dir() {
        let (project, diagnostics) = inspect_project(&arguments.file);
        (project.is_some(), diagnostics, workflow_of(&arguments.file))
    } else {
        let (file, diagnostics) = inspect(&arguments.file, read_text(&arguments.file)?);
        (file.is_some(), diagnostics, arguments.file.clone())
    };
    let script = match script_path(&graph, arguments.script.as_deref()) {
        None => None,
        Some(path) => {
            let faults = Script::parse(&read_text(&path)?).err().unwrap_or_default();
            Some((path, faults))
        }
    };
    let found = Found {
        diagnostics,
        script,
    };
    let errors = errors(&found);
    let sound = errors == 0 && is_there;
    if context.out.is_json() {
        context
            .out
            .value(&as_json(&arguments.file, &found, sound))?;
    } else {
        print(context, &arguments.file, &found)?;
    }
    Ok(if sound {
        ExitCode::Ok
    } else {
        ExitCode::Failed
    })
}

fn errors(found: &Found) -> usize {
    let in_flow = found.diagnostics.iter().filter(|d| d.is_error()).count();
    let in_script = found.script.as_ref().map_or(0, |(_, faults)| faults.len());
    in_flow + in_script
}

fn as_json(file: &Path, found: &Found, sound: bool) -> serde_json::Value {
    let faults = found.script.iter().flat_map(|(path, faults)| {
        faults.iter().map(move |fault| {
            json!({
                "file": path.display().to_string(),
                "line": fault.line,
                "column": fault.column,
                "message": fault.message,
            })
        })
    });
    json!({
        "file": file.display().to_string(),
        "sound": sound,
        "diagnostics": found.diagnostics,
        "script": found.script.as_ref().map(|(path, _)| path.display().to_string()),
        "script_faults": faults.collect::<Vec<_>>(),
    })
}

fn print(
    context: &mut Context<'_>,
    file: &Path,
    found: &Found,
) -> Result<(), crate::operator_error::Stop> {
    let out = &mut context.out;
    for diagnostic in &found.diagnostics {
        for line in lines(diagnostic) {
            out.line(&line)?;
        }
        out.line("")?;
    }
    if let Some((path, faults)) = &found.script {
        for fault in faults {
            out.line(&fault_line(path, fault))?;
        }
    }
    let errors = errors(found);
    let warnings = found.diagnostics.iter().filter(|d| !d.is_error()).count();
    let verdict = match (errors, warnings) {
        (0, 0) => out.paint.green("sound"),
        (0, warnings) => out.paint.yellow(&count(warnings, "warning")),
        (errors, 0) => out.paint.red(&count(errors, "error")),
        (errors, warnings) => out.paint.red(&format!(
            "{}, {}",
            count(errors, "error"),
            count(warnings, "warning")
        )),
    };
    let shown = file.display().to_string();
    out.line(&format!("{}: {verdict}", crate::text::plain(&shown)))
}
