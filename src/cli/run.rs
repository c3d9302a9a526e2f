//! `run`: a flow file is walked from its first node to its end.

use std::path::{Path, PathBuf};

use a_society_facts::id::ProjectName;
use a_society_orchestrator::run::{NewFlow, start};
use a_society_state::store::OUR_FOLDER;
use a_society_state::{FlowRef, Store};

use super::context::Context;
use super::drive::{Wishes, watch};
use super::flow_files::{read_flow, read_script, script_path};
use super::say::{from_run, project_folder, text};
use super::signals::Interrupts;
use crate::operator_error::{Outcome, Stop};
use crate::output_file::make_folder;
use crate::text::plain;
use crate::workspace;

/// The name of a project whose folder has none that can be used.
const PROJECT_UNNAMED: &str = "project";

/// The arguments of `run`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The flow is walked until it is over, waits for you, or is interrupted. On a terminal its nodes are
shown as they stand and what it asks can be answered there; elsewhere each event is a line, and with
--json an object. Everything that happens is recorded before it counts, so that resume goes on after
any end of this process. Ctrl-C starts nothing new and lets running turns reach a recorded point; a
second one ends at once, and nothing recorded is lost either way.

A script.yaml beside the file takes the turns of models, unless another script is named. Without a
workspace one is made in the current folder. It ends with 0 when the flow is over, with 8 when it
waits for you, and with 130 when it was interrupted.

Examples:
  a-society run flow.yaml
  a-society run flow.yaml --input 'Write the release notes.'
  a-society run flow.yaml --improve none --json | jq -c .event
  a-society run flow.yaml --script other.yaml --until-waiting")]
pub(crate) struct Arguments {
    /// The flow file
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The project it works on: a folder of the workspace
    #[arg(long, value_name = "NAME", value_parser = project)]
    project: Option<ProjectName>,

    /// How the flow is called; the graph's name if it is not said
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// What the flow is asked to do; - reads it from standard input
    #[arg(long, value_name = "TEXT")]
    input: Option<String>,

    /// The script that takes turns; script.yaml beside the file if it is there
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,

    #[command(flatten)]
    wishes: Wishes,
}

fn project(text: &str) -> Result<ProjectName, String> {
    text.parse()
        .map_err(|bad: a_society_facts::id::BadName| bad.to_string())
}

/// Runs it.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let file = read_flow(&mut context.out, &arguments.file)?;
    let script = match script_path(&arguments.file, arguments.script.as_deref()) {
        Some(path) => Some(read_script(&mut context.out, &path)?),
        None => None,
    };
    let input = arguments.input.as_deref().map(text).transpose()?;
    let store = store_or_new(context)?;
    let project = match &arguments.project {
        Some(project) => project.clone(),
        None => project_of(&store, context, &arguments.file)?,
    };
    let new = NewFlow {
        project,
        project_folder: PathBuf::new(),
        title: arguments.title.clone(),
        input,
        file,
        script,
        client: None,
    };
    begin(context, &store, new, arguments.wishes)
}

/// Starts a new flow and watches it.
///
/// # Errors
/// When it cannot be started or driven.
pub(crate) fn begin(
    context: &mut Context<'_>,
    store: &Store,
    mut new: NewFlow,
    wishes: Wishes,
) -> Outcome {
    let project = new.project.clone();
    new.project_folder = project_folder(store, &project);
    let interrupts = Interrupts::listen()?;
    let driven = start(store, new, store.ground().clock.now()).map_err(from_run)?;
    let flow = FlowRef {
        project,
        flow: driven.handle.id().clone(),
    };
    context.named = Some(flow.clone());
    if !context.out.is_terminal() && !context.out.is_json() {
        context.out.line(&format!("flow {flow}"))?;
    }
    watch(context, (store, &flow, 0), (driven, interrupts), wishes)
}

/// The workspace; if there is none, one is made in the current folder, and that is said.
fn store_or_new(context: &mut Context<'_>) -> Result<Store, Stop> {
    let found = context.store();
    let named = context.workspace.is_some() || context.environment.workspace.is_some();
    let (Err(_), false, Some(folder)) = (&found, named, &context.environment.folder) else {
        return found;
    };
    make_folder(&folder.join(OUR_FOLDER))?;
    let shown = folder.display().to_string();
    let note = format!("a workspace is made here: {}/{OUR_FOLDER}", plain(&shown));
    context.out.note(&note);
    context.store()
}

/// The project a file belongs to: the folder of the workspace it lies in, or the workspace itself.
fn project_of(store: &Store, context: &Context<'_>, file: &Path) -> Result<ProjectName, Stop> {
    let root = workspace::folder_of(store);
    let folder = context.environment.folder.clone().unwrap_or_default();
    let within = folder.join(file);
    let first = within.strip_prefix(root).ok().and_then(|below| {
        let mut names = below.components();
        let first = names.next()?.as_os_str().to_str()?.to_owned();
        // The last name is the file's own.
        names.next().map(|_| first)
    });
    let own = || root.file_name()?.to_str().map(str::to_owned);
    let named = first.and_then(|name| name.parse().ok());
    let named = named.or_else(|| own().and_then(|name| name.parse().ok()));
    match named {
        Some(name) => Ok(name),
        None => Ok(PROJECT_UNNAMED
            .parse()
            .map_err(a_society_state::Error::from)?),
    }
}
