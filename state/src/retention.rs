//! Removing flows that are over: a plan first, then exactly that plan.
//!
//! Only flows that ended or never began, without a writer and that are undamaged are ever removed. A flow's
//! folder first gets a name that no flow has, so that a removal that is cut off leaves nothing
//! that looks like a flow, and the next one finishes it.

use std::path::{Path, PathBuf};

use a_society_facts::At;

use crate::disk::{Disk, Kind};
use crate::error::Error;
use crate::files::{sync_folder, uninterrupted};
use crate::flow_ref::FlowRef;
use crate::foreign::is_foreign;
use crate::index::rows;
use crate::journal::scan::Outcome;
use crate::layout::{COMING, FlowFolder};
use crate::lock::{FlowLock, is_held};
use crate::open::fold_all;
use crate::store::Store;

/// How a folder's name begins while it is being removed.
const GOING: &str = ".going-";

/// How deep a flow's folder is followed; deeper ones are not ours.
pub(crate) const DEPTH_MAX: u32 = 64;

/// The title of a flow whose process died before one was recorded.
pub(crate) const NEVER_BEGAN: &str = "(it never began)";

/// One flow that would be removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Going {
    /// The flow.
    pub flow: FlowRef,
    /// Its title.
    pub title: String,
    /// When something last happened in it.
    pub updated_at: At,
}

/// What a removal would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrunePlan {
    /// The flows that would go.
    pub going: Vec<Going>,
    /// How many flows stay because they are not over, too young, damaged or written.
    pub staying: usize,
    /// Folders that an earlier removal left half-removed.
    pub leftovers: Vec<PathBuf>,
}

/// What would be removed: flows that ended before a moment.
///
/// # Errors
/// When the state root cannot be listed.
pub fn plan(store: &Store, before: At) -> Result<PrunePlan, Error> {
    let census = store.census()?;
    let mut plan = PrunePlan {
        leftovers: leftovers(store, before)?,
        ..PrunePlan::default()
    };
    for row in rows(store, &census.flows) {
        let over = row.damage.is_none() && row.held_by.is_none();
        let ended = match row.summary {
            Some(summary) if over && summary.is_over() => {
                summary.updated_at.map(|at| (at, summary.title))
            }
            None if over => made_at(store, &row.flow).map(|at| (at, NEVER_BEGAN.to_owned())),
            Some(_) | None => None,
        };
        let old = ended.filter(|(updated_at, _)| *updated_at < before);
        match old.filter(|_| may_go(store, &row.flow)) {
            Some((updated_at, title)) => plan.going.push(Going {
                flow: row.flow,
                title,
                updated_at,
            }),
            None => plan.staying += 1,
        }
    }
    Ok(plan)
}

/// Whether every record of a flow verifies and no process writes it. A row is made without looking at
/// all of a journal, and that is not enough for removing it.
fn may_go(store: &Store, flow: &FlowRef) -> bool {
    let (disk, folder) = (store.disk(), store.folder(flow));
    let (_, found) = fold_all(disk, &folder, &flow.flow);
    !is_foreign(disk, &folder)
        && matches!(found.outcome, Outcome::Clean | Outcome::Blank)
        && matches!(is_held(disk, &folder), Ok(None))
}

/// When the folder of a flow that never began was last touched.
pub(crate) fn made_at(store: &Store, flow: &FlowRef) -> Option<At> {
    let folder = store.folder(flow);
    let about = uninterrupted(|| store.disk().about(folder.root())).ok()?;
    Some(At::from_ms(about.modified_ms))
}

fn leftovers(store: &Store, before: At) -> Result<Vec<PathBuf>, Error> {
    let disk = store.disk();
    let mut found = Vec::new();
    let projects = uninterrupted(|| disk.list(store.root())).unwrap_or_default();
    for project in projects.iter().filter(|entry| entry.kind == Kind::Folder) {
        let path = store.root().join(&project.name);
        if project.name.starts_with(COMING) {
            // An import that still goes on is younger than any age that is asked for.
            let about = uninterrupted(|| disk.about(&path));
            if about.is_ok_and(|about| about.modified_ms < before.ms()) {
                found.push(path);
            }
            continue;
        }
        let entries =
            uninterrupted(|| disk.list(&path)).map_err(|e| Error::io("list", &path, e))?;
        let going = |name: &str| name.starts_with(GOING);
        found.extend(
            entries
                .iter()
                .filter(|e| going(&e.name))
                .map(|e| path.join(&e.name)),
        );
    }
    Ok(found)
}

/// Removes exactly what a plan says. A flow that was opened since stays.
///
/// # Errors
/// When the file system refuses; what was removed by then stays removed.
pub fn apply(store: &Store, plan: &PrunePlan) -> Result<Vec<FlowRef>, Error> {
    store.must_be_files("a removal by age")?;
    let disk = store.disk();
    for leftover in &plan.leftovers {
        remove_tree(disk, leftover, 0)?;
    }
    let mut removed = Vec::new();
    for going in &plan.going {
        let folder = store.folder(&going.flow);
        let lock = match FlowLock::take(disk, &folder, &store.ground().process) {
            Ok(lock) => lock,
            Err(Error::Busy { .. }) => continue,
            Err(error) => return Err(error),
        };
        remove_flow(disk, &folder)?;
        drop(lock);
        removed.push(going.flow.clone());
    }
    Ok(removed)
}

pub(crate) fn remove_flow(disk: &dyn Disk, folder: &FlowFolder) -> Result<(), Error> {
    let parent = folder.root().parent().unwrap_or(Path::new("."));
    let name = folder
        .root()
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let going = parent.join(format!("{GOING}{name}"));
    uninterrupted(|| disk.rename(folder.root(), &going))
        .map_err(|e| Error::io("remove", folder.root(), e))?;
    sync_folder(disk, parent)?;
    remove_tree(disk, &going, 0)?;
    sync_folder(disk, parent)
}

/// Removes a folder and what is in it, without following links.
pub(crate) fn remove_tree(disk: &dyn Disk, path: &Path, depth: u32) -> Result<(), Error> {
    if depth > DEPTH_MAX {
        let what = "is nested too deeply to be ours".to_owned();
        return Err(Error::Unfit {
            path: path.to_owned(),
            what,
        });
    }
    let entries = uninterrupted(|| disk.list(path)).map_err(|e| Error::io("list", path, e))?;
    for entry in entries {
        let inner = path.join(&entry.name);
        match entry.kind {
            Kind::Folder => remove_tree(disk, &inner, depth + 1)?,
            Kind::File | Kind::Other => uninterrupted(|| disk.remove_file(&inner))
                .map_err(|e| Error::io("remove", &inner, e))?,
        }
    }
    uninterrupted(|| disk.remove_folder(path)).map_err(|e| Error::io("remove", path, e))
}
