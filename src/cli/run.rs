//! `run`: a flow file, or the graph of a project, is walked from its first node to its end.

use std::path::{Path, PathBuf};

use a_society_facts::id::{BadName, ProjectName};
use a_society_orchestrator::pasted_secrets::holds_a_secret;
use a_society_orchestrator::project::docs::folder::workflow_of;
use a_society_orchestrator::workspace::begin::{FlowChoices, FlowOrigin};
use a_society_orchestrator::workspace::belonging::{
    NotAProject, project_around, project_at, project_of_all,
};
use a_society_state::Store;
use a_society_state::disk::{Kind, RealDisk};
use a_society_state::files::kind_behind;

use super::budget::Limit;
use super::consent_flags::ConsentFlags;
use super::context::Context;
use super::drive::{Wishes, shown};
use super::flow_files::{Target, read_script, read_target, script_path};
use super::say::text_or_file;
use super::signals::Interrupts;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop};
use crate::text::plain;
use crate::workspace;

/// What names the workspace itself.
const ALL: &str = ".";

/// The arguments of `run`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
run walks the graph until the flow is over, waits for you, or is interrupted. On a terminal it \
streams what a role says, keeps what ran above, shows the nodes below with time, tokens and cost, \
and you answer what the flow asks with a key (with a typed word if A_SOCIETY_PLAIN is set). Into \
a pipe or a file it writes nothing but what the flow delivers; each event is then a line of \
stderr, which --quiet leaves out, or with --json an object of stdout. Everything is recorded \
before it counts, so resume goes on after any end of this process. Ctrl-C starts nothing new and \
lets running turns reach a recorded point; a second one ends at once. Nothing recorded is lost \
either way.

A project is a folder of the workspace, or the workspace itself, with a folder a-docs: its flows \
walk a-docs/workflow/main.yaml, and its roles read what that folder gives them. A flow file \
without roles takes them from its project, and what it does not say about a node is taken from \
the project's graph.

A flow file works on the folder of the workspace that it is in, if that folder has an a-docs, is \
a repository or has flows already; otherwise it works on the whole workspace. --project chooses \
another folder. The folder in which the roles work is printed first.

With --draft a flow starts without a graph, for a project or for the whole workspace. Its owner \
asks what is wanted and writes the graph into the flow's record; the flow then walks that graph.

A script.yaml beside the graph plays the roles of models, unless --script names another one. \
Without a workspace, one is created in the current folder.

A flow delivers the last file that its closing node wrote in the turn in which it closed or, if \
it wrote none, the last artifact that was handed to it. The path is printed at the end; --output \
writes the content as soon as the forward work is closed. With --json the first object names the \
flow, and the last one has what it delivered.

With --allow, --deny and --mode a flow runs unattended. A rule only answers what you would be \
asked: --deny overrides --allow, and calls that no rule names are asked about as usual. A command \
is compared argument by argument: the last * of 'pytest *' covers any further arguments, any \
other * exactly one. A line that a shell would interpret (; | $ > or a variable in front) is \
asked about. A command is allowed with all its options. A comma in quotes belongs to its rule. \
Rules stay with the flow: resume and fork keep them. consent: of your configuration holds rules \
for all flows.

A flow file outside every project ends with its forward work, unless it says improve: or you say \
--improve. In a project the project's own setting holds, or you are asked.

run ends with 0 when the flow is over, with 8 to 12 when it waits for you (a-society help lists \
for what), and with 130 when it was interrupted.

Examples:
  a-society run flow.yaml
  a-society run my-project
  a-society run --draft --input 'The release notes of the last month.'
  a-society run flow.yaml --input 'Write the release notes.'
  a-society run flow.yaml --input @brief.md
  git log --oneline v1.. | a-society run flow.yaml --input - --improve none > notes.md
  a-society run flow.yaml --improve none --json | jq -c .event
  a-society run flow.yaml --budget 2_000_000
  a-society run flow.yaml --allow edits,'pytest *',mcp:files --deny web
  a-society run flow.yaml --allow edits:src --allow 'cargo test *,commands:make' --deny 'rm *'
  a-society run flow.yaml --mode full --deny edits:migrations
  a-society run flow.yaml --script other.yaml --until-waiting")]
pub(crate) struct Arguments {
    /// The flow file, or the project's folder
    #[arg(value_name = "FILE|PROJECT", required_unless_present = "draft")]
    file: Option<PathBuf>,

    /// Begin without a graph: the owner asks you what is wanted, and writes it
    #[arg(long)]
    draft: bool,

    /// The project a flow file works on: a folder of the workspace, or . for all of it
    #[arg(long, value_name = "NAME|.", value_parser = project)]
    project: Option<Chosen>,

    /// The flow's title; the graph's name if absent
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// What the flow is to do; @FILE reads it from a file, - from standard input, and @@home is the text
    /// @home
    #[arg(long, value_name = "TEXT|@FILE")]
    input: Option<String>,

    /// The script that takes turns; script.yaml beside the file if there is one
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,

    /// How many tokens it may use before it asks you, or none for no limit; if absent, what its file or
    /// limits: of the configuration say, or 20 million
    #[arg(long, value_name = "TOKENS|none", allow_negative_numbers = true, value_parser = super::budget::limit)]
    budget: Option<Limit>,

    #[command(flatten)]
    beforehand: ConsentFlags,

    #[command(flatten)]
    wishes: Wishes,
}

/// The project that an argument names.
#[derive(Debug, Clone)]
pub(crate) enum Chosen {
    /// The workspace itself.
    All,
    /// A folder of it.
    Named(ProjectName),
}

impl Chosen {
    pub(crate) fn name(&self, store: &Store) -> Result<ProjectName, Stop> {
        match self {
            Self::All => Ok(project_of_all(store)?),
            Self::Named(name) => Ok(name.clone()),
        }
    }
}

pub(crate) fn project(text: &str) -> Result<Chosen, String> {
    if text == ALL || text == "./" {
        return Ok(Chosen::All);
    }
    let named = text.parse().map(Chosen::Named);
    named.map_err(|bad: BadName| bad.to_string())
}

/// Runs it.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    super::delivered::make_ready(context, &arguments.wishes)?;
    if arguments.draft {
        return begin_draft(context, arguments);
    }
    let named = arguments.file.clone().unwrap_or_default();
    let target = read_target(&mut context.out, &named, "run")?;
    let graph = match &target {
        Target::File(_) => named.clone(),
        Target::Project(_, folder) => workflow_of(folder),
    };
    let script = match script_path(&graph, arguments.script.as_deref()) {
        Some(path) => Some(read_script(&mut context.out, &path)?),
        None => None,
    };
    let input = arguments.input.as_deref().map(text_or_file).transpose()?;
    if input.as_deref().is_some_and(holds_a_secret) {
        context.out.note(super::say::SECRET);
    }
    let store = store_or_new(context, &named)?;
    let origin = match target {
        Target::Project(file, folder) => {
            if arguments.project.is_some() {
                return Err(two_projects());
            }
            FlowOrigin::Whole(Box::new(file), name_of(&store, &folder)?)
        }
        Target::File(file) => {
            let project = match &arguments.project {
                Some(project) => project.name(&store)?,
                None => project_of(&store, context, &named)?,
            };
            FlowOrigin::Read(Box::new(file), project)
        }
    };
    let choices = arguments.choices(input, script);
    begin(context, &store, origin, choices, arguments.wishes.clone())
}

impl Arguments {
    fn choices(&self, input: Option<String>, script: Option<String>) -> FlowChoices {
        FlowChoices {
            title: self.title.clone(),
            input,
            script,
            tokens: self.budget.map(Limit::tokens),
            mode: self.beforehand.mode(),
            rules: self.beforehand.rules(),
            ..FlowChoices::default()
        }
    }
}

/// Runs a flow whose graph its owner writes.
fn begin_draft(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let here = PathBuf::from(".");
    let folder = arguments.file.as_ref().unwrap_or(&here);
    if kind_behind(&RealDisk, folder) != Some(Kind::Folder) {
        return Err(draft_of_file(folder));
    }
    let script = match &arguments.script {
        Some(path) => Some(read_script(&mut context.out, path)?),
        None => None,
    };
    let input = arguments.input.as_deref().map(text_or_file).transpose()?;
    if input.as_deref().is_some_and(holds_a_secret) {
        context.out.note(super::say::SECRET);
    }
    let store = store_or_new(context, folder)?;
    let project = match (&arguments.project, &arguments.file) {
        (Some(_), Some(_)) => return Err(two_projects()),
        (Some(project), None) => project.name(&store)?,
        (None, Some(folder)) => name_of(&store, folder)?,
        // The last part is the name of a file, which does not exist here.
        (None, None) => project_of(&store, context, Path::new("draft"))?,
    };
    let choices = arguments.choices(input, script);
    let wishes = arguments.wishes.clone();
    begin(context, &store, FlowOrigin::Draft(project), choices, wishes)
}

fn draft_of_file(path: &Path) -> Stop {
    let what = format!("{} is no folder, and a draft has no file", path.display());
    let why = "with --draft a flow begins without a graph";
    let hint = "leave --draft out to run the file, or name a project's folder";
    OperatorError::new(("usage", ExitCode::Usage), what, why, hint).into()
}

fn two_projects() -> Stop {
    let what = "a project's folder and --project name two projects";
    let why = "the folder is the project already";
    let hint = "leave --project out, or name a flow file";
    OperatorError::new(("usage", ExitCode::Usage), what, why, hint).into()
}

/// The name of the project that is this folder.
fn name_of(store: &Store, folder: &Path) -> Result<ProjectName, Stop> {
    project_at(store, folder).map_err(|why| {
        let hint = match &why {
            NotAProject::Elsewhere(_) => {
                "move it there, or name its workspace with --workspace DIR"
            }
            NotAProject::Unnamable(_) => "give the folder another name",
            NotAProject::State(_) => "look at the folder's rights",
        };
        let what = format!("{} cannot be run as a project", folder.display());
        let kind = ("project-unfit", ExitCode::Failed);
        OperatorError::new(kind, what, why.to_string(), hint).into()
    })
}

/// Begins a flow and watches it.
///
/// # Errors
/// When it cannot be begun or driven.
pub(crate) fn begin(
    context: &mut Context<'_>,
    store: &Store,
    origin: FlowOrigin,
    choices: FlowChoices,
    wishes: Wishes,
) -> Outcome {
    let choices = FlowChoices {
        ends: wishes.ends(),
        turns_at_once: wishes.turns_at_once.map(usize::from),
        ..choices
    };
    let interrupts = Interrupts::listen()?;
    let begun = super::begin::begin(context, store, origin, choices)?;
    shown(
        context,
        store,
        &begun.flow,
        0,
        begun.driven,
        interrupts,
        wishes,
    )
}

/// The workspace: the one around the current folder, the one around what is run, or, if there is none,
/// a new one in the current folder. A choice that the operator may not expect is printed.
pub(crate) fn store_or_new(context: &mut Context<'_>, target: &Path) -> Result<Store, Stop> {
    let found = context.store();
    let named = context.workspace.is_some() || context.environment.workspace.is_some();
    let (Err(_), false, Some(folder)) = (&found, named, &context.environment.folder) else {
        return found;
    };
    let beside = if kind_behind(&RealDisk, target) == Some(Kind::Folder) {
        Some(target)
    } else {
        target
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
    };
    let around = beside.and_then(|folder| workspace::around(folder).ok().flatten());
    if let Some(around) = around {
        let shown = around.display().to_string();
        let shown = plain(&shown).into_owned();
        context.out.note(&format!(
            "the workspace is {shown}; go there for other commands, or name it with --workspace"
        ));
        context.workspace = Some(around);
        return context.store();
    }
    context.make_workspace(folder)
}

/// The project a file belongs to.
pub(crate) fn project_of(
    store: &Store,
    context: &Context<'_>,
    file: &Path,
) -> Result<ProjectName, Stop> {
    let folder = context.environment.folder.clone().unwrap_or_default();
    let within = folder.join(file);
    Ok(project_around(store, within.parent().unwrap_or(&folder))?)
}
