//! Where the project of a flow is in its workspace, and what its roles name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use a_society_facts::id::ProjectName;
use a_society_flow::graph::{InlineRole, RoleName};
use a_society_state::Store;
use a_society_state::disk::{Disk, Kind};
use a_society_state::files::kind_behind;

use super::choices::AUTO;
use super::docs::folder::{discover, is_project, roles};

/// A role of a project that names something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedBy {
    /// The project's folder, as it is called.
    pub project: String,
    /// The role.
    pub role: RoleName,
}

/// The workspace's own folder: the one that holds the folder of all flows.
#[must_use]
pub fn workspace_of(store: &Store) -> &Path {
    let ours = store.root().parent();
    ours.and_then(Path::parent).unwrap_or(Path::new("."))
}

/// The folder of a flow's project: the one of its name in the workspace, or the workspace itself.
#[must_use]
pub fn folder_of(store: &Store, project: &ProjectName) -> PathBuf {
    let root = workspace_of(store);
    let folder = root.join(project.as_str());
    if kind_behind(store.ground().disk.as_ref(), &folder) == Some(Kind::Folder) {
        folder
    } else {
        root.to_owned()
    }
}

/// The roles of a flow's project as its files have them now; none if it has no files of roles.
#[must_use]
pub fn roles_of(store: &Store, project: &ProjectName) -> BTreeMap<String, InlineRole> {
    let disk = store.ground().disk.as_ref();
    let folder = folder_of(store, project);
    if !is_project(disk, &folder) {
        return BTreeMap::new();
    }
    let roles = roles(disk, &folder).into_iter();
    roles.map(|(name, role)| (name.to_string(), role)).collect()
}

/// What roles name, each with the roles that do.
pub type NameUses = BTreeMap<String, Vec<NamedBy>>;

/// Roles in words.
pub(crate) fn in_words<'n>(by: impl IntoIterator<Item = &'n NamedBy>) -> Vec<String> {
    let by = by.into_iter();
    by.map(|by| format!("{}/{}", by.project, by.role)).collect()
}

/// The models that files of roles name in the projects of a workspace, with the roles that do.
#[must_use]
pub(crate) fn models_named(disk: &dyn Disk, workspace: &Path) -> NameUses {
    named(disk, workspace, |role| role.model.map(|model| vec![model]))
}

/// The MCP servers that files of roles name in the projects of a workspace, with the roles that do.
#[must_use]
pub fn servers_named(disk: &dyn Disk, workspace: &Path) -> NameUses {
    named(disk, workspace, |role| role.mcp_servers)
}

/// The skills that files of roles name in the projects of a workspace, with the roles that do.
#[must_use]
pub(crate) fn skills_named(disk: &dyn Disk, workspace: &Path) -> NameUses {
    named(disk, workspace, |role| role.skills)
}

fn named(disk: &dyn Disk, workspace: &Path, of: fn(InlineRole) -> Option<Vec<String>>) -> NameUses {
    let mut named = NameUses::new();
    for folder in discover(disk, workspace) {
        let own = folder.file_name().or_else(|| workspace.file_name());
        let project = own.map(|name| name.to_string_lossy().into_owned());
        for (role, definition) in roles(disk, &folder) {
            for name in of(definition).unwrap_or_default() {
                // It leaves the choice to a model, and names none.
                if name != AUTO {
                    named.entry(name).or_default().push(NamedBy {
                        project: project.clone().unwrap_or_default(),
                        role: role.clone(),
                    });
                }
            }
        }
    }
    named
}

/// The folders of a workspace's projects, by the names of the folders.
#[must_use]
pub fn projects_of(disk: &dyn Disk, workspace: &Path) -> BTreeMap<String, PathBuf> {
    let folders = discover(disk, workspace).into_iter();
    let named = folders.filter_map(|folder| {
        let own = folder.file_name().or_else(|| workspace.file_name());
        Some((own?.to_string_lossy().into_owned(), folder))
    });
    named.collect()
}
