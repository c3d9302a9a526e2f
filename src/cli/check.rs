//! `check`: everything that is wrong with a flow file or a project, and with the script that plays it.

use std::path::{Path, PathBuf};

use a_society_orchestrator::config::{self, user::ConfigError};
use a_society_orchestrator::graph::{Code, Diagnostic};
use a_society_orchestrator::project::docs::folder::{
    discover, rewrite_old_forms, role_settings, workflow_of,
};
use a_society_orchestrator::project::flow_file::{FlowFile, inspect};
use a_society_orchestrator::project::unconfigured::Configured;
use a_society_orchestrator::workspace::material::inspect_project;
use a_society_orchestrator::{RoleScript, ScriptFault};
use a_society_state::disk::{Kind, RealDisk};
use a_society_state::files::kind_behind;
use serde_json::json;

use super::context::Context;
use super::flow_files::{fault_line, lines, read_named, read_text, script_path};
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop};
use crate::text::{count, plain};
use crate::workspace;

/// The arguments of `check`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Everything is reported at once: the code, the place, the line with a caret under the fault, and \
what to try. A script.yaml beside the file is checked, too. Of a project the whole folder a-docs \
is checked: rules, index, roles with what they read and own, and the graph. So is consent: of \
your configuration and of the workspace's. A model, a server or a skill that a role names and \
that is not configured on this machine is a warning. check ends with 1 if there is an error; \
warnings alone end with 0.

Examples:
  a-society check
  a-society check flow.yaml
  a-society check my-project
  a-society check my-project --fix
  a-society check flow.yaml --script other.yaml
  a-society check flow.yaml --json | jq -r '.diagnostics[] | \"\\(.line): \\(.message)\"'
  a-society check - < flow.yaml")]
pub(crate) struct Arguments {
    /// The flow file or the project's folder; every project of the workspace if absent; -
    /// reads a file from standard input
    #[arg(value_name = "FILE|PROJECT")]
    file: Option<PathBuf>,

    /// The script that takes turns; script.yaml beside the file if there is one
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,

    /// Rewrite files of a project that have an older form; comments stay, and what is rewritten is
    /// listed
    #[arg(long)]
    fix: bool,
}

/// What was found.
struct Found {
    is_there: bool,
    diagnostics: Vec<Diagnostic>,
    script: Option<(PathBuf, Vec<ScriptFault>)>,
    /// Faults of the standing rules about calls: the workspace's and the operator's.
    configuration: Vec<String>,
    /// What of the configuration could not be checked, and which of its rules never answer anything.
    idle: Vec<String>,
}

/// Checks.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let script = arguments.script.as_deref();
    let Some(file) = &arguments.file else {
        return all(context, arguments.fix);
    };
    if arguments.fix {
        fix(context, file)?;
    }
    let mut found = look(file, script, workspace_of(context).as_deref())?;
    (found.configuration, found.idle) = configuration(context);
    let sound = found.is_sound();
    if context.out.is_json() {
        context.out.value(&as_json(file, &found, sound))?;
    } else {
        print(context, file, &found)?;
    }
    Ok(verdict(sound))
}

/// Checks every project of the workspace.
fn all(context: &mut Context<'_>, fixes: bool) -> Outcome {
    let store = context.store()?;
    let root = workspace::folder_of(&store).to_owned();
    let folders = discover(store.ground().disk.as_ref(), &root);
    if folders.is_empty() {
        let what = format!("{} has no project", root.display());
        let why = "no folder of the workspace holds a folder a-docs";
        let hint = "name a flow file, or make a project: a-society init DIR";
        let kind = ("not-found", ExitCode::NotFound);
        return Err(OperatorError::new(kind, what, why, hint).into());
    }
    let (mut sound, mut listed) = (true, Vec::new());
    let (mut configuration, mut idle) = configuration(context);
    for folder in folders {
        let shown = folder.strip_prefix(&root).unwrap_or(&folder);
        let shown = if shown.as_os_str().is_empty() {
            PathBuf::from(".")
        } else {
            shown.to_owned()
        };
        if fixes {
            fix(context, &folder)?;
        }
        let mut found = look(&folder, None, Some(&root))?;
        // It is the same for all of them, and printed once.
        found.configuration = std::mem::take(&mut configuration);
        found.idle = std::mem::take(&mut idle);
        sound &= found.is_sound();
        if context.out.is_json() {
            listed.push(as_json(&shown, &found, found.is_sound()));
        } else {
            print(context, &shown, &found)?;
        }
    }
    if context.out.is_json() {
        let value = json!({ "sound": sound, "projects": listed });
        context.out.value(&value)?;
    }
    Ok(verdict(sound))
}

/// Rewrites what has an older form, and says on stderr what it was.
fn fix(context: &mut Context<'_>, project: &Path) -> Result<(), Stop> {
    if !is_folder(project) {
        let what = format!("{} is not a project", project.display());
        let why = "only files of a project have older forms";
        let hint = "name the folder of a project, or leave --fix out";
        let kind = ("usage", ExitCode::Usage);
        return Err(OperatorError::new(kind, what, why, hint).into());
    }
    let rewritten = rewrite_old_forms(&RealDisk, project).map_err(|error| {
        let what = format!("{} could not be rewritten", project.display());
        let hint = "look at the file's rights and at the room on its disk, then run it again";
        let kind = ("unwritable", ExitCode::Failed);
        OperatorError::new(kind, what, error.to_string(), hint)
    })?;
    for path in rewritten {
        context.out.note(&format!("rewrote {}", path.display()));
    }
    Ok(())
}

fn is_folder(path: &Path) -> bool {
    kind_behind(&RealDisk, path) == Some(Kind::Folder)
}

fn verdict(sound: bool) -> ExitCode {
    if sound {
        ExitCode::Ok
    } else {
        ExitCode::Failed
    }
}

/// Looks at a flow file or a project, and at the script that plays it.
fn look(file: &Path, script: Option<&Path>, workspace: Option<&Path>) -> Result<Found, Stop> {
    let (flow, mut diagnostics, graph) = if is_folder(file) {
        let (project, diagnostics) = inspect_project(&RealDisk, file);
        (
            project.map(|it| it.canonical),
            diagnostics,
            workflow_of(file),
        )
    } else {
        let (flow, diagnostics) = inspect(file, read_named(file, "check")?);
        (flow, diagnostics, file.to_owned())
    };
    let script = match script_path(&graph, script) {
        None => None,
        Some(path) => {
            let faults = RoleScript::parse(&read_text(&path)?)
                .err()
                .unwrap_or_default();
            Some((path, faults))
        }
    };
    let is_there = flow.is_some();
    if let Some(flow) = flow {
        diagnostics.extend(unconfigured(file, &flow, workspace, script.is_some()));
    }
    Ok(Found {
        is_there,
        diagnostics,
        script,
        configuration: Vec::new(),
        idle: Vec::new(),
    })
}

/// The names in the roles of a flow that are not configured here, each with its place.
fn unconfigured(
    file: &Path,
    flow: &FlowFile,
    workspace: Option<&Path>,
    is_scripted: bool,
) -> Vec<Diagnostic> {
    let of_project = is_folder(file);
    let beside = if of_project {
        Some(file)
    } else {
        file.parent()
    };
    let folder = beside.filter(|it| !it.as_os_str().is_empty());
    let configured = Configured::read(folder.unwrap_or(Path::new(".")), workspace);
    let roles = flow.roles.iter().flat_map(|(name, role)| {
        let missing = configured.missing(role, is_scripted).into_iter();
        missing.map(move |missing| (name, missing))
    });
    let said = roles.map(|(role, missing)| {
        let (path, text) = if of_project {
            let path = file.join(role_settings(role.as_str()));
            let text = read_text(&path).unwrap_or_default();
            (path, text)
        } else {
            (file.to_owned(), flow.source.clone())
        };
        let message = format!("the role `{role}` names {}", missing.what);
        let shown = path.display().to_string();
        Diagnostic::warning_at(Code::Unconfigured, &shown, &text, &missing.name, message)
            .with_hint(missing.hint)
    });
    said.collect()
}

/// The workspace around here. A file that is in none has none to look at.
fn workspace_of(context: &mut Context<'_>) -> Option<PathBuf> {
    let store = context.store().ok()?;
    Some(workspace::folder_of(&store).to_owned())
}

/// Faults of the standing rules about calls, and the rules for servers that are not configured.
fn configuration(context: &mut Context<'_>) -> (Vec<String>, Vec<String>) {
    let workspace = workspace_of(context);
    let of_workspace = workspace.as_deref().map(config::workspace::consent);
    let own = match config::user::consent() {
        Err(ConfigError::Nowhere) => None,
        read => Some(read),
    };
    let here = workspace.as_deref().unwrap_or(Path::new("."));
    let configured = Configured::read(here, workspace.as_deref());
    let unread = configured.unread().map(str::to_owned);
    let (mut faults, mut idle) = (Vec::new(), Vec::from_iter(unread));
    for read in own.into_iter().chain(of_workspace) {
        match read {
            Ok(consent) => {
                let rules = configured.idle_rules(&consent.rules).into_iter();
                idle.extend(rules.map(|rule| format!("consent: {rule}")));
            }
            Err(error) => faults.push(error.to_string()),
        }
    }
    (faults, idle)
}

impl Found {
    fn is_sound(&self) -> bool {
        self.is_there && errors(self) == 0
    }
}

fn errors(found: &Found) -> usize {
    let in_flow = found.diagnostics.iter().filter(|d| d.is_error()).count();
    let in_script = found.script.as_ref().map_or(0, |(_, faults)| faults.len());
    in_flow + in_script + found.configuration.len()
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
        "configuration_faults": found.configuration,
        "configuration_warnings": found.idle,
    })
}

fn print(context: &mut Context<'_>, file: &Path, found: &Found) -> Result<(), Stop> {
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
    for fault in &found.configuration {
        for line in format!("error: {fault}").lines() {
            out.line(&plain(line))?;
        }
    }
    for said in &found.idle {
        for line in format!("warning: {said}").lines() {
            out.line(&plain(line))?;
        }
    }
    let errors = errors(found);
    let warnings = found.idle.len() + found.diagnostics.iter().filter(|d| !d.is_error()).count();
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
    out.line(&format!("{}: {verdict}", plain(&shown)))
}
