//! `import-state`: flows that another program began, from the files it kept.

use std::path::{Path, PathBuf};

use a_society_facts::id::ProjectName;
use a_society_orchestrator::config::models::Catalog;
use a_society_orchestrator::config::user;
use a_society_orchestrator::import_state::make::{ImportPlan, Ready, make, plan};
use a_society_orchestrator::import_state::source::{beside, find};
use a_society_orchestrator::mint::SystemMint;
use a_society_state::Store;
use a_society_state::disk::Kind;
use a_society_state::files::kind_behind;
use serde_json::{Value, json};

use super::asks;
use super::context::Context;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop};
use crate::output_file::whole_path;
use crate::text::{count, one_line, plain};
use crate::workspace;

/// Why a flow cannot be read may quote what was read, at length.
const WHY_COLUMNS_MAX: usize = 400;
/// How many members without a place are printed; --json prints all that are known.
const SHOWN_MAX: usize = 20;

/// The arguments of `import-state`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
import-state reads state version 11: flow.json, roles/*/transcript.json, roles/*/feed.json and \
record/ of each flow, as the other program kept them. FOLDER is its workspace, the folder of its \
state, or the folder of one flow. Each flow becomes one with the same id that shows the same \
sessions, feeds and nodes, and goes on where it stopped: a turn that was cut off as after a \
crash, a call of unknown outcome without running it again, a question as a question. A role keeps \
its model if your configuration knows it, and asks for one otherwise. What is wrong with the \
project by then is asked once, before the flow closes. Settings, keys, skills and servers are not \
imported, and are listed.

Outside of a workspace the current folder becomes one, if FOLDER is named and has such a flow.

The source is only read. The files are kept whole with the flow, and every member of them that \
the new flow cannot show is listed. Files in the place of the new flow are moved, as they are, to \
.a-society/state/.before-import/. What was imported before stays as it is. A flow that cannot be \
read is listed with the reason, the others are imported, and import-state ends with 4.

Examples:
  a-society import-state --dry-run
  a-society import-state ../old-workspace
  a-society import-state && a-society ls")]
pub(crate) struct Arguments {
    /// Where the files are; this workspace if absent
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,

    /// Report what would be imported, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// Imports.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let (mut store, future) = store_or_future(context, arguments.folder.is_some())?;
    let folder = match &arguments.folder {
        Some(folder) => whole_path(folder)?,
        None => store.root().to_owned(),
    };
    let found = find(store.ground().disk.as_ref(), &folder)?;
    if found.is_empty() {
        return Err(nothing(&folder.display().to_string()));
    }
    if let (Some(future), false) = (future, arguments.dry_run) {
        store = context.make_workspace(&future)?;
    }
    let beside = beside(store.ground().disk.as_ref(), &found);
    let catalog = match user::catalog() {
        Ok((_, catalog)) => catalog,
        Err(why) => {
            let why = one_line(&why.to_string(), WHY_COLUMNS_MAX);
            context.out.note(&format!("no model is known: {why}"));
            Catalog::default()
        }
    };
    let now = store.ground().clock.now();
    let (mut all, mut code) = (Vec::new(), ExitCode::Ok);
    for found in found {
        let planned = plan(&store, &found, &catalog, now, &mut SystemMint);
        if let (ImportPlan::Ready(ready), false) = (&planned, arguments.dry_run) {
            make(&store, ready)?;
        }
        if matches!(planned, ImportPlan::Refused { .. }) {
            code = ExitCode::Damaged;
        }
        if context.out.is_json() {
            all.push(as_json(&planned, arguments.dry_run));
        } else {
            print(context, &store, &planned, arguments.dry_run)?;
        }
    }
    if context.out.is_json() {
        context.out.value(&json!({
            "folder": folder.display().to_string(),
            "dry_run": arguments.dry_run,
            "flows": all,
            "not_taken_over": beside.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
        }))?;
    } else {
        for path in &beside {
            not_taken_over(context, path);
        }
    }
    Ok(code)
}

/// The store of the workspace. Where there is none, and what is imported is named, the current folder can become one
/// once it is known that there is something to import.
fn store_or_future(
    context: &mut Context<'_>,
    is_source_named: bool,
) -> Result<(Store, Option<PathBuf>), Stop> {
    let found = context.store();
    let is_named = context.workspace.is_some() || context.environment.workspace.is_some();
    match (found, &context.environment.folder) {
        (Err(_), Some(folder)) if is_source_named && !is_named => {
            let store = workspace::future(folder, context.without_locks);
            Ok((store, Some(folder.clone())))
        }
        (found, _) => Ok((found?, None)),
    }
}

/// What of a workspace stays behind, and what does the same here.
fn not_taken_over(context: &mut Context<'_>, path: &Path) {
    let name = path.file_name().and_then(std::ffi::OsStr::to_str);
    let instead = match name {
        Some("skills") => "its skills: a-society skills import FOLDER",
        Some("secrets.json") => "its keys: a-society models add names where a key is found",
        Some(_) | None => {
            "its models: a-society models add; its MCP servers: mcp-servers in the configuration"
        }
    };
    let path = plain(&path.display().to_string()).into_owned();
    context
        .out
        .note(&format!("not taken over: {path}; {instead}"));
}

fn nothing(folder: &str) -> Stop {
    let what = format!("there is no flow of another program in {}", plain(folder));
    let why = "no folder of it holds a flow.json without a journal";
    let hint = "name the workspace, the folder of its state, or a flow's folder: a-society import-state FOLDER";
    OperatorError::new(("nothing-to-import", ExitCode::NotFound), what, why, hint).into()
}

fn as_json(planned: &ImportPlan, dry_run: bool) -> Value {
    match planned {
        ImportPlan::Ready(ready) => json!({
            "outcome": if dry_run { "would-import" } else { "imported" },
            "project": ready.flow.project,
            "flow": ready.flow.flow,
            "title": ready.title,
            "place": ready.place.display().to_string(),
            "set_aside": ready.aside.as_ref().map(|path| path.display().to_string()),
            "messages": ready.messages,
            "record_files": ready.record_files,
            "without_place": ready.without_place,
            "not_carried": ready.left,
            "goes_on": ready.goes_on,
        }),
        ImportPlan::Already { flow, changed } => json!({
            "outcome": "already-imported",
            "project": flow.project,
            "flow": flow.flow,
            "changed_since": changed,
        }),
        ImportPlan::Refused { place, why } => json!({
            "outcome": "refused",
            "place": place.display().to_string(),
            "why": why,
        }),
    }
}

fn print(
    context: &mut Context<'_>,
    store: &Store,
    planned: &ImportPlan,
    dry_run: bool,
) -> Result<(), Stop> {
    match planned {
        ImportPlan::Ready(ready) => ready_lines(context, store, ready, dry_run),
        ImportPlan::Already { flow, changed } => {
            context
                .out
                .line(&format!("{flow}: it was imported already"))?;
            if *changed {
                let note = "its old files changed since; what was imported stays as it is";
                context.out.note(note);
            }
            Ok(())
        }
        ImportPlan::Refused { place, why } => {
            let place = plain(&place.display().to_string()).into_owned();
            let why = one_line(why, WHY_COLUMNS_MAX);
            context.out.line(&format!("{place}: not imported: {why}"))?;
            context.out.note("its files are as they were");
            Ok(())
        }
    }
}

fn ready_lines(
    context: &mut Context<'_>,
    store: &Store,
    ready: &Ready,
    dry_run: bool,
) -> Result<(), Stop> {
    let out = &mut context.out;
    let done = if dry_run {
        "would be imported"
    } else {
        "imported"
    };
    let holds = format!(
        "{} and {} of its record",
        count(ready.messages, "message"),
        count(ready.record_files, "file")
    );
    let title = plain(&ready.title).into_owned();
    let name = out.paint.bold(&title);
    out.line(&format!("{}: {done}, {name}, with {holds}", ready.flow))?;
    if let Some(aside) = &ready.aside {
        let aside = plain(&aside.display().to_string()).into_owned();
        let go = if dry_run { "would go" } else { "went" };
        out.line(&format!("  its old files {go} to {aside}"))?;
    }
    list(out, "not carried as it was", &ready.left)?;
    list(out, "kept, with no place in a view", &ready.without_place)?;
    if ready.asks_nobody {
        let name = asks::short(&ready.flow);
        let note = format!(
            "its roles may do everything without asking, as they might before; \
             take that back: a-society mode {name} ask"
        );
        out.note(&note);
    }
    if is_elsewhere(store, &ready.flow.project) {
        let project = plain(ready.flow.project.as_str()).into_owned();
        let from = plain(&ready.project_folder.display().to_string()).into_owned();
        let note = format!(
            "its project {project} is not in this workspace; it is not imported: copy {from}"
        );
        out.note(&note);
    }
    if !dry_run && ready.goes_on {
        let name = asks::short(&ready.flow);
        out.note(&format!(
            "it has no driver yet; continue with: a-society resume {name}"
        ));
    }
    Ok(())
}

/// Whether a project is neither a folder of the workspace nor the workspace itself.
fn is_elsewhere(store: &Store, project: &ProjectName) -> bool {
    let root = workspace::folder_of(store);
    let own = root
        .file_name()
        .is_some_and(|name| name == project.as_str());
    let folder = root.join(project.as_str());
    !own && kind_behind(store.ground().disk.as_ref(), &folder) != Some(Kind::Folder)
}

fn list(out: &mut crate::output::Output, heading: &str, lines: &[String]) -> Result<(), Stop> {
    if lines.is_empty() {
        return Ok(());
    }
    let heading = format!("  {heading}");
    out.line(&out.paint.dim(&heading))?;
    for line in lines.iter().take(SHOWN_MAX) {
        out.line(&format!("    {}", plain(line)))?;
    }
    match lines.len().saturating_sub(SHOWN_MAX) {
        0 => Ok(()),
        more => out.line(&format!("    and {more} more; --json lists them")),
    }
}
