//! Which workspace a command works on, and the store of its flows.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use a_society_orchestrator::project::place;
use a_society_state::clock::SystemClock;
use a_society_state::disk::{RealDisk, UnlockedDisk};
use a_society_state::{Ground, process};
use a_society_state::{OUR_FOLDER, Store, find_root, make_workspace};

use crate::environment::Environment;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Stop};
use crate::output_file::{make_folder, whole_path};

/// The ground the machine itself gives.
pub(crate) fn machine() -> Ground {
    let disk = Arc::new(RealDisk);
    let process = process::this(disk.as_ref());
    Ground {
        disk,
        clock: Arc::new(SystemClock::default()),
        process,
        ledger: None,
    }
}

/// The store of the workspace that is named, or else of the one around the current folder.
///
/// # Errors
/// When there is none.
pub(crate) fn store(
    environment: &Environment,
    named: Option<&Path>,
    without_locks: bool,
) -> Result<Store, Stop> {
    let ground = ground(without_locks);
    let root = match named.or(environment.workspace.as_deref()) {
        Some(folder) => named_root(&ground, folder)?,
        None => found_root(&ground, environment.folder.as_deref())?,
    };
    Ok(Store::new(ground, root))
}

/// The store of a folder that is no workspace yet. Nothing is made.
pub(crate) fn future(folder: &Path, without_locks: bool) -> Store {
    let root = folder.join(OUR_FOLDER).join("state");
    Store::new(ground(without_locks), root)
}

fn ground(without_locks: bool) -> Ground {
    let mut ground = machine();
    if without_locks {
        ground.disk = Arc::new(UnlockedDisk(ground.disk));
    }
    ground
}

/// Makes a folder a workspace.
///
/// # Errors
/// When the file system refuses.
pub(crate) fn make(folder: &Path) -> Result<(), Stop> {
    make_folder(folder)?;
    Ok(make_workspace(&RealDisk, folder)?)
}

/// The workspace around a folder, or the folder itself.
///
/// # Errors
/// When the folder is not there.
pub(crate) fn around(folder: &Path) -> Result<Option<PathBuf>, Stop> {
    let root = find_root(&RealDisk, &whole_path(folder)?)?;
    let folder = root
        .as_deref()
        .and_then(Path::parent)
        .and_then(Path::parent);
    Ok(folder.map(Path::to_owned))
}

/// The workspace's own folder: the one that holds `.a-society`.
pub(crate) fn folder_of(store: &Store) -> &Path {
    place::workspace_of(store)
}

fn none(what: String, why: &str) -> Stop {
    let hint = "go to a folder of a workspace, name one with --workspace DIR, or make one here \
                with: a-society init";
    OperatorError::new(("no-workspace", ExitCode::NotFound), what, why, hint).into()
}

fn named_root(ground: &Ground, folder: &Path) -> Result<PathBuf, Stop> {
    let wanted = folder.join(OUR_FOLDER).join("state");
    match find_root(ground.disk.as_ref(), folder)? {
        // One further up is not the one that was named.
        Some(root) if root == wanted => Ok(root),
        Some(_) | None => {
            let what = format!("{} is not a workspace", folder.display());
            Err(none(what, "it holds no folder .a-society"))
        }
    }
}

fn found_root(ground: &Ground, folder: Option<&Path>) -> Result<PathBuf, Stop> {
    let Some(folder) = folder else {
        let what = "the current folder is gone".to_owned();
        return Err(none(what, "it was removed while this shell stood in it"));
    };
    find_root(ground.disk.as_ref(), folder)?.ok_or_else(|| {
        let what = format!("{} is in no workspace", folder.display());
        none(what, "neither it nor a folder above it holds .a-society")
    })
}
