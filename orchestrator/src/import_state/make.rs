//! A plan for each flow that was found, and making exactly that.

use std::collections::BTreeMap;
use std::path::PathBuf;

use a_society_facts::fact::journal::SegmentStarted;
use a_society_facts::fact::operator::ConsentMode;
use a_society_facts::id::ProjectName;
use a_society_facts::line::FORMAT;
use a_society_facts::view::Views;
use a_society_facts::view::flow::FlowPhase;
use a_society_facts::{At, Fact, Hash, Recorded};
use a_society_state::adopt::Coming;
use a_society_state::disk::Disk;
use a_society_state::{FlowRef, Store};

use super::compare::compare;
use super::sketch::ImportSketch;
use super::source::{ForeignFile, ForeignFlow, ForeignFolder, aside, read};
use super::translate::translate;
use crate::config::models::Catalog;
use crate::limits::AILMENTS_RECORDED_MAX;
use crate::mint::Mint;
use crate::project::docs::ailment::ailments;
use crate::project::docs::folder::is_project;
use crate::project::place::folder_of;

/// What is done with a flow that was found.
#[derive(Debug)]
pub enum ImportPlan {
    /// It can be imported.
    Ready(Box<Ready>),
    /// It was imported before.
    Already {
        /// The flow.
        flow: FlowRef,
        /// Whether its files changed since.
        changed: bool,
    },
    /// It cannot be imported.
    Refused {
        /// Its folder.
        place: PathBuf,
        /// Why, in words.
        why: String,
    },
}

/// A flow that can be imported.
#[derive(Debug)]
pub struct Ready {
    /// The flow it becomes.
    pub flow: FlowRef,
    /// How people call it.
    pub title: String,
    /// Its folder.
    pub place: PathBuf,
    /// Where that folder goes, if it has the path of the flow.
    pub aside: Option<PathBuf>,
    /// The folder of its project, which is not imported.
    pub project_folder: PathBuf,
    /// What of it no view shows; the files that hold it are kept.
    pub without_place: Vec<String>,
    /// What is not carried over, or not as it was, a sentence each.
    pub left: Vec<String>,
    /// How many messages its sessions hold.
    pub messages: usize,
    /// How many files its record folder holds.
    pub record_files: usize,
    /// Whether anything of it still goes on.
    pub goes_on: bool,
    /// Whether its roles may do everything without asking.
    pub asks_nobody: bool,
    facts: Vec<(At, Fact)>,
    blobs: BTreeMap<Hash, Vec<u8>>,
    record: Vec<String>,
}

/// What would be done with a flow, whose roles go on with the models of this configuration. Nothing is
/// changed.
pub fn plan(
    store: &Store,
    found: &ForeignFolder,
    catalog: &Catalog,
    now: At,
    mint: &mut dyn Mint,
) -> ImportPlan {
    match planned(store, found, catalog, now, mint) {
        Ok(plan) => plan,
        Err(why) => ImportPlan::Refused {
            place: found.place.clone(),
            why,
        },
    }
}

fn planned(
    store: &Store,
    found: &ForeignFolder,
    catalog: &Catalog,
    now: At,
    mint: &mut dyn Mint,
) -> Result<ImportPlan, String> {
    let disk = store.ground().disk.as_ref();
    let mut source = read(disk, found)?;
    let target = store.place(&source.flow);
    let is_there = disk.about(target.path()).is_ok();
    if target.has_journal() {
        return already(store, &source);
    }
    let in_place = is_there && target.path() == found.place;
    if is_there && !in_place {
        return Err(format!(
            "something else is where it would be: {}",
            target.path().display()
        ));
    }
    source.ailments = ailing(store, &source.flow.project);
    // The first pass finds what no view shows, and the second one says it.
    let (_, without_place) = folded(disk, &source, catalog, now, mint, Vec::new())?;
    let (said, _) = folded(disk, &source, catalog, now, mint, without_place.clone())?;
    let sessions = said.views.sessions.values();
    Ok(ImportPlan::Ready(Box::new(Ready {
        flow: source.flow.clone(),
        title: said.views.flow.title.clone(),
        place: found.place.clone(),
        aside: in_place.then(|| aside(store, disk, &source.flow)),
        project_folder: found.project_folder.clone(),
        without_place,
        left: source.left.iter().chain(&said.left).cloned().collect(),
        messages: sessions.map(|session| session.messages.len()).sum(),
        record_files: source.record.len(),
        goes_on: said.views.flow.phase != FlowPhase::Completed,
        asks_nobody: said.views.flow.consent_mode == ConsentMode::FullAccess,
        facts: said.facts,
        blobs: said.blobs,
        record: source.record,
    })))
}

/// What is wrong with the project that the flow is going to work on, if it is there and can be determined.
fn ailing(store: &Store, project: &ProjectName) -> Option<Vec<String>> {
    let (disk, folder) = (store.ground().disk.as_ref(), folder_of(store, project));
    let found = is_project(disk, &folder).then(|| ailments(disk, &folder))?;
    let few = found.len() <= AILMENTS_RECORDED_MAX;
    few.then(|| found.into_iter().map(|ailment| ailment.what).collect())
}

/// A source in facts, and what they fold to.
struct TranslatedFlow {
    facts: Vec<(At, Fact)>,
    blobs: BTreeMap<Hash, Vec<u8>>,
    left: Vec<String>,
    views: Views,
}

fn folded(
    disk: &dyn Disk,
    source: &ForeignFlow,
    catalog: &Catalog,
    now: At,
    mint: &mut dyn Mint,
    without_place: Vec<String>,
) -> Result<(TranslatedFlow, Vec<String>), String> {
    // It was in this state when its files were written last, and nothing happened to it since.
    let stood = source.written.min(now);
    let mut sketch = ImportSketch::new(source.flow.flow.clone(), stood, mint);
    let names = translate(disk, source, catalog, &mut sketch, without_place)?;
    let mut views = Views::default();
    let header = Fact::SegmentStarted(SegmentStarted {
        flow: source.flow.flow.clone(),
        format: FORMAT,
        writer: String::new(),
        segment: 1,
        previous: None,
    });
    views.apply(&Recorded::new(1, now, header));
    for (seq, (at, fact)) in (2..).zip(&sketch.facts) {
        views.apply(&Recorded::new(seq, *at, fact.clone()));
    }
    let differences = compare(source, &names, &views);
    let said = TranslatedFlow {
        facts: sketch.facts,
        blobs: sketch.blobs,
        left: sketch.left,
        views,
    };
    Ok((said, differences))
}

/// A flow of that name is there: it was imported before, or it is another one.
fn already(store: &Store, source: &ForeignFlow) -> Result<ImportPlan, String> {
    let look = store
        .look(&source.flow)
        .map_err(|error| error.to_string())?;
    let Some(origins) = &look.screen.flow.imported else {
        return Err(format!("there is a flow {} already", source.flow));
    };
    let same = |now: &ForeignFile| {
        let mut known = origins.files.iter().filter(|file| file.path == now.path);
        known.any(|file| file.blob == Hash::of(&now.bytes))
    };
    Ok(ImportPlan::Already {
        flow: source.flow.clone(),
        changed: !source.files.iter().all(same),
    })
}

/// Makes the flow of a plan; it is durable on return, without a driver yet.
///
/// # Errors
/// When it came to be meanwhile, another process makes it just now, or the file system refuses.
/// There is no flow then, and what it is read from is as it was.
pub fn make(store: &Store, ready: &Ready) -> Result<FlowRef, a_society_state::Error> {
    let coming = Coming::begin(store, ready.flow.clone())?;
    for bytes in ready.blobs.values() {
        coming.keep(bytes)?;
    }
    for path in &ready.record {
        coming.copy_record(path, &ready.place.join("record").join(path))?;
    }
    let made = coming.finish(&ready.facts, ready.aside.as_deref())?;
    // Its views only make the next listing faster.
    if let Ok((flow, _)) = store.open(&made) {
        drop(flow.close());
    }
    Ok(made)
}
