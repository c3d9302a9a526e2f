//! The projects of a workspace, each with what it chooses for all of its flows.

use std::path::PathBuf;

use a_society_facts::fact::flow::Ends;
use a_society_facts::id::ProjectName;
use a_society_state::Store;
use a_society_state::disk::Kind;

use crate::project::docs::folder::{defaults, is_project};
use crate::project::place::workspace_of;

/// A folder of the workspace that may be a project, or the workspace itself.
#[derive(Debug)]
pub struct ProjectFolder {
    /// Its name.
    pub name: ProjectName,
    /// Where it is.
    pub folder: PathBuf,
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
    let own = root.file_name().map(|name| name.to_string_lossy());
    let own = own.map(|name| (name.into_owned(), root.to_owned()));
    let entries = disk.list(root).unwrap_or_default().into_iter();
    let folders =
        entries.filter(|entry| entry.kind == Kind::Folder && !entry.name.starts_with('.'));
    let folders = folders.map(|entry| (entry.name.clone(), root.join(&entry.name)));
    let rows = own.into_iter().chain(folders).filter_map(|(name, folder)| {
        let name: ProjectName = name.parse().ok()?;
        Some(ProjectFolder {
            ends: defaults(disk, &folder).into(),
            is_ready: is_project(disk, &folder),
            flows: flows.iter().filter(|flow| flow.project == name).count() as u64,
            name,
            folder,
        })
    });
    rows.collect()
}
