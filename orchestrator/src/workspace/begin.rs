//! Beginning a flow. The terminal, the page and the demonstration all begin one here, so that the same
//! configuration refuses it and the same defaults hold, wherever it is asked for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use a_society_facts::fact::chat::ChatContext;
use a_society_facts::fact::flow::{Ends, TokenBudget};
use a_society_facts::fact::operator::{ConsentMode, ConsentRules};
use a_society_facts::id::{ClientId, FlowId, ProjectName, SessionKey};
use a_society_flow::graph::Diagnostic;
use a_society_state::{FlowRef, Store};

use super::chat_context::chat_context;
use super::flow_files::script_beside;
use super::material::{
    Noted, Unfit, chat_in, draft_in, file_of_workspace, in_project, sound_project,
};
use crate::config::user::{self, ConfigError};
use crate::config::workspace;
use crate::driver::task::Driven;
use crate::project::docs::folder::workflow_of;
use crate::project::flow_file::{FileError, FlowFile, read_script};
use crate::project::place::{folder_of, workspace_of};
use crate::project::unconfigured::Configured;
use crate::run::{self, NewChat, NewFlow, RunError};

/// What a new flow begins from.
#[derive(Debug)]
pub enum FlowOrigin {
    /// A flow file that was read, for a project: what the file leaves out comes from there.
    Read(Box<FlowFile>, ProjectName),
    /// A graph that was read and has all of its roles, such as that of a project.
    Whole(Box<FlowFile>, ProjectName),
    /// A flow file of the workspace, by its path in it, with the script beside it.
    File(PathBuf),
    /// The graph of a project, with the script beside it.
    Project(ProjectName),
    /// No graph: the owner of a project writes it.
    Draft(ProjectName),
    /// A chat.
    Chat {
        /// Its project.
        project: ProjectName,
        /// The role that answers; the built-in one if absent.
        role: Option<String>,
        /// What its person calls it.
        label: Option<String>,
        /// What it is about; the folder of the project if absent.
        context: Option<ChatContext>,
    },
}

/// What the operator chooses for a new flow. What is left out is as its file, its project or the configuration
/// says.
#[derive(Debug, Default)]
pub struct FlowChoices {
    /// How people call it.
    pub title: Option<String>,
    /// What it is asked to do.
    pub input: Option<String>,
    /// The text of the script that takes its turns.
    pub script: Option<String>,
    /// How it is to end.
    pub ends: Ends,
    /// The tokens it may use.
    pub tokens: Option<TokenBudget>,
    /// How much it may do without asking.
    pub mode: Option<ConsentMode>,
    /// The standing rules about its calls.
    pub rules: ConsentRules,
    /// How many of its turns may run at once.
    pub turns_at_once: Option<usize>,
}

/// The names of a flow that no person begins. They say what it is for, so that it begins once.
#[derive(Debug, Clone)]
pub(crate) struct ByItself {
    /// Its id.
    pub(crate) flow: FlowId,
    /// What began it, and for what.
    pub(crate) client: ClientId,
    /// The address of its session, if it is a chat.
    pub(crate) key: SessionKey,
}

/// What is remarkable about a flow that begins.
#[derive(Debug)]
pub enum BeginNote<'a> {
    /// The diagnostics of what it is made of.
    Diagnostics(&'a [Diagnostic]),
    /// A rule about a server that is not configured: it never answers anything.
    IdleRule(&'a str),
}

/// A flow that began, or goes on.
#[derive(Debug)]
pub struct BegunFlow {
    /// Which.
    pub flow: FlowRef,
    /// How it is driven.
    pub driven: Driven,
}

/// Why a flow was not begun.
#[derive(Debug, thiserror::Error)]
pub enum NotBegun {
    /// The operator's configuration cannot be used.
    #[error(transparent)]
    Configuration(ConfigError),
    /// The configuration of the workspace cannot be used.
    #[error(transparent)]
    Workspace(ConfigError),
    /// No flow can be made of its origin.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// It cannot be made or driven.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Begins a flow and drives it.
///
/// # Errors
/// When the configuration or what it is made of cannot be used, or the disk refuses.
pub fn begin(
    store: &Store,
    origin: FlowOrigin,
    choices: FlowChoices,
    noted: &mut dyn FnMut(BeginNote<'_>),
) -> Result<BegunFlow, NotBegun> {
    let turns_at_once = choices.turns_at_once;
    let new = new_flow(store, origin, choices, None, noted)?;
    let project = new.project.clone();
    let driven = run::start(store, new, store.ground().clock.now(), turns_at_once)?;
    let flow = FlowRef {
        project,
        flow: driven.handle.id().clone(),
    };
    Ok(BegunFlow { flow, driven })
}

/// Begins a flow by itself, once, and drives it. It has its address, whether it began now or before.
///
/// # Errors
/// As [`begin`].
pub(crate) fn begin_once(
    store: &Store,
    origin: FlowOrigin,
    choices: FlowChoices,
    names: ByItself,
) -> Result<(FlowRef, Option<Driven>), NotBegun> {
    let flow = names.flow.clone();
    let new = new_flow(store, origin, choices, Some(names), &mut |_| {})?;
    let address = FlowRef {
        project: new.project.clone(),
        flow: flow.clone(),
    };
    let driven = run::start_once(store, new, flow, store.ground().clock.now())?;
    Ok((address, driven))
}

fn new_flow(
    store: &Store,
    origin: FlowOrigin,
    choices: FlowChoices,
    names: Option<ByItself>,
    noted: &mut dyn FnMut(BeginNote<'_>),
) -> Result<NewFlow, NotBegun> {
    let material = material_of(store, origin, &mut |diagnostics| {
        noted(BeginNote::Diagnostics(diagnostics));
    })?;
    let (project, folder) = (material.project, material.folder);
    usable(workspace_of(store))?;
    note_idle_rules(store, &choices.rules, &folder, &mut |rule| {
        noted(BeginNote::IdleRule(rule));
    });
    let (client, key) = match names {
        Some(names) => (Some(names.client), Some(names.key)),
        None => (None, None),
    };
    Ok(NewFlow {
        project,
        project_folder: folder,
        title: choices.title.filter(|title| !title.trim().is_empty()),
        input: choices.input.filter(|input| !input.trim().is_empty()),
        file: material.file,
        script: choices.script.or(material.script),
        ends: choices.ends,
        tokens: choices.tokens,
        mode: choices.mode,
        rules: choices.rules,
        chat: material.chat.map(|chat| NewChat { key, ..chat }),
        client,
    })
}

/// What a flow is made of.
struct Material {
    project: ProjectName,
    folder: PathBuf,
    file: FlowFile,
    script: Option<String>,
    chat: Option<NewChat>,
}

fn material_of(store: &Store, origin: FlowOrigin, noted: Noted<'_>) -> Result<Material, Unfit> {
    let of = |project: ProjectName, file: FlowFile| Material {
        folder: folder_of(store, &project),
        project,
        file,
        script: None,
        chat: None,
    };
    Ok(match origin {
        FlowOrigin::Read(file, project) => {
            let file = in_project(store, &project, *file, noted)?;
            of(project, file)
        }
        FlowOrigin::Whole(file, project) => of(project, *file),
        FlowOrigin::File(path) => {
            let (project, file, whole) = file_of_workspace(store, &path, noted)?;
            Material {
                script: script_text_beside(store, &whole)?,
                ..of(project, file)
            }
        }
        FlowOrigin::Project(project) => {
            let folder = folder_of(store, &project);
            let sound = sound_project(store.ground().disk.as_ref(), &folder, noted)?;
            Material {
                script: script_text_beside(store, &workflow_of(&folder))?,
                ..of(project, sound.canonical)
            }
        }
        FlowOrigin::Draft(project) => {
            let file = draft_in(store, &project, noted)?;
            of(project, file)
        }
        FlowOrigin::Chat {
            project,
            role,
            label,
            context,
        } => {
            let file = chat_in(store, &project, role.as_deref(), noted)?;
            let made = of(project, file);
            let at_project =
                || chat_context(store, &made.folder, &made.folder, None, BTreeMap::new());
            Material {
                chat: Some(NewChat {
                    key: None,
                    label: label.filter(|label| !label.trim().is_empty()),
                    context: context.unwrap_or_else(at_project),
                    max_turns: None,
                }),
                ..made
            }
        }
    })
}

fn script_text_beside(store: &Store, graph: &Path) -> Result<Option<String>, FileError> {
    let disk = store.ground().disk.as_ref();
    let beside = script_beside(disk, graph);
    let read = beside.map(|path| read_script(disk, &path));
    Ok(read.transpose()?.map(|(_, text)| text))
}

/// Looks whether the configuration can be used by something that begins: limits, standing rules and
/// notifications that cannot be read must not count as none. Without a home there is no configuration, and the
/// usual limits hold.
fn usable(workspace_folder: &Path) -> Result<(), NotBegun> {
    if let Err(error @ ConfigError::Faulty { .. }) = user::bounds() {
        return Err(NotBegun::Configuration(error));
    }
    if let Err(error @ (ConfigError::Faulty { .. } | ConfigError::Unreadable { .. })) =
        user::consent()
    {
        return Err(NotBegun::Configuration(error));
    }
    if let Err(error @ ConfigError::Faulty { .. }) = user::notify() {
        return Err(NotBegun::Configuration(error));
    }
    workspace::consent(workspace_folder).map_err(NotBegun::Workspace)?;
    Ok(())
}

/// Notes which of these rules are about servers that are not configured.
pub fn note_idle_rules(
    store: &Store,
    rules: &ConsentRules,
    project_folder: &Path,
    noted: &mut dyn FnMut(&str),
) {
    if rules.allow.is_empty() && rules.deny.is_empty() {
        return;
    }
    let configured = Configured::read(project_folder, Some(workspace_of(store)));
    for idle in configured.idle_rules(rules) {
        noted(&idle);
    }
}
