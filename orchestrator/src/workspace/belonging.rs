//! Which project a file or a folder of the workspace belongs to.

use std::path::{Component, Path, PathBuf};

use a_society_facts::id::{BadName, ProjectName};
use a_society_state::Store;
use a_society_state::disk::{Disk, Kind};
use a_society_state::files::kind_behind;

use crate::project::docs::folder::{DOCS_NAME, is_project};
use crate::project::place::workspace_of;

/// The name of a project whose folder has none that can be used.
const PROJECT_UNNAMED: &str = "project";

/// What the workspace is called as a project where the name of its folder cannot be used.
const NAMES_OF_ALL: [&str; 2] = [PROJECT_UNNAMED, "workspace"];

/// Why a folder is no project of the workspace.
#[derive(Debug, thiserror::Error)]
pub enum NotAProject {
    /// It is neither a folder of the workspace nor the workspace itself.
    #[error(
        "a project is a folder of the workspace or the workspace itself, which is {}",
        .0.display()
    )]
    Elsewhere(PathBuf),
    /// Its name cannot be the name of a project.
    #[error(transparent)]
    Unnamable(BadName),
    /// It cannot be looked at.
    #[error(transparent)]
    State(#[from] a_society_state::Error),
}

/// The project that is this folder.
///
/// # Errors
/// When it is not a project of this workspace.
pub fn project_at(store: &Store, folder: &Path) -> Result<ProjectName, NotAProject> {
    let disk = store.ground().disk.as_ref();
    let (folder, root) = (whole(disk, folder)?, whole(disk, workspace_of(store))?);
    let is_ours = folder == root || folder.parent() == Some(root.as_path());
    if !is_ours {
        return Err(NotAProject::Elsewhere(root));
    }
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    match name.parse() {
        Err(_) if folder == root => Ok(unnamed()?),
        parsed => parsed.map_err(NotAProject::Unnamable),
    }
}

/// The project that a file in this folder belongs to: the folder of the workspace it is in, where that is a
/// project, and else the workspace itself. A folder that only keeps flow files is no project.
///
/// # Errors
/// When the workspace is gone.
pub fn project_around(store: &Store, beside: &Path) -> Result<ProjectName, a_society_state::Error> {
    let (disk, root) = (store.ground().disk.as_ref(), workspace_of(store));
    let first = |beside: &Path, root: &Path| {
        let first = beside.strip_prefix(root).ok()?.components().next()?;
        let first = first.as_os_str().to_str()?;
        let name: ProjectName = first.parse().ok()?;
        is_worked_on(store, &name, &root.join(first)).then_some(name)
    };
    // As it was typed, and as it is behind links and `..`.
    let is_up = |part: Component<'_>| matches!(part, Component::ParentDir);
    let typed = first(beside, root).filter(|_| !beside.components().any(is_up));
    let found = typed.or_else(|| {
        let (beside, root) = (disk.whole(beside).ok()?, disk.whole(root).ok()?);
        first(&beside, &root)
    });
    found.map_or_else(|| project_of_all(store), Ok)
}

/// Whether a folder of the workspace is worked on by itself: it says how, it is a repository of its own,
/// or it has flows.
pub(super) fn is_worked_on(store: &Store, name: &ProjectName, folder: &Path) -> bool {
    let disk = store.ground().disk.as_ref();
    // What says how the workspace works is a part of it.
    name.as_str() != DOCS_NAME
        && (is_project(disk, folder)
            || kind_behind(disk, &folder.join(".git")).is_some()
            || kind_behind(disk, &store.root().join(name.as_str())) == Some(Kind::Folder))
}

/// The name under which the workspace itself is a project: that of its folder, unless a folder in it has
/// the same.
///
/// # Errors
/// When the workspace is gone.
pub fn project_of_all(store: &Store) -> Result<ProjectName, a_society_state::Error> {
    let (disk, root) = (store.ground().disk.as_ref(), workspace_of(store));
    let own = whole(disk, root)?;
    let own = own.file_name().and_then(|name| name.to_str());
    let is_free = |name: &&str| kind_behind(disk, &root.join(name)) != Some(Kind::Folder);
    let mut free = own.into_iter().chain(NAMES_OF_ALL).filter(is_free);
    match free.find_map(|name| name.parse().ok()) {
        Some(name) => Ok(name),
        None => unnamed(),
    }
}

fn unnamed() -> Result<ProjectName, a_society_state::Error> {
    Ok(PROJECT_UNNAMED.parse()?)
}

/// Whether a path that is typed within the workspace stays there, behind links, too.
#[must_use]
pub(crate) fn lies_within(disk: &dyn Disk, root: &Path, path: &Path) -> bool {
    let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    let (Ok(whole), Ok(root)) = (disk.whole(&root.join(path)), disk.whole(root)) else {
        return false;
    };
    path.components().all(is_plain) && whole.starts_with(root)
}

fn whole(disk: &dyn Disk, path: &Path) -> Result<PathBuf, a_society_state::Error> {
    let whole = disk.whole(path);
    whole.map_err(|error| a_society_state::Error::io("look at", path, error))
}
