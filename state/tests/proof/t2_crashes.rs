//! T2: the power fails, or the process dies, after every operation of every use, and again within
//! the recovery that follows, and again within the recovery of that.

use std::collections::HashSet;
use std::fmt::{self, Debug, Formatter};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};

use a_society_facts::Fact;
use a_society_facts::fact::journal::RecoveryRow;
use a_society_in_memory::FaultyDisk;

use crate::extent::{each_in_parallel, first_of, pick};
use crate::model::{Model, flow_ref};
use crate::oracle::{cut_of, judge};
use crate::scenarios::{Scenario, all};
use crate::script::{Play, Step, Temper, store_over};
use crate::tails;

/// How many recoveries a use is interrupted in, and at every how manieth operation of each.
const INTERRUPTED: (usize, usize) = (2, 48);
const INTERRUPTED_STRIDE: (usize, usize) = (5, 1);
/// How deep a recovery is interrupted within a recovery.
const DEPTH: u32 = 2;

/// What one end of the machine left.
#[derive(Clone)]
struct Left {
    name: &'static str,
    /// After which operation.
    at: u64,
    /// The seed of the power cut; none for the death of the process.
    seed: Option<u64>,
    disk: FaultyDisk,
    model: Model,
}

impl Debug for Left {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { name, at, seed, .. } = self;
        write!(f, "{name:?} after operation {at}, power cut {seed:?}")
    }
}

/// The distinguishable state of a disk.
fn fingerprint(disk: &FaultyDisk) -> u64 {
    let mut hasher = DefaultHasher::new();
    for path in disk.files() {
        path.hash(&mut hasher);
        if !path.ends_with("reserve") && !path.ends_with("flow.lock") {
            disk.read_file(&path).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// Gathers what is left after each operation of whatever happens on a disk.
fn watch(disk: &FaultyDisk, name: &'static str, model: Arc<Mutex<Model>>, seeds: u64) -> Gathered {
    let gathered = Gathered::default();
    let (into, mut seen) = (Arc::clone(&gathered.0), HashSet::new());
    disk.after_each(Box::new(move |at, disk| {
        let model = model.lock().unwrap().clone();
        let promised = (model.acked.len(), model.blobs.len(), model.removal as u8);
        let cuts = (0..seeds).map(|salt| Some(at * 1009 + salt));
        for seed in [None].into_iter().chain(cuts) {
            let disk = seed.map_or_else(|| disk.kill_clone(), |seed| disk.crash_clone(seed));
            if seen.insert((fingerprint(&disk), promised)) {
                let model = model.clone();
                into.lock().unwrap().push(Left {
                    name,
                    at,
                    seed,
                    disk,
                    model,
                });
            }
        }
    }));
    gathered
}

#[derive(Default)]
struct Gathered(Arc<Mutex<Vec<Left>>>);

impl Gathered {
    fn take(self) -> Vec<Left> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Everything that the ends of the machine leave of a use.
fn left_by(scenario: &Scenario, seeds: u64) -> Vec<Left> {
    let mut play = Play::new();
    let gathered = watch(&play.disk, scenario.name, play.shared_model(), seeds);
    play.run(&scenario.steps, Temper::GoOn);
    gathered.take()
}

#[test]
fn whenever_the_power_fails_nothing_acknowledged_is_lost() {
    // One use after the other, because what all of them leave takes a gigabyte.
    for scenario in all() {
        let left = left_by(&scenario, pick(4, 64));
        each_in_parallel(&left, |left| {
            judge(&left.disk, &left.model, left.seed.unwrap_or(left.at));
        });
    }
}

#[test]
fn a_recovery_that_is_itself_cut_off_ends_as_one_that_is_not() {
    let mut found = 0;
    for scenario in all() {
        let mut left = left_by(&scenario, pick(2, 16));
        left.retain(|left| left.model.harmed_from.is_none() && needs_recovery(&left.disk));
        left.truncate(pick(INTERRUPTED.0, INTERRUPTED.1));
        found += left.len();
        each_in_parallel(&left, |left| {
            let told = judge(&left.disk, &left.model, left.at).told;
            interrupt(left, told.as_deref(), DEPTH);
        });
    }
    assert!(found > 10, "recoveries were found");
}

/// Whether an open would cut something.
fn needs_recovery(disk: &FaultyDisk) -> bool {
    let (store, _) = store_over(&disk.kill_clone());
    let report = store.open(&flow_ref()).map(|(_, report)| report);
    report.is_ok_and(|report| !report.recovered.is_empty())
}

/// Ends the machine after each operation of a recovery, and goes on from what that leaves.
fn interrupt(left: &Left, expected: Option<&[Fact]>, depth: u32) {
    let disk = left.disk.kill_clone();
    let model = Arc::new(Mutex::new(left.model.clone()));
    let gathered = watch(&disk, left.name, model, 1);
    let (store, _) = store_over(&disk);
    drop(store.open(&flow_ref()).unwrap());
    let all = gathered.take();
    let stride = pick(INTERRUPTED_STRIDE.0, INTERRUPTED_STRIDE.1);
    let first = (usize::try_from(left.at).unwrap() + first_of(stride)) % stride;
    for within in all.iter().skip(first).step_by(stride) {
        let told = judge(&within.disk, &within.model, within.at).told;
        assert_eq!(told.as_deref(), expected, "{within:?} of the recovery");
        if depth > 1 {
            interrupt(within, expected, depth - 1);
        }
    }
}

#[test]
fn a_cut_that_a_death_left_unsynced_is_durable_before_anything_is_written_over_it() {
    for row in [
        RecoveryRow::R2,
        RecoveryRow::R3,
        RecoveryRow::R4,
        RecoveryRow::R6,
    ] {
        let torn = || {
            let mut play = Play::new();
            let steps = [Step::Create, Step::Title, Step::Sync, Step::Torn(row)];
            assert!(play.run(&steps, Temper::GiveUp).is_none());
            play
        };
        let play = torn();
        let model = play.shared_model();
        let gathered = watch(&play.disk, "a death in a recovery", Arc::clone(&model), 0);
        drop(play.store.open(&flow_ref()).unwrap());
        let deaths = gathered.take();
        assert!(deaths.len() > 5, "a recovery has several steps");
        each_in_parallel(&deaths, |death| {
            let disk = death.disk.kill_clone();
            let gathered = watch(&disk, "and in the next one", Arc::clone(&model), 24);
            let (store, _) = store_over(&disk);
            drop(store.open(&flow_ref()).unwrap());
            for left in gathered.take() {
                let (store, _) = store_over(&left.disk);
                let opened = store.open(&flow_ref());
                assert!(opened.is_ok(), "{left:?}: {:?}", opened.err());
            }
        });
    }
}

#[test]
fn a_torn_end_is_kept_byte_for_byte_and_told_with_its_row() {
    for row in [
        RecoveryRow::R2,
        RecoveryRow::R3,
        RecoveryRow::R4,
        RecoveryRow::R6,
    ] {
        let mut play = Play::new();
        let steps = [Step::Create, Step::Title, Step::Sync, Step::Kill];
        assert!(play.run(&steps, Temper::GiveUp).is_none());
        let folder = play.store.folder(&flow_ref());
        let last = tails::lines(&play.disk, folder.root()).pop().unwrap();
        play.step(&Step::Torn(row)).unwrap();
        play.step(&Step::Open).unwrap();
        let recovered = play.report.take().unwrap().recovered;
        let [fact] = &recovered[..] else {
            panic!("one cut is told once: {recovered:?}");
        };
        let cut = cut_of(fact).unwrap();
        assert_eq!(cut.row, row);
        let lost = last.frame.seq + 1;
        let loud = matches!(fact, Fact::RecoveryLossy(lossy) if lossy.lost_seq == lost);
        assert_eq!(loud, row == RecoveryRow::R6, "{fact:?}");
        assert_eq!(cut.offset_bytes, last.end as u64);
        let kept = play
            .disk
            .read_file(&folder.quarantine().join(&cut.quarantine));
        assert_eq!(kept, Some(tails::tail(row, &last.frame)));
    }
}
