//! What must hold of every disk that a fault, a death or a power cut leaves behind.

use std::collections::BTreeMap;

use a_society_facts::fact::journal::RecoveryTruncated;
use a_society_facts::id::Seq;
use a_society_facts::{Fact, Hash};
use a_society_in_memory::FaultyDisk;
use a_society_state::journal::recover::{parse_name, parse_piece};
use a_society_state::journal::verdict::Damage;
use a_society_state::open::OpenReport;
use a_society_state::repair::Diagnosis;
use a_society_state::views::{bytes_of, names};
use a_society_state::{Error, Flow, FlowRef, Store, blob, repair};

use crate::model::{
    ELSEWHERE, Model, Removal, created, flow_ref, in_project, is_about_the_journal,
};
use crate::script::store_over;

/// What a disk came to once it was opened, used and opened again.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Verdict {
    /// What users did, as the journal tells it; absent if there is no flow.
    pub(crate) told: Option<Vec<Fact>>,
    /// Whether a recovery cut something.
    pub(crate) cut: bool,
}

/// Every record of a flow's journal that this program knows.
pub(crate) fn records(store: &Store, flow: &FlowRef) -> BTreeMap<Seq, Fact> {
    let mut records = BTreeMap::new();
    let mut each = |recorded: &a_society_facts::Recorded| {
        let fact = recorded.fact().cloned().unwrap();
        records.insert(recorded.seq, fact);
    };
    store.follow(flow).unwrap().read(&mut each).unwrap();
    records
}

/// Holds a disk against the promises. The disk is not changed.
pub(crate) fn judge(left: &FaultyDisk, model: &Model, seed: u64) -> Verdict {
    let disk = left.kill_clone();
    // There is room again.
    disk.set_free_bytes(None);
    judge_carried(&disk, model);
    let (store, _) = store_over(&disk);
    let opened = match store.open(&flow_ref()) {
        Err(Error::NoFlow(_)) => {
            judge_absence(&disk, model);
            return Verdict {
                told: None,
                cut: false,
            };
        }
        Err(Error::Damaged(damage)) => repaired(&store, &damage, model),
        opened => opened.unwrap_or_else(|error| panic!("the flow does not open: {error}")),
    };
    assert_ne!(model.removal, Removal::Done, "a removed flow came back");
    judge_opened(&disk, &store, opened, model, seed)
}

fn judge_absence(disk: &FaultyDisk, model: &Model) {
    let gone = model.removal != Removal::None;
    assert!(gone || !model.exists(), "the flow is gone");
    if model.removal == Removal::Done {
        let left: Vec<_> = disk
            .files()
            .into_iter()
            .filter(|path| path.to_string_lossy().contains(".going-"))
            .collect();
        assert_eq!(
            left,
            [""; 0].map(std::path::PathBuf::from),
            "a removed flow left files"
        );
    }
}

/// Only what was destroyed from outside may be damaged, and a repair must get over it.
fn repaired(store: &Store, damage: &Damage, model: &Model) -> (Flow, OpenReport) {
    let from = model
        .harmed_from
        .unwrap_or_else(|| panic!("we damaged it ourselves: {damage}"));
    assert!(damage.expected >= from, "{damage}, but {from} was harmed");
    let diagnosis = repair::plan(store, &flow_ref()).unwrap();
    let Diagnosis::Plan(plan) = diagnosis else {
        panic!("no plan for {damage}: {diagnosis:?}");
    };
    repair::apply(store, &plan).unwrap_or_else(|error| panic!("the repair failed: {error}"))
}

fn judge_opened(
    disk: &FaultyDisk,
    store: &Store,
    (mut flow, report): (Flow, OpenReport),
    model: &Model,
    seed: u64,
) -> Verdict {
    let there = records(store, &flow_ref());
    all_there(&there, &model.acked, "after the open");
    for fact in there.values().filter(|fact| !is_about_the_journal(fact)) {
        assert!(model.tried.contains(fact), "nobody ever said {fact:?}");
    }
    judge_quarantine(disk, &flow, &there);
    for hash in &model.blobs {
        judge_blob(disk, &flow, &there, *hash);
    }
    let told = told_by(&there);
    let (at_once, _) = store_over(&disk.crash_clone(seed ^ 0x55));
    drop(at_once.open(&flow_ref()).unwrap());
    all_there(
        &records(&at_once, &flow_ref()),
        &there,
        "that an open has shown",
    );
    let mut promised = there;
    go_on(&mut flow, &mut promised);
    // What was acknowledged after a recovery survives what comes next, too.
    for cut in [disk.crash_clone(seed), disk.crash_clone(!seed)] {
        let (store, _) = store_over(&cut);
        let (_flow, again) = store
            .open(&flow_ref())
            .unwrap_or_else(|error| panic!("not after a power cut after the recovery: {error}"));
        assert!(
            again.recovered.is_empty(),
            "everything was synced: {again:?}"
        );
        all_there(
            &records(&store, &flow_ref()),
            &promised,
            "after a power cut",
        );
    }
    judge_reopened(store, flow, &promised, seed);
    Verdict {
        told: Some(told),
        cut: !report.recovered.is_empty(),
    }
}

/// What users did, in order.
fn told_by(there: &BTreeMap<Seq, Fact>) -> Vec<Fact> {
    let facts = there.values().filter(|fact| !is_about_the_journal(fact));
    facts.cloned().collect()
}

fn all_there(there: &BTreeMap<Seq, Fact>, promised: &BTreeMap<Seq, Fact>, when: &str) {
    for (seq, fact) in promised {
        assert_eq!(there.get(seq), Some(fact), "record {seq} {when}");
    }
}

/// The flow can be used: what is appended and synced now counts as promised, too.
fn go_on(flow: &mut Flow, promised: &mut BTreeMap<Seq, Fact>) {
    assert_eq!(
        flow.durable(),
        flow.position().seq,
        "an open flow is durable"
    );
    let is_created = |fact: &Fact| matches!(fact, Fact::FlowCreated(_));
    let fact = if promised.values().any(is_created) {
        crate::model::titled(999)
    } else {
        Fact::FlowCreated(created())
    };
    let seq = flow.append_durably(fact.clone()).unwrap();
    promised.insert(seq, fact);
}

/// A second open finds nothing to do and folds the same, with and without a clean end before.
fn judge_reopened(store: &Store, flow: Flow, promised: &BTreeMap<Seq, Fact>, seed: u64) {
    let folded = |flow: &Flow| -> Vec<Vec<u8>> {
        let all = names(flow.views());
        all.iter()
            .map(|name| {
                bytes_of(
                    store.ground().disk.as_ref(),
                    flow.folder(),
                    name,
                    flow.views(),
                )
            })
            .collect()
    };
    let before = folded(&flow);
    let end = flow.position();
    if seed.is_multiple_of(2) {
        flow.close().unwrap();
    } else {
        drop(flow);
    }
    let (again, report) = store.open(&flow_ref()).unwrap();
    assert!(report.recovered.is_empty(), "cut again: {report:?}");
    assert_eq!(
        again.position(),
        end,
        "an open of a sound flow appends nothing"
    );
    assert_eq!(folded(&again), before, "the fold of the same journal");
    let was_closed = seed.is_multiple_of(2);
    assert_eq!(report.views_rebuilt, !was_closed, "views after a close");
    all_there(
        &records(store, &flow_ref()),
        promised,
        "after a second open",
    );
}

/// What a fact says of a cut, if it tells of one.
pub(crate) fn cut_of(fact: &Fact) -> Option<&RecoveryTruncated> {
    if let Fact::RecoveryTruncated(cut) = fact {
        return Some(cut);
    }
    let Fact::RecoveryLossy(lossy) = fact else {
        return None;
    };
    Some(&lossy.cut)
}

/// Everything that was ever cut is kept, and is recorded exactly once.
fn judge_quarantine(disk: &FaultyDisk, flow: &Flow, there: &BTreeMap<Seq, Fact>) {
    let quarantine = flow.folder().quarantine();
    for cut in there.values().filter_map(cut_of) {
        let kept = disk.read_file(&quarantine.join(&cut.quarantine));
        let kept = kept.unwrap_or_else(|| panic!("{} is gone", cut.quarantine));
        assert_eq!(Hash::of(&kept), cut.hash, "{} changed", cut.quarantine);
        assert_eq!(kept.len() as u64, cut.cut_bytes);
    }
    for path in disk.files() {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            continue;
        };
        let ours = parse_name(name).is_some() || parse_piece(name).is_some();
        if path.parent() != Some(&quarantine) || !ours {
            continue;
        }
        let told = there
            .values()
            .filter(|fact| fact.quarantine() == Some(name));
        assert_eq!(told.count(), 1, "how often {name} is told");
    }
}

/// A blob is there whenever a record names it.
fn judge_blob(disk: &FaultyDisk, flow: &Flow, there: &BTreeMap<Seq, Fact>, hash: Hash) {
    let mut named = false;
    for fact in there.values() {
        fact.each_blob(&mut |blob, _| named |= blob == hash);
    }
    if named {
        let loss = blob::loss(disk, flow.folder(), hash);
        assert_eq!(loss, None, "the blob {hash} that a record names");
    }
}

/// A flow that was imported is whole or not there at all.
fn judge_carried(left: &FaultyDisk, model: &Model) {
    let disk = left.kill_clone();
    let (store, _) = store_over(&disk);
    let flow = in_project(ELSEWHERE);
    let opened = match store.open(&flow) {
        Err(Error::NoFlow(_)) => {
            assert_eq!(model.carried, None, "the imported flow is gone");
            return;
        }
        opened => opened.unwrap_or_else(|error| panic!("the imported flow: {error}")),
    };
    assert!(opened.1.recovered.is_empty(), "the imported flow was torn");
    let there = records(&store, &flow);
    let acked = model.carried.as_ref().unwrap_or(&model.acked);
    all_there(&there, acked, "in the imported flow");
}
