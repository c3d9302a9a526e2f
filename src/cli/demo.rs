//! `demo`: a flow to look at, without keys, models or a network.

use std::io::Write;
use std::path::{Path, PathBuf};

use a_society_facts::fact::improvement::ImprovementMode;
use a_society_orchestrator::project::flow_file::{FlowFile, inspect};
use a_society_orchestrator::project::{docs, draft};
use a_society_orchestrator::workspace::begin::{FlowChoices, FlowOrigin};
use a_society_state::OUR_FOLDER;
use a_society_state::Store;

use super::asks::short;
use super::context::Context;
use super::drive::Wishes;
use super::run::begin;
use crate::exit_code::ExitCode;
use crate::new_project::{EXAMPLE_FLOW, EXAMPLE_SCRIPT, shown_slowly};
use crate::operator_error::{Outcome, Stop, from_io};
use crate::output_file::{OutputFile, make_folder};
use crate::text::plain;
use crate::workspace;

/// What can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Example {
    /// Work that is sent back once, and the correction that flows forward
    #[default]
    ReviewLoop,
    /// A project with five roles, and a retrospective along the graph
    ReleaseNotes,
    /// A flow that begins without a graph: its owner asks you, and writes it
    Solo,
}

/// Who says what in the flow that begins without a graph.
const SOLO: &str = include_str!("../../examples/solo/script.yaml");

/// A file of a project that is shown: its path in the project, and what it says.
macro_rules! of_project {
    ($($path:literal),* $(,)?) => {
        [$((
            concat!("a-docs/", $path),
            include_str!(concat!("../../examples/release-notes/a-docs/", $path)),
        )),*]
    };
}

/// The project that is shown.
const PROJECT: [(&str, &str); 21] = of_project![
    "agents.md",
    "audience.md",
    "style.md",
    "indexes/main.md",
    "improvement/meta-analysis.md",
    "roles/editor/main.md",
    "roles/editor/ownership.yaml",
    "roles/editor/required-readings.yaml",
    "roles/engineer/main.md",
    "roles/engineer/ownership.yaml",
    "roles/engineer/required-readings.yaml",
    "roles/owner/main.md",
    "roles/owner/ownership.yaml",
    "roles/owner/required-readings.yaml",
    "roles/support/main.md",
    "roles/support/ownership.yaml",
    "roles/support/required-readings.yaml",
    "roles/writer/main.md",
    "roles/writer/ownership.yaml",
    "roles/writer/required-readings.yaml",
    "workflow/main.yaml",
];
/// Who says what in the project.
const PROJECT_SCRIPT: &str =
    include_str!("../../examples/release-notes/a-docs/workflow/script.yaml");

/// The name under which it runs.
const NAME: &str = "demo";

/// The arguments of `demo`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
review-loop: a writer drafts, a reviewer sends the work back once, and the correction flows \
forward. release-notes: five roles of a project write, and then have a retrospective, each \
with the findings of those that worked after it. solo: a flow without a graph; its owner asks you \
what it should write.

On a terminal the page is served beside the flow until Ctrl-C, and its address is printed.

A script takes every turn. Without --dir or --workspace the flow runs in a new temporary folder, \
which is kept so that you can look at it.

Examples:
  a-society demo
  a-society demo release-notes
  a-society demo --headless
  a-society demo --dir try-it")]
pub(crate) struct Arguments {
    /// The example
    #[arg(value_name = "EXAMPLE", value_enum, default_value_t)]
    example: Example,

    /// Print one line for each event, as into a pipe
    #[arg(long)]
    headless: bool,

    /// Show it in your browser too, as it is done on a terminal; the address is printed
    #[arg(long, conflicts_with = "headless")]
    ui: bool,

    /// The folder in which it runs; created if it does not exist
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Shows it.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    if arguments.headless {
        context.out.be_plain();
    }
    let store = store(context, arguments.dir.as_deref())?;
    let Some((file, script)) = shown(&store, arguments.example)? else {
        // It is an example, and the examples are checked by the tests.
        return Ok(ExitCode::Failed);
    };
    // A person who watches should see it happen.
    let looks = context.out.is_terminal() && !context.out.is_json();
    let script = if looks {
        shown_slowly(script)
    } else {
        script.to_owned()
    };
    let project = NAME.parse().map_err(a_society_state::Error::from)?;
    let origin = FlowOrigin::Whole(Box::new(file), project);
    let choices = FlowChoices {
        input: Some("Show what a flow is.".to_owned()),
        script: Some(script),
        ..FlowChoices::default()
    };
    let looks_back = arguments.example != Example::ReviewLoop;
    let wishes = Wishes {
        until_waiting: arguments.headless,
        improve: Some(if looks_back {
            ImprovementMode::GraphBased
        } else {
            ImprovementMode::None
        }),
        feedback: Some(looks_back),
        turns_at_once: None,
        ui: arguments.ui || (looks && !arguments.headless),
        output: None,
        force: false,
        quiet: false,
    };
    let code = begin(context, &store, origin, choices, wishes)?;
    if !context.out.is_json() {
        tell(context, &store);
    }
    Ok(code)
}

/// The flow of an example and its script. The files of a project are written first.
fn shown(store: &Store, example: Example) -> Result<Option<(FlowFile, &'static str)>, Stop> {
    Ok(match example {
        Example::ReviewLoop => {
            let (file, _) = inspect(Path::new("flow.yaml"), EXAMPLE_FLOW.to_owned());
            file.map(|file| (file, EXAMPLE_SCRIPT))
        }
        Example::Solo => draft::alone().ok().map(|file| (file, SOLO)),
        Example::ReleaseNotes => {
            let folder = workspace::folder_of(store).join(NAME);
            for (path, text) in PROJECT {
                write(&folder.join(path), text)?;
            }
            let (project, _) = docs::folder::inspect(store.ground().disk.as_ref(), &folder);
            project.map(|project| (project.canonical, PROJECT_SCRIPT))
        }
    })
}

/// Writes a file of the project, unless it is there from another time.
fn write(path: &Path, text: &str) -> Result<(), Stop> {
    if path.exists() {
        return Ok(());
    }
    make_folder(path.parent().unwrap_or(path))?;
    let mut file = OutputFile::create(path, false)?;
    let written = file.write_all(text.as_bytes());
    written.map_err(|error| from_io("write", &path.display().to_string(), &error))?;
    file.finish()?;
    Ok(())
}

/// The workspace that is named, or else a new one among the temporary folders.
fn store(context: &mut Context<'_>, dir: Option<&Path>) -> Result<Store, Stop> {
    let dir = match dir {
        None if context.workspace.is_some() => return context.store(),
        None => {
            let name = format!("a-society-demo-{}", std::process::id());
            context.environment.temporary.join(name)
        }
        Some(dir) => dir.to_owned(),
    };
    workspace::make(&dir)?;
    context.workspace = Some(dir);
    context.store()
}

/// What there is to look at.
fn tell(context: &mut Context<'_>, store: &Store) {
    let Some(flow) = context.named.clone() else {
        return;
    };
    let root = workspace::folder_of(store).display().to_string();
    let root = plain(&root).into_owned();
    let name = short(&flow);
    let folder = format!("{root}/{OUR_FOLDER}/state/{flow}");
    let folder = plain(&folder).into_owned();
    for line in [
        String::new(),
        "What to look at:".to_owned(),
        format!("  a-society --workspace {root} show {name}     how far the flow is"),
        format!("  a-society --workspace {root} log {name}      every fact, in order"),
        format!("  {folder}/record    what the roles wrote"),
        format!("  {folder}/journal   the facts as plain JSON"),
        format!("  a-society --workspace {root} serve --open     all of it in your browser"),
    ] {
        context.out.note(&line);
    }
}
