//! The projects of a workspace, each with what it chooses for all of its flows.

use std::path::PathBuf;

use a_society_facts::fact::flow::Ends;
use a_society_facts::id::ProjectName;
use a_society_state::Store;
use a_society_state::disk::Kind;

use crate::project::docs::folder::{defaults, is_project as is_project_folder};
use crate::project::place::workspace_of;
use crate::workspace::belonging::{is_worked_on, project_of_all};

/// A folder of the workspace that is or may become a project, or the workspace itself.
#[derive(Debug)]
pub struct ProjectFolder {
    /// Its name.
    pub name: ProjectName,
    /// Where it is.
    pub folder: PathBuf,
    /// Whether it is a project: a folder that only keeps files, such as those of flows, is no project yet.
    pub is_project: bool,
    /// Whether it says how it works, so that flows may be begun from its graph.
    pub is_ready: bool,
    /// How its flows end, as far as it chooses that for all of them.
    pub ends: Ends,
    /// How many flows it has.
    pub flows: u64,
}

/// The workspace itself and its folders, as far as they can be projects.
#[must_use]
pub fn project_folders(store: &Store) -> Vec<ProjectFolder> {
    let (disk, root) = (store.ground().disk.as_ref(), workspace_of(store));
    let flows = store.census().map(|census| census.flows);
    let flows = flows.unwrap_or_default();
    let own = project_of_all(store)
        .ok()
        .map(|name| (name, root.to_owned(), true));
    let entries = disk.list(root).unwrap_or_default().into_iter();
    let folders = entries.filter(|entry| entry.kind == Kind::Folder);
    let folders = folders.filter_map(|entry| {
        let (name, folder) = (entry.name.parse().ok()?, root.join(&entry.name));
        let is_project = is_worked_on(store, &name, &folder);
        Some((name, folder, is_project))
    });
    let rows = own
        .into_iter()
        .chain(folders)
        .map(|(name, folder, is_project)| ProjectFolder {
            ends: defaults(disk, &folder).into(),
            is_project,
            is_ready: is_project_folder(disk, &folder),
            flows: flows.iter().filter(|flow| flow.project == name).count() as u64,
            name,
            folder,
        });
    rows.collect()
}
