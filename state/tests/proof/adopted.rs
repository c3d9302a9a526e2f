//! Flows made of what another program kept: cut off at every operation, and with every operation
//! failing once. What is made is there whole or not at all, and what it is made of is never lost.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use a_society_facts::{At, Fact};
use a_society_in_memory::{FaultPlan, FaultyDisk, InjectedFault};
use a_society_state::adopt::Coming;
use a_society_state::disk::{Disk, How};
use a_society_state::files::make_folders;
use a_society_state::verify::verify;
use a_society_state::{Error, FlowRef, Store};

use crate::extent::{each_in_parallel, pick, slice_of};
use crate::model::titled;
use crate::script::{ROOT, store_over};

const OLD: &[u8] = b"{\"as\":\"it was\"}";
const NOTES: &[u8] = b"notes\n";

fn flow() -> FlowRef {
    FlowRef {
        project: "release-notes".parse().unwrap(),
        flow: "20260527T143000123Z-a1b2c3".parse().unwrap(),
    }
}

/// Where the other program kept it, which is where it will be.
fn old() -> PathBuf {
    Path::new(ROOT).join(flow().to_string())
}

fn aside() -> PathBuf {
    Path::new(ROOT).join(".before").join(flow().to_string())
}

/// Where it goes when a power cut left it there and in its place.
fn aside_again() -> PathBuf {
    aside().with_extension("2")
}

fn put(disk: &FaultyDisk, path: &Path, bytes: &[u8]) {
    make_folders(disk, path.parent().unwrap()).unwrap();
    let mut file = disk.open(path, How::CreateNew).unwrap();
    file.append(bytes).unwrap();
    file.sync().unwrap();
    disk.sync_folder(path.parent().unwrap()).unwrap();
}

fn prepared() -> FaultyDisk {
    let disk = FaultyDisk::new();
    put(&disk, &old().join("flow.json"), OLD);
    put(&disk, &old().join("record/notes.md"), NOTES);
    disk
}

fn facts() -> Vec<(At, Fact)> {
    let created = a_society_samples::walk().into_iter().find_map(|fact| {
        let Fact::FlowCreated(mut created) = fact else {
            return None;
        };
        created.project = flow().project;
        Some(Fact::FlowCreated(created))
    });
    let titles = (0..3).map(titled);
    let facts = created.into_iter().chain(titles);
    facts
        .map(|fact| (At::from_ms(1_779_892_200_123), fact))
        .collect()
}

/// Makes the flow, from wherever what it is made of is by now.
fn adopt(disk: &FaultyDisk) -> Result<FlowRef, Error> {
    let (store, _) = store_over(disk);
    let in_place = disk.about(&old().join("flow.json")).is_ok();
    let from = if in_place { old() } else { aside() };
    let coming = Coming::begin(&store, flow())?;
    coming.keep(OLD)?;
    coming.copy_record("notes.md", &from.join("record/notes.md"))?;
    let taken = disk.about(&aside()).is_ok();
    let free = if taken { aside_again() } else { aside() };
    coming.finish(&facts(), in_place.then_some(free).as_deref())
}

fn is_made(disk: &FaultyDisk) -> bool {
    let (store, _) = store_over(disk);
    disk.about(&store.folder(&flow()).journal()).is_ok()
}

/// Either there is no flow, or it is whole; and what it is made of is whole in one of its places.
fn is_none_or_whole(disk: &FaultyDisk, must: bool) {
    let (store, _) = store_over(disk);
    if is_made(disk) {
        is_whole(disk, &store);
        assert_eq!(
            disk.read_file(&aside().join("flow.json")).as_deref(),
            Some(OLD)
        );
    } else {
        assert!(!must, "it had been acknowledged");
        let places = [old(), aside()];
        let there = places.iter().filter(|place| {
            let read = |name: &str| disk.read_file(&place.join(name));
            read("flow.json").as_deref() == Some(OLD)
                && read("record/notes.md").as_deref() == Some(NOTES)
        });
        // A power cut in the middle of a rename may leave both names, and never none.
        assert!(there.count() >= 1, "{:?}", disk.files());
    }
}

fn is_whole(disk: &FaultyDisk, store: &Store) {
    let checked = verify(store, &flow()).unwrap();
    assert!(checked.is_sound() && checked.torn.is_none());
    let notes = store.folder(&flow()).record().join("notes.md");
    assert_eq!(disk.read_file(&notes).as_deref(), Some(NOTES));
    let (opened, report) = store.open(&flow()).unwrap();
    assert!(report.recovered.is_empty() && report.blobs_lost.is_empty());
    assert!(opened.views().flow.is_created());
}

#[test]
fn whenever_the_making_is_cut_off_there_is_none_or_a_whole_one() {
    let disk = prepared();
    let left: Arc<Mutex<Vec<FaultyDisk>>> = Arc::default();
    let seeds = pick(2, 24);
    let into = Arc::clone(&left);
    disk.after_each(Box::new(move |number, disk| {
        let mut into = into.lock().unwrap();
        into.push(disk.kill_clone());
        into.extend((0..seeds).map(|salt| disk.crash_clone(number * 1009 + salt)));
    }));
    adopt(&disk).unwrap();
    disk.after_each(Box::new(|_, _| {}));
    let left = std::mem::take(&mut *left.lock().unwrap());
    assert!(left.len() > 100);
    each_in_parallel(&left, |disk| {
        is_none_or_whole(disk, false);
        if !is_made(disk) {
            adopt(disk).unwrap();
        }
        is_none_or_whole(disk, true);
    });
    for seed in 0..20 {
        is_none_or_whole(&disk.crash_clone(seed), true);
    }
}

#[test]
fn whatever_fails_leaves_none_and_the_next_try_makes_it() {
    let origin = prepared();
    let whole = origin.kill_clone();
    let before = whole.operations();
    adopt(&whole).unwrap();
    let operations = whole.operations() - before;
    let each = |fault| {
        let one = move |at| FaultPlan {
            at,
            fault,
            sticky: false,
        };
        slice_of(1..=operations, 11).map(one)
    };
    let cases: Vec<FaultPlan> = InjectedFault::ALL.into_iter().flat_map(each).collect();
    each_in_parallel(&cases, |fault| {
        let disk = origin.kill_clone();
        disk.arm(FaultPlan {
            at: disk.operations() + fault.at,
            ..*fault
        });
        let made = adopt(&disk);
        disk.disarm();
        is_none_or_whole(&disk, made.is_ok());
        if !is_made(&disk) {
            adopt(&disk).unwrap();
        }
        is_none_or_whole(&disk, true);
    });
}

#[test]
fn what_stands_in_the_way_is_not_touched() {
    let disk = prepared();
    let (store, _) = store_over(&disk);
    let coming = Coming::begin(&store, flow()).unwrap();
    assert!(matches!(
        Coming::begin(&store, flow()),
        Err(Error::Busy { .. })
    ));
    let refused = coming.finish(&facts(), None);
    assert!(matches!(refused, Err(Error::Exists(_))), "{refused:?}");
    is_none_or_whole(&disk, false);
    put(&disk, &aside().join("flow.json"), b"older");
    let coming = Coming::begin(&store, flow()).unwrap();
    let refused = coming.finish(&facts(), Some(&aside()));
    assert!(matches!(refused, Err(Error::Unfit { .. })), "{refused:?}");
    assert_eq!(
        disk.read_file(&old().join("flow.json")).as_deref(),
        Some(OLD)
    );
    assert!(
        !disk
            .files()
            .iter()
            .any(|path| path.to_string_lossy().contains(".coming-"))
    );
}
