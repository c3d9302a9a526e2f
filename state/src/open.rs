//! Opening a flow for writing, which is also its recovery.
//!
//! The steps, in this order: take the lock; make the names that lead here durable; gather
//! evidence; scan, check and fold every record; do what the verdict allows; make the tail durable;
//! record what was cut; look for the blobs the journal names; only then hand the flow out. Each
//! step may be cut off and is simply done again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use a_society_facts::fact::journal::{BlobFound, BlobLost};
use a_society_facts::id::{FlowId, ProjectName};
use a_society_facts::legal::legal;
use a_society_facts::line::Body;
use a_society_facts::view::Views;
use a_society_facts::{Fact, Hash, Recorded};

use crate::disk::{Disk, Kind};
use crate::error::Error;
use crate::evidence::evidence;
use crate::files::{make_folders, remove_if_there, sync_folder, uninterrupted};
use crate::flow::Flow;
use crate::flow_ref::FlowRef;
use crate::ground::Ground;
use crate::journal::append::Writer;
use crate::journal::recover;
use crate::journal::scan::{Known, Outcome, Position, Scan, scan};
use crate::layout::FlowFolder;
use crate::ledger::{JournalEnd, Tether};
use crate::limits::LEDGER_OPENS_MAX;
use crate::lock::FlowLock;
use crate::place::FlowPlace;
use crate::views::{ViewKeeper, ViewsIndex, read_index};
use crate::{checkpoint, copy, reserve};

/// What an open found and did, for the operator.
#[derive(Debug, Clone, Default)]
pub struct OpenReport {
    /// How many records were folded.
    pub records: u64,
    /// How many bytes were read.
    pub bytes: u64,
    /// What a recovery cut, as the journal now says.
    pub recovered: Vec<Fact>,
    /// Blobs that are missing now and were not before.
    pub blobs_lost: Vec<Hash>,
    /// Whether views had to be rebuilt.
    pub views_rebuilt: bool,
}

impl OpenReport {
    /// Roughly how many of the bytes that were read came after a record.
    fn bytes_after(&self, seq: u64) -> u64 {
        let after = self.records.saturating_sub(seq);
        let each = self.bytes / self.records.max(1);
        after.saturating_mul(each)
    }
}

/// What a fold of a whole journal gives.
#[derive(Debug)]
pub(crate) struct Fold {
    pub(crate) views: Views,
    pub(crate) spoken_of: BTreeSet<String>,
    pub(crate) blobs: BTreeMap<Hash, u64>,
}

impl Fold {
    fn new() -> Self {
        Self {
            views: Views::default(),
            spoken_of: BTreeSet::new(),
            blobs: BTreeMap::new(),
        }
    }

    fn hear(&mut self, recorded: &Recorded) -> Result<(), String> {
        if let Body::Known(fact) = &recorded.body {
            legal(&self.views.flow, fact).map_err(|illegal| illegal.to_string())?;
            self.gather(fact);
        }
        self.views.apply(recorded);
        Ok(())
    }

    fn gather(&mut self, fact: &Fact) {
        if let Some(name) = fact.quarantine() {
            self.spoken_of.insert(name.to_owned());
        }
        fact.each_blob(&mut |hash, bytes| {
            self.blobs.insert(hash, bytes);
        });
    }
}

/// Scans and folds a whole journal, checking every record as if it were to be appended now.
pub(crate) fn fold_all(disk: &dyn Disk, folder: &FlowFolder, flow: &FlowId) -> (Fold, Scan) {
    let mut fold = Fold::new();
    let known = Known {
        flow,
        evidence: evidence(disk, folder, flow),
        from: None,
    };
    let found = scan(disk, folder, known, &mut |recorded, _, _| {
        fold.hear(recorded)
    });
    (fold, found)
}

/// Opens a flow for writing.
///
/// # Errors
/// When another process writes it, when its journal is damaged, or when the file system refuses.
pub(crate) fn open(
    ground: &Ground,
    folder: FlowFolder,
    project: ProjectName,
    flow: FlowId,
) -> Result<(Flow, OpenReport), Error> {
    let Some(access) = &ground.ledger else {
        return open_here(ground, folder, project, flow);
    };
    let address = FlowRef { project, flow };
    if access.ledger.entry(&address)?.is_some() {
        // Another machine may have begun it.
        make_folders(ground.disk.as_ref(), folder.root())?;
    }
    let mut opens = 1;
    loop {
        let (project, flow) = (address.project.clone(), address.flow.clone());
        match open_here(ground, folder.clone(), project, flow) {
            // What another worker handed in meanwhile is fetched first.
            Err(Error::MovedOn) if opens < LEDGER_OPENS_MAX => opens += 1,
            opened => return opened,
        }
    }
}

/// Makes the copy of a flow's journal the same as the ledger's, and gives its end.
fn settle_copy(
    ground: &Ground,
    folder: &FlowFolder,
    address: &FlowRef,
    lock: &mut FlowLock,
) -> Result<Option<JournalEnd>, Error> {
    let Some(access) = &ground.ledger else {
        return Ok(None);
    };
    lock.claim(address, access)?;
    let copy = copy::JournalCopy {
        disk: ground.disk.as_ref(),
        folder,
        flow: address,
    };
    copy::settle(copy, access.ledger.as_ref())
}

fn open_here(
    ground: &Ground,
    folder: FlowFolder,
    project: ProjectName,
    flow: FlowId,
) -> Result<(Flow, OpenReport), Error> {
    let disk = ground.disk.as_ref();
    let address = FlowRef { project, flow };
    must_be_there(disk, &folder, &address.flow)?;
    let mut lock = FlowLock::take(disk, &folder, &ground.process)?;
    // The last holder of the lock may have removed the flow.
    must_be_there(disk, &folder, &address.flow)?;
    let kept = settle_copy(ground, &folder, &address, &mut lock)?;
    let tether = ground
        .ledger
        .as_ref()
        .map(|access| Tether::new(access.clone(), address.clone(), kept));
    let FlowRef { project, flow } = address;
    settle_names(disk, &folder)?;
    let (mut fold, found) = fold_all(disk, &folder, &flow);
    let index = read_index(disk, &folder, &flow);
    let report = OpenReport {
        records: found.records,
        bytes: found.bytes,
        ..OpenReport::default()
    };
    let writer = writer_for(ground, &folder, &flow, &mut fold, found, tether)?;
    tidy(disk, &folder, writer.end())?;
    let opened = Opened {
        ground,
        folder,
        project,
        id: flow,
        lock,
        writer,
        fold,
        report,
    };
    opened.finish(index)
}

fn must_be_there(disk: &dyn Disk, folder: &FlowFolder, flow: &FlowId) -> Result<(), Error> {
    match uninterrupted(|| disk.about(folder.root())) {
        Ok(about) if about.kind == Kind::Folder => Ok(()),
        Ok(_) | Err(_) => Err(Error::NoFlow(flow.to_string())),
    }
}

/// Makes the names that lead to the journal durable. A process that died may have given them
/// without a sync, and whatever is acknowledged from here on is only as durable as they are.
fn settle_names(disk: &dyn Disk, folder: &FlowFolder) -> Result<(), Error> {
    folder
        .way_here()
        .try_for_each(|path| sync_folder(disk, path))?;
    // The scan judges anything there that is not a folder.
    let is_folder = uninterrupted(|| disk.about(&folder.journal()))
        .is_ok_and(|about| about.kind == Kind::Folder);
    if is_folder {
        sync_folder(disk, &folder.journal())?;
    }
    Ok(())
}

/// Does what the verdict of a scan allows, and goes on with the journal.
fn writer_for(
    ground: &Ground,
    folder: &FlowFolder,
    flow: &FlowId,
    fold: &mut Fold,
    found: Scan,
    tether: Option<Tether>,
) -> Result<Writer, Error> {
    let disk = ground.disk.as_ref();
    match found.outcome {
        Outcome::Clean | Outcome::Blank => {}
        Outcome::Torn(tail) => recover::cut(disk, folder, &tail)?,
        Outcome::Damaged(damage) => return Err(Error::Damaged(Box::new(damage))),
    }
    let (shared, folder, flow) = (Arc::clone(&ground.disk), folder.clone(), flow.clone());
    if let Some(end) = found.end {
        recover::settle_doubt(disk, &folder, end)?;
        return Writer::go_on(shared, folder, flow, end, tether);
    }
    make_folders(disk, &folder.journal())?;
    let (writer, header) = Writer::begin(shared, folder, flow, ground.clock.now(), tether)?;
    fold.views.apply(&header);
    Ok(writer)
}

/// Removes what a process that died left half-made; none of it was ever named by a record.
fn tidy(disk: &dyn Disk, folder: &FlowFolder, end: Position) -> Result<(), Error> {
    remove_if_there(disk, &folder.new_segment(end.segment + 1))
}

struct Opened<'a> {
    ground: &'a Ground,
    folder: FlowFolder,
    project: ProjectName,
    id: FlowId,
    lock: FlowLock,
    writer: Writer,
    fold: Fold,
    report: OpenReport,
}

impl Opened<'_> {
    fn finish(mut self, index: Option<ViewsIndex>) -> Result<(Flow, OpenReport), Error> {
        let disk = Arc::clone(&self.ground.disk);
        let address = FlowRef {
            project: self.project.clone(),
            flow: self.id.clone(),
        };
        let place = FlowPlace::new(self.ground, self.folder.clone(), address);
        let spoken_of = std::mem::take(&mut self.fold.spoken_of);
        let owed = recover::owed(disk.as_ref(), &self.folder, &|name| {
            spoken_of.contains(name)
        })?;
        let blobs = self.blob_facts(&place)?;
        let end = self.writer.end();
        let Fold { views, .. } = self.fold;
        let now_us = self.ground.clock.elapsed_us();
        let mut keeper = ViewKeeper::new(
            self.folder.clone(),
            self.id.clone(),
            self.project.clone(),
            now_us,
        );
        keeper.adopt(disk.as_ref(), &views, index, end);
        self.report.views_rebuilt = !keeper.is_fresh();
        reserve::hold(disk.as_ref(), &self.folder)?;
        let checkpoint = checkpoint::read(disk.as_ref(), &self.folder, &self.id);
        let covered = checkpoint.map_or(0, |checkpoint| checkpoint.position.seq);
        let uncovered = self.report.bytes_after(covered);
        let folder = self.folder.clone();
        let mut flow = Flow::new(
            self.ground.clone(),
            place,
            self.lock,
            self.writer,
            views,
            keeper,
        );
        flow.began_uncovered(uncovered);
        if self.ground.ledger.is_some() {
            // The ledger decides now who writes, and not in the middle of a turn.
            flow.announce()?;
        }
        let cut = !owed.is_empty();
        for fact in owed.iter().chain(&blobs) {
            flow.append(fact.clone())?;
        }
        flow.sync()?;
        if cut {
            reread(disk.as_ref(), &folder, &flow)?;
        }
        self.report.recovered = owed;
        Ok((flow, self.report))
    }

    /// The facts about blobs that the journal names.
    fn blob_facts(&mut self, place: &FlowPlace) -> Result<Vec<Fact>, Error> {
        let mut facts = Vec::new();
        for (hash, bytes) in &self.fold.blobs {
            let known_lost = self.fold.views.flow.lost_blobs.contains_key(hash);
            let why = self.why_lost(place, *hash, *bytes)?;
            match why {
                Some(why) if !known_lost => {
                    self.report.blobs_lost.push(*hash);
                    facts.push(Fact::BlobLost(BlobLost { blob: *hash, why }));
                }
                None if known_lost => facts.push(Fact::BlobFound(BlobFound { blob: *hash })),
                Some(_) | None => {}
            }
        }
        Ok(facts)
    }

    /// Why a blob counts as lost. One that only the copy lacks is fetched.
    fn why_lost(&self, place: &FlowPlace, hash: Hash, bytes: u64) -> Result<Option<String>, Error> {
        let about = uninterrupted(|| place.disk().about(&self.folder.blob(hash)));
        let why = match about {
            Ok(about) if about.kind == Kind::File && about.size_bytes == bytes => return Ok(None),
            Ok(_) => "it does not have the size it had".to_owned(),
            Err(error) => error.to_string(),
        };
        if self.ground.ledger.is_none() {
            return Ok(Some(why));
        }
        match place.whole_blob(hash) {
            Ok(_) => Ok(None),
            // A ledger that does not answer has not lost it.
            Err(error @ Error::Ledger(_)) => Err(error),
            Err(_) => Ok(Some(why)),
        }
    }
}

/// Reads a recovered journal once more before anything runs on it.
fn reread(disk: &dyn Disk, folder: &FlowFolder, flow: &Flow) -> Result<(), Error> {
    let (_, again) = fold_all(disk, folder, flow.id());
    let same = again.outcome == Outcome::Clean && again.end == Some(flow.position());
    if same {
        return Ok(());
    }
    let what = "does not read back as it was recovered".to_owned();
    Err(Error::Unfit {
        path: folder.journal(),
        what,
    })
}
