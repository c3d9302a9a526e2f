//! `demo`: a flow to look at, without keys, models or a network.

use std::path::{Path, PathBuf};

use a_society_facts::fact::improvement::ImprovementMode;
use a_society_orchestrator::project::flow_file::inspect;
use a_society_orchestrator::run::NewFlow;
use a_society_state::Store;
use a_society_state::store::OUR_FOLDER;

use super::asks::short;
use super::context::Context;
use super::drive::Wishes;
use super::run::begin;
use crate::exit_code::ExitCode;
use crate::operator_error::{Outcome, Stop};
use crate::output_file::make_folder;
use crate::text::plain;
use crate::workspace;

/// The flow that is shown.
pub(super) const FLOW: &str = include_str!("../../examples/review-loop/flow.yaml");
/// Who says what in it.
pub(super) const SCRIPT: &str = include_str!("../../examples/review-loop/script.yaml");

/// How fast the script speaks, and how fast it speaks to somebody who looks.
const PACE: &str = "every-ms: 5 }";
const PACE_SHOWN: &str = "every-ms: 250 }";

/// The arguments of `demo`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A writer drafts, a reviewer sends the work back once, and the correction flows forward. A script takes
every turn. Without --dir or --workspace it runs in a new folder among the temporary ones, which is
kept, so that you can look at it.

Examples:
  a-society demo
  a-society demo --headless
  a-society demo --dir try-it")]
pub(crate) struct Arguments {
    /// Print one line an event, as if nobody looked
    #[arg(long)]
    headless: bool,

    /// The folder in which it runs; made if it is not there
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Shows it.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    if arguments.headless {
        context.out.be_plain();
    }
    let store = store(context, arguments.dir.as_deref())?;
    let (file, _) = inspect(Path::new("flow.yaml"), FLOW.to_owned());
    let Some(file) = file else {
        // It is an example, and the examples are checked by the tests.
        return Ok(ExitCode::Failed);
    };
    // Somebody who looks shall see it happen.
    let looks = context.out.is_terminal() && !context.out.is_json();
    let script = if looks {
        SCRIPT.replace(PACE, PACE_SHOWN)
    } else {
        SCRIPT.to_owned()
    };
    let new = NewFlow {
        project: "demo".parse().map_err(a_society_state::Error::from)?,
        project_folder: PathBuf::new(),
        title: None,
        input: Some("Show what a flow is.".to_owned()),
        file,
        script: Some(script),
        client: None,
    };
    let wishes = Wishes {
        until_waiting: arguments.headless,
        improve: Some(ImprovementMode::None),
        feedback: Some(false),
        turns_at_once: None,
    };
    let code = begin(context, &store, new, wishes)?;
    if !context.out.is_json() {
        tell(context, &store);
    }
    Ok(code)
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
    make_folder(&dir.join(OUR_FOLDER))?;
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
        format!("  a-society --workspace {root} show {name}     where the flow stands"),
        format!("  a-society --workspace {root} log {name}      every fact, in order"),
        format!("  {folder}/record    what the roles wrote"),
        format!("  {folder}/journal   the facts as plain JSON"),
        "The page that shows flows in a browser comes with a later version.".to_owned(),
    ] {
        context.out.note(&line);
    }
}
