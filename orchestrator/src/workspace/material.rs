//! What a new flow is made of: a flow file, the graph of its project, or a draft.

use std::path::{Path, PathBuf};

use a_society_facts::id::{NodeId, ProjectName, RoleInstance};
use a_society_flow::graph::{Diagnostic, Executor, GraphNode, RenderFault, RoleName, base_role};
use a_society_state::Store;
use a_society_state::disk::Disk;

use super::belonging::{lies_within, project_around};
use crate::project::chat;
use crate::project::docs::folder::{self, Project, is_project, over_canonical};
use crate::project::draft;
use crate::project::flow_file::{self, FileError, FlowFile};
use crate::project::place::{folder_of, workspace_of};

/// Why no flow can be made of it.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// A project has faults.
    #[error("{} is not a sound project", .folder.display())]
    Project {
        /// Its folder.
        folder: PathBuf,
        /// What is remarkable about it.
        diagnostics: Vec<Diagnostic>,
    },
    /// The role of a node is not defined.
    #[error(
        "the node {node} has the role {role}, and neither the file nor the project {} has it",
        .folder.display()
    )]
    Stranger {
        /// The flow file.
        file: PathBuf,
        /// Its node.
        node: NodeId,
        /// The node's role.
        role: RoleInstance,
        /// The project's folder.
        folder: PathBuf,
    },
    /// A flow file does not fit the graph of its project.
    #[error("{fault}")]
    Overlay {
        /// The flow file.
        file: PathBuf,
        /// Why not.
        fault: RenderFault,
    },
    /// A project does not have the role that a chat is to be with.
    #[error("{} has no role {role}{}", .folder.display(), listed(.known))]
    NoSuchRole {
        /// The role, as it was named.
        role: String,
        /// The project's folder.
        folder: PathBuf,
        /// The roles that it has.
        known: Vec<String>,
    },
    /// A role whose turns no model takes.
    #[error("the role {0} is not played by a model, and only models answer in a chat")]
    NotAModel(RoleName),
    /// A path that leads out of the workspace.
    #[error("only files of the workspace are run, by their path in it")]
    Outside(PathBuf),
    /// A file cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The workspace cannot be looked at.
    #[error(transparent)]
    State(#[from] a_society_state::Error),
}

/// The roles that there are, after the one that there is not.
fn listed(known: &[String]) -> String {
    match known {
        [] => String::new(),
        known => format!("; it has {}", known.join(", ")),
    }
}

/// Gets the diagnostics of a file, whether it can be used or not.
pub(crate) type Noted<'n> = &'n mut dyn FnMut(&[Diagnostic]);

/// A project's folder, and everything that is remarkable about it.
#[must_use]
pub fn inspect_project(disk: &dyn Disk, folder: &Path) -> (Option<Project>, Vec<Diagnostic>) {
    // A dot reads badly in front of a path.
    let folder = if folder == Path::new(".") {
        Path::new("")
    } else {
        folder
    };
    folder::inspect(disk, folder)
}

/// The project in a folder.
///
/// # Errors
/// When it has faults.
pub fn sound_project(disk: &dyn Disk, folder: &Path, noted: Noted<'_>) -> Result<Project, Unfit> {
    let (project, diagnostics) = inspect_project(disk, folder);
    noted(&diagnostics);
    project.ok_or_else(|| Unfit::Project {
        folder: folder.to_owned(),
        diagnostics,
    })
}

/// A flow file of the workspace, by its path in it: the project it belongs to, what its flow is made of, and
/// where it is.
///
/// # Errors
/// When it is elsewhere, cannot be read, or does not fit its project.
pub(crate) fn file_of_workspace(
    store: &Store,
    path: &Path,
    noted: Noted<'_>,
) -> Result<(ProjectName, FlowFile, PathBuf), Unfit> {
    let (disk, root) = (store.ground().disk.as_ref(), workspace_of(store));
    if !lies_within(disk, root, path) {
        return Err(Unfit::Outside(path.to_owned()));
    }
    let whole = root.join(path);
    let project = project_around(store, whole.parent().unwrap_or(root))?;
    let read = disk.whole(&whole).unwrap_or_else(|_| whole.clone());
    let file = flow_file::read_as(disk, &read, path)?;
    let file = in_project(store, &project, file, noted)?;
    Ok((project, file, whole))
}

/// What a flow of this file is made of in a project. A file without roles takes them, and what it leaves unsaid,
/// from its project if that has any.
///
/// # Errors
/// When the project has faults, or the file does not fit it.
pub(crate) fn in_project(
    store: &Store,
    project: &ProjectName,
    file: FlowFile,
    noted: Noted<'_>,
) -> Result<FlowFile, Unfit> {
    let (disk, folder) = (store.ground().disk.as_ref(), folder_of(store, project));
    if file.defines_roles || !is_project(disk, &folder) {
        return Ok(file);
    }
    let project = sound_project(disk, &folder, noted)?;
    let roles = &project.canonical.roles;
    let is_strange = |node: &&GraphNode| !roles.contains_key(&base_role(&node.role));
    if let Some(stranger) = file.graph.nodes().iter().find(is_strange) {
        return Err(Unfit::Stranger {
            node: stranger.id.clone(),
            role: stranger.role.clone(),
            file: file.path,
            folder,
        });
    }
    let path = file.path.clone();
    over_canonical(&project, file).map_err(|fault| Unfit::Overlay { file: path, fault })
}

/// The draft with which a flow of a project begins that has no graph yet.
///
/// # Errors
/// When the project has faults.
pub(crate) fn draft_in(
    store: &Store,
    project: &ProjectName,
    noted: Noted<'_>,
) -> Result<FlowFile, Unfit> {
    let (disk, folder) = (store.ground().disk.as_ref(), folder_of(store, project));
    if is_project(disk, &folder) {
        Ok(draft::of_project(&sound_project(disk, &folder, noted)?)?)
    } else {
        Ok(draft::alone()?)
    }
}

/// A chat in a project: with one of its roles, or with the built-in one if none is named.
///
/// # Errors
/// When the project has faults or no such role, or no model answers for it.
pub(crate) fn chat_in(
    store: &Store,
    project: &ProjectName,
    role: Option<&str>,
    noted: Noted<'_>,
) -> Result<FlowFile, Unfit> {
    let Some(named) = role.filter(|role| *role != chat::ASSISTANT) else {
        return Ok(chat::plain()?);
    };
    let (disk, folder) = (store.ground().disk.as_ref(), folder_of(store, project));
    let no_such = |known: Vec<String>| Unfit::NoSuchRole {
        role: named.to_owned(),
        folder: folder.clone(),
        known,
    };
    if !is_project(disk, &folder) {
        return Err(no_such(Vec::new()));
    }
    let project = sound_project(disk, &folder, noted)?;
    let roles = &project.canonical.roles;
    let Some((name, role)) = roles.iter().find(|(name, _)| name.to_string() == named) else {
        return Err(no_such(roles.keys().map(ToString::to_string).collect()));
    };
    match role.executor() {
        Executor::Model | Executor::Scripted => Ok(chat::with_role(&project, name)?),
        Executor::Human | Executor::Command => Err(Unfit::NotAModel(name.clone())),
    }
}
