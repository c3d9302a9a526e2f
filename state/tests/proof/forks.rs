//! Forks: cut at every record, cut off at every operation, and on their own when the parent goes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use a_society_facts::fact::flow::{FactAuthor, FlowCancelled};
use a_society_facts::id::Seq;
use a_society_facts::view::Views;
use a_society_facts::{At, Fact, Hash, Recorded};
use a_society_in_memory::{DiskCall, FaultPlan, FaultyDisk, InjectedFault};
use a_society_state::disk::Disk;
use a_society_state::fork::{Cut, ForkedFile, Holds, cut, make};
use a_society_state::repair::{self, Diagnosis};
use a_society_state::verify::verify;
use a_society_state::{Error, FlowRef, Store, archive, removal, retention};

use crate::extent::{each_in_parallel, first_of, pick, slice_of};
use crate::model::{message, titled};
use crate::script::{ROOT, store_over};

const PARENT: &str = "20260527T143000123Z-a1b2c3";
const FORK: &str = "20260528T090000000Z-f0f0f0";
const FORK_OF_FORK: &str = "20260529T090000000Z-e1e1e1";

fn named(flow: &str) -> FlowRef {
    FlowRef {
        project: "release-notes".parse().unwrap(),
        flow: flow.parse().unwrap(),
    }
}

/// A flow that went through much, over several segments, with a blob.
fn grown(disk: &FaultyDisk, segment_bytes: u64) -> Store {
    let (store, _) = store_over(disk);
    let mut facts = a_society_samples::walk().into_iter().filter(|fact| {
        // The store writes these itself.
        !matches!(fact.word(), "segment_started" | "writer_opened")
    });
    let Some(Fact::FlowCreated(mut created)) = facts.next() else {
        panic!("a walk begins with its flow")
    };
    created.project = named(PARENT).project;
    let mut flow = store.create(PARENT.parse().unwrap(), created).unwrap();
    flow.set_segment_bytes(segment_bytes);
    let mut role = None;
    for fact in facts {
        if let Fact::SessionOpened(opened) = &fact {
            role.get_or_insert(opened.role.clone());
        }
        flow.append(fact).unwrap();
    }
    let text = flow.keep_text(long_text()).unwrap();
    let mut said = message(1, text);
    if let Fact::MessageAdded(said) = &mut said {
        said.role = role.unwrap();
    }
    flow.append(said).unwrap();
    flow.append(titled(3)).unwrap();
    flow.close().unwrap();
    store
}

fn records(store: &Store, flow: &FlowRef) -> Vec<Recorded> {
    let mut records = Vec::new();
    let mut follower = store.follow(flow).unwrap();
    follower
        .read(&mut |recorded| records.push(recorded.clone()))
        .unwrap();
    records
}

fn lines(store: &Store, flow: &FlowRef) -> Vec<String> {
    let mut lines = Vec::new();
    let mut follower = store.follow(flow).unwrap();
    let mut each = |_: &Recorded, line: &[u8]| {
        lines.push(String::from_utf8_lossy(line).into_owned());
        std::ops::ControlFlow::Continue(())
    };
    follower.read_lines(&mut each).unwrap();
    lines
}

/// The text that every flow here keeps as a blob. The walk of the samples names others, which were
/// never there.
fn long_text() -> String {
    "long ".repeat(20_000)
}

fn is_sound(store: &Store, flow: &FlowRef) -> bool {
    let checked = verify(store, flow).unwrap();
    let kept = Hash::of(long_text().as_bytes());
    let lost = checked.blobs_lost.iter().any(|(hash, _)| *hash == kept);
    checked.damage.is_none() && checked.torn.is_none() && !lost
}

fn fold<'a>(records: impl IntoIterator<Item = &'a Recorded>) -> Views {
    let mut views = Views::default();
    for recorded in records {
        views.apply(recorded);
    }
    views
}

fn cut_at(store: &Store, at: Seq) -> Cut {
    cut(store, &named(PARENT), Some(at)).unwrap()
}

fn fork_at(store: &Store, at: Seq) -> FlowRef {
    let cut = cut_at(store, at);
    make(store, &cut, FORK.parse().unwrap(), None, &[]).unwrap()
}

/// The files below a flow's folder, with their bytes.
fn files(disk: &FaultyDisk, flow: &FlowRef) -> Vec<(PathBuf, Vec<u8>)> {
    let root = Path::new(ROOT).join(flow.to_string());
    let below = disk
        .files()
        .into_iter()
        .filter(|path| path.starts_with(&root));
    below
        .map(|path| (path.clone(), disk.read_file(&path).unwrap()))
        .collect()
}

fn remove(disk: &FaultyDisk, flow: &FlowRef) {
    for (path, _) in files(disk, flow) {
        disk.remove_file(&path).unwrap();
    }
}

/// The first record from which on a flow can be forked.
fn begun(store: &Store) -> Seq {
    let records = records(store, &named(PARENT));
    let created = records.iter().find(|r| r.word() == "flow_created");
    created.unwrap().seq
}

#[test]
fn a_fork_at_every_record_is_the_fold_of_what_it_shares() {
    for (segment_bytes, step) in [(1500, 3), (u64::MAX, 29)] {
        let disk = FaultyDisk::new();
        let store = grown(&disk, segment_bytes);
        let parent = records(&store, &named(PARENT));
        let parent_lines = lines(&store, &named(PARENT));
        let before = files(&disk, &named(PARENT));
        let begun = begun(&store);
        for at in slice_of(1..=parent.len() as Seq, step) {
            if at < begun {
                let refused = cut(&store, &named(PARENT), Some(at));
                assert!(matches!(refused, Err(Error::NotForkable { .. })), "{at}");
                continue;
            }
            let disk = disk.kill_clone();
            let (store, _) = store_over(&disk);
            let fork = fork_at(&store, at);
            assert!(is_sound(&store, &fork), "{at}");
            let of_fork = records(&store, &fork);
            assert_eq!(of_fork.len() as Seq, at + 2);
            assert!(lines(&store, &fork)[..at as usize] == parent_lines[..at as usize]);
            let expected = fold(parent[..at as usize].iter().chain(&of_fork[at as usize..]));
            assert!(
                store.look(&fork).unwrap().screen.flow == *expected.flow,
                "{at}"
            );
            let (mut flow, report) = store.open(&fork).unwrap();
            assert_eq!(report.recovered, [], "{at}");
            let of_fork = records(&store, &fork);
            let all = parent[..at as usize].iter().chain(&of_fork[at as usize..]);
            assert!(*flow.views() == fold(all), "{at}");
            let parentage = flow.views().flow.parent.clone().unwrap();
            assert_eq!((parentage.flow.as_str(), parentage.at_seq), (PARENT, at));
            flow.append_durably(titled(9)).unwrap();
            flow.close().unwrap();
            assert!(is_sound(&store, &fork), "{at}");
            assert_eq!(
                files(&disk, &named(PARENT)),
                before,
                "{at}: the parent is as it was"
            );
        }
    }
}

#[test]
fn a_reader_that_stops_within_what_is_shared_goes_on_there() {
    let disk = FaultyDisk::new();
    let store = grown(&disk, 1500);
    let at = records(&store, &named(PARENT)).len() as Seq / 2;
    let fork = fork_at(&store, at);
    let all = lines(&store, &fork);
    for stop in 1..all.len() {
        let mut follower = store.follow(&fork).unwrap();
        let mut read = Vec::new();
        let mut each = |_: &Recorded, line: &[u8]| {
            read.push(String::from_utf8_lossy(line).into_owned());
            if read.len() == stop {
                return std::ops::ControlFlow::Break(());
            }
            std::ops::ControlFlow::Continue(())
        };
        follower.read_lines(&mut each).unwrap();
        // The record at which it had enough comes again.
        read.pop();
        let mut each = |_: &Recorded, line: &[u8]| {
            read.push(String::from_utf8_lossy(line).into_owned());
            std::ops::ControlFlow::Continue(())
        };
        follower.read_lines(&mut each).unwrap();
        assert!(read == all, "{stop}");
    }
}

#[test]
fn a_fork_lives_on_without_its_parent_and_travels() {
    let disk = FaultyDisk::new();
    let store = grown(&disk, 1500);
    let at = records(&store, &named(PARENT)).len() as Seq - 1;
    let fork = fork_at(&store, at);
    let again = cut(&store, &fork, Some(at + 1)).unwrap();
    let second = make(&store, &again, FORK_OF_FORK.parse().unwrap(), None, &[]).unwrap();
    let wanted = [lines(&store, &fork), lines(&store, &second)];
    remove(&disk, &named(PARENT));
    let parent = store.folder(&named(PARENT));
    assert!(disk.about(&parent.segment(1)).is_err());
    for (flow, wanted) in [&fork, &second].into_iter().zip(wanted) {
        let disk = disk.kill_clone();
        let (store, _) = store_over(&disk);
        assert!(is_sound(&store, flow));
        assert_eq!(lines(&store, flow), wanted);
        let mut archived = Vec::new();
        archive::export(&store, flow, &mut archived).unwrap();
        let (elsewhere, _) = store_over(&FaultyDisk::new());
        let imported = archive::import(&elsewhere, &mut archived.as_slice(), None).unwrap();
        assert_eq!((imported.damage, &imported.flow), (None, flow));
        assert_eq!(lines(&elsewhere, flow), wanted);
        assert!(is_sound(&elsewhere, flow));
        let (mut flow, _) = elsewhere.open(flow).unwrap();
        flow.append_durably(titled(4)).unwrap();
    }
}

#[test]
fn what_the_parent_writes_afterwards_is_not_the_forks() {
    let disk = FaultyDisk::new();
    let store = grown(&disk, u64::MAX);
    let parent = named(PARENT);
    let at = records(&store, &parent).len() as Seq - 3;
    let (mut going_on, _) = store.open(&parent).unwrap();
    going_on.append_durably(titled(5)).unwrap();
    let fork = fork_at(&store, at);
    let wanted = lines(&store, &fork);
    going_on.append_durably(titled(6)).unwrap();
    let (mut forked, _) = store.open(&fork).unwrap();
    forked.append_durably(titled(7)).unwrap();
    going_on.append_durably(titled(8)).unwrap();
    assert_eq!(lines(&store, &fork)[..wanted.len()], wanted);
    for flow in [&parent, &fork] {
        assert!(is_sound(&store, flow));
    }
    let mut archived = Vec::new();
    archive::export(&store, &fork, &mut archived).unwrap();
    let archived = String::from_utf8_lossy(&archived);
    assert!(archived.contains("title 7"));
    assert!(!archived.contains("title 5") && !archived.contains("title 6"));
}

#[test]
fn a_parent_that_is_pruned_takes_nothing_from_its_fork() {
    let disk = FaultyDisk::new();
    let store = grown(&disk, 1500);
    let at = begun(&store) + 4;
    let fork = fork_at(&store, at);
    let wanted = lines(&store, &fork);
    let (mut parent, _) = store.open(&named(PARENT)).unwrap();
    let over = Fact::FlowCancelled(FlowCancelled {
        by: FactAuthor::Operator,
        why: None,
        client: None,
    });
    // The walk may have ended by itself.
    drop(parent.append_durably(over));
    parent.close().unwrap();
    let of_one = removal::plan(&store, &named(PARENT)).unwrap();
    assert_eq!((of_one.forks.len(), &of_one.forks[0].flow), (1, &fork));
    let plan = retention::plan(&store, At::from_ms(i64::MAX / 4)).unwrap();
    assert_eq!(retention::apply(&store, &plan).unwrap(), [named(PARENT)]);
    assert_eq!(store.census().unwrap().flows, std::slice::from_ref(&fork));
    assert_eq!(lines(&store, &fork), wanted);
    assert!(is_sound(&store, &fork));
}

fn a_record() -> [ForkedFile; 2] {
    [
        ("workflow.yaml", "nodes: []\n"),
        ("deep/notes.md", "of the record"),
    ]
    .map(|(path, text)| ForkedFile {
        path: path.to_owned(),
        holds: Holds::Bytes(text.as_bytes().to_vec()),
    })
}

/// Either there is no fork, or it is whole.
fn is_none_or_whole(disk: &FaultyDisk, expected: &[String], must: bool) {
    let (store, _) = store_over(disk);
    let flows = store.census().unwrap().flows;
    assert!(flows.contains(&named(PARENT)));
    assert!(is_sound(&store, &named(PARENT)));
    let fork = named(FORK);
    if !flows.contains(&fork) {
        assert!(!must, "it had been acknowledged");
        return;
    }
    assert!(is_sound(&store, &fork));
    assert!(lines(&store, &fork).starts_with(expected));
    for file in a_record() {
        let there = disk.read_file(&store.folder(&fork).record().join(&file.path));
        assert_eq!(there.map(Holds::Bytes), Some(file.holds), "{}", file.path);
    }
    let (flow, report) = store.open(&fork).unwrap();
    assert!(report.recovered.is_empty());
    drop(flow);
}

/// After which operation, by which power cut if by one, and what was left.
type Left = (u64, Option<u64>, FaultyDisk);

#[test]
fn whenever_the_making_of_a_fork_is_cut_off_there_is_none_or_a_whole_one() {
    let disk = FaultyDisk::new();
    let store = grown(&disk, 4000);
    let at = records(&store, &named(PARENT)).len() as Seq;
    let left: Arc<Mutex<Vec<Left>>> = Arc::default();
    let cut = cut_at(&store, at);
    let seeds = pick(2, 24);
    let into = Arc::clone(&left);
    disk.after_each(Box::new(move |number, disk| {
        let mut into = into.lock().unwrap();
        into.push((number, None, disk.kill_clone()));
        into.extend((0..seeds).map(|salt| {
            let seed = number * 1009 + salt;
            (number, Some(seed), disk.crash_clone(seed))
        }));
    }));
    make(&store, &cut, FORK.parse().unwrap(), None, &a_record()).unwrap();
    disk.after_each(Box::new(|_, _| {}));
    let expected = lines(&store, &named(FORK));
    let left = std::mem::take(&mut *left.lock().unwrap());
    assert!(left.len() > 100);
    each_in_parallel(&left, |(_, _, disk)| {
        is_none_or_whole(disk, &expected, false)
    });
    for seed in 0..20 {
        is_none_or_whole(&disk.crash_clone(seed), &expected, true);
    }
    // What was left half-made goes with the next removal.
    let (_, _, half) = left
        .iter()
        .rfind(|(number, ..)| *number == left[left.len() / 2].0)
        .unwrap();
    let (store, _) = store_over(half);
    let plan = retention::plan(&store, At::from_ms(i64::MAX / 4)).unwrap();
    retention::apply(&store, &plan).unwrap();
    assert!(
        !half
            .files()
            .iter()
            .any(|path| path.to_string_lossy().contains(".coming-"))
    );
}

#[test]
fn whatever_fails_while_a_fork_is_made_leaves_none_and_the_next_try_makes_it() {
    let origin = FaultyDisk::new();
    let store = grown(&origin, 4000);
    let at = records(&store, &named(PARENT)).len() as Seq;
    let make_on = |disk: &FaultyDisk, fault: Option<FaultPlan>| {
        let (store, _) = store_over(disk);
        let cut = cut_at(&store, at);
        if let Some(fault) = fault {
            disk.arm(FaultPlan {
                at: disk.operations() + fault.at,
                ..fault
            });
        }
        let made = make(&store, &cut, FORK.parse().unwrap(), None, &a_record());
        disk.disarm();
        made
    };
    let probe = origin.kill_clone();
    cut_at(&store_over(&probe).0, at);
    let before = probe.operations();
    let whole = origin.kill_clone();
    make_on(&whole, None).unwrap();
    let expected = lines(&store_over(&whole).0, &named(FORK));
    let operations = whole.operations() - before;
    let faults = InjectedFault::ALL.into_iter();
    let cases: Vec<FaultPlan> = faults
        .flat_map(|fault| {
            let one = move |at| FaultPlan {
                at,
                fault,
                sticky: false,
            };
            slice_of(1..=operations, 37).map(one)
        })
        .collect();
    each_in_parallel(&cases, |fault| {
        let disk = origin.kill_clone();
        match make_on(&disk, Some(*fault)) {
            Ok(_) => is_none_or_whole(&disk, &expected, true),
            Err(_) => {
                // A name that came and was not synced may be there, and is whole then.
                is_none_or_whole(&disk, &expected, false);
                if !store_over(&disk)
                    .0
                    .census()
                    .unwrap()
                    .flows
                    .contains(&named(FORK))
                {
                    make_on(&disk, None).unwrap();
                }
                is_none_or_whole(&disk, &expected, true);
            }
        }
    });
}

#[test]
fn a_file_system_without_links_gets_copies_up_to_the_cut() {
    let disk = FaultyDisk::new();
    let store = grown(&disk, u64::MAX);
    let at = begun(&store) + 5;
    let cut = cut_at(&store, at);
    disk.arm(FaultPlan {
        at: 1,
        fault: InjectedFault::NoLinks,
        sticky: true,
    });
    let fork = make(&store, &cut, FORK.parse().unwrap(), None, &[]).unwrap();
    disk.disarm();
    let segment = disk.read_file(&store.folder(&fork).segment(1)).unwrap();
    assert_eq!(segment.len() as u64, cut.at.offset_bytes);
    assert!(is_sound(&store, &fork));
}

#[test]
fn after_a_failed_sync_of_the_parent_its_last_segment_is_written_anew() {
    let disk = FaultyDisk::new();
    let store = grown(&disk, u64::MAX);
    let (mut parent, _) = store.open(&named(PARENT)).unwrap();
    parent.append(titled(5)).unwrap();
    disk.arm(FaultPlan {
        at: disk.operations() + 1,
        fault: InjectedFault::SyncFailsThenLies,
        sticky: true,
    });
    assert!(parent.sync().is_err());
    disk.disarm();
    drop(parent);
    let at = records(&store, &named(PARENT)).len() as Seq;
    fork_at(&store, at);
    let after = disk.crash_clone(1);
    let (store, _) = store_over(&after);
    assert!(is_sound(&store, &named(FORK)));
    assert_eq!(records(&store, &named(FORK)).len() as Seq, at + 2);
}

#[test]
fn the_name_of_a_fork_is_durable_before_the_one_it_was_made_under_may_go() {
    let disk = FaultyDisk::new();
    let store = grown(&disk, u64::MAX);
    let at = begun(&store);
    let cut = cut_at(&store, at);
    disk.record_trace();
    let fork = make(&store, &cut, FORK.parse().unwrap(), None, &[]).unwrap();
    let trace = disk.trace();
    let named = store.folder(&fork);
    let is_named = |op: &DiskCall| matches!(op, DiskCall::Rename { to, .. } if to == named.root());
    let at = trace.iter().position(is_named).unwrap();
    let folders = [named.root().parent().unwrap(), store.root()];
    let synced = folders.map(|path| DiskCall::SyncFolder {
        path: path.to_owned(),
    });
    assert_eq!(trace[at + 1..], synced);
}

#[test]
fn after_a_fork_what_its_parent_had_not_synced_is_durable_in_it() {
    let disk = FaultyDisk::new();
    let store = grown(&disk, u64::MAX);
    let (mut parent, _) = store.open(&named(PARENT)).unwrap();
    parent.append(titled(5)).unwrap();
    parent.append(titled(6)).unwrap();
    let at = parent.position().seq;
    let fork = fork_at(&store, at);
    let wanted = lines(&store, &fork);
    for seed in 0..24 {
        let (store, _) = store_over(&disk.crash_clone(seed));
        assert!(is_sound(&store, &fork), "{seed}");
        assert!(lines(&store, &fork) == wanted, "{seed}");
    }
}

/// Repairs a damaged flow by whatever plan there is.
fn repair_it(store: &Store, flow: &FlowRef) -> Result<Seq, Error> {
    match repair::plan(store, flow)? {
        Diagnosis::Plan(plan) => {
            let kept = plan.kept_records;
            let (flow, _) = repair::apply(store, &plan)?;
            drop(flow);
            Ok(kept)
        }
        other @ (Diagnosis::Sound | Diagnosis::Torn | Diagnosis::Beyond(_)) => panic!("{other:?}"),
    }
}

#[test]
fn damage_anywhere_in_a_fork_is_repaired_and_takes_nothing_from_the_parent() {
    let origin = FaultyDisk::new();
    let store = grown(&origin, 4000);
    let at = records(&store, &named(PARENT)).len() as Seq - 2;
    let fork = fork_at(&store, at);
    let (mut flow, _) = store.open(&fork).unwrap();
    flow.append_durably(titled(5)).unwrap();
    flow.append_durably(titled(6)).unwrap();
    flow.close().unwrap();
    let folder = store.folder(&fork);
    let segments: Vec<PathBuf> = (1..)
        .map(|number| folder.segment(number))
        .take_while(|path| origin.read_file(path).is_some())
        .collect();
    assert!(segments.len() > 2);
    let whole = lines(&store, &fork);
    let mut cases = Vec::new();
    for path in &segments {
        let bytes = origin.read_file(path).unwrap();
        let ends = memchr_all(&bytes);
        let mut start = 0;
        for end in ends {
            cases.push((path.clone(), (start + end) / 2));
            start = end + 1;
        }
    }
    let step = pick(12, 1);
    let few = cases.len() - 6;
    let chosen: Vec<_> = cases
        .into_iter()
        .enumerate()
        .filter(|(number, _)| number % step == first_of(step) || *number >= few)
        .map(|(_, case)| case)
        .collect();
    each_in_parallel(&chosen, |(path, byte)| {
        let disk = origin.kill_clone();
        disk.flip_bit(path, *byte as u64 * 8 + 1).unwrap();
        let (store, _) = store_over(&disk);
        if verify(&store, &fork).unwrap().damage.is_none() {
            // Behind the cut, where only the parent reads.
            return;
        }
        let parent = files(&disk, &named(PARENT));
        let kept = repair_it(&store, &fork).unwrap();
        assert!(is_sound(&store, &fork));
        let kept = usize::try_from(kept).unwrap().min(at as usize);
        assert_eq!(lines(&store, &fork)[..kept], whole[..kept]);
        let state = store.look(&fork).unwrap().screen.flow;
        if state.is_created() {
            assert_eq!(state.parent.unwrap().flow.as_str(), PARENT);
        }
        assert_eq!(
            files(&disk, &named(PARENT)),
            parent,
            "the parent is as it was"
        );
    });
}

fn memchr_all(bytes: &[u8]) -> Vec<usize> {
    let all = bytes.iter().enumerate();
    all.filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at)
        .collect()
}

#[test]
fn a_repair_of_a_parent_leaves_its_fork_what_it_has() {
    let disk = FaultyDisk::new();
    let store = grown(&disk, u64::MAX);
    let last = records(&store, &named(PARENT)).len() as Seq;
    let at = last / 2;
    let fork = fork_at(&store, at);
    let wanted = lines(&store, &fork);
    let end = cut_at(&store, at).at.offset_bytes;
    let segment = store.folder(&named(PARENT)).segment(1);
    disk.flip_bit(&segment, (end + 40) * 8).unwrap();
    assert_eq!(repair_it(&store, &named(PARENT)).unwrap(), at);
    assert_eq!(lines(&store, &fork), wanted);
    assert!(is_sound(&store, &fork));
    assert!(is_sound(&store, &named(PARENT)));
}

#[test]
fn a_repair_of_a_fork_that_is_cut_off_can_be_done_again() {
    let origin = FaultyDisk::new();
    let store = grown(&origin, 4000);
    let at = records(&store, &named(PARENT)).len() as Seq - 2;
    let fork = fork_at(&store, at);
    let segment = store.folder(&fork).segment(1);
    origin.flip_bit(&segment, 3000 * 8).unwrap();
    let disk = origin.kill_clone();
    let left: Arc<Mutex<Vec<(u64, FaultyDisk)>>> = Arc::default();
    let into = Arc::clone(&left);
    disk.after_each(Box::new(move |number, disk| {
        into.lock().unwrap().push((number, disk.kill_clone()));
    }));
    repair_it(&store_over(&disk).0, &fork).unwrap();
    disk.after_each(Box::new(|_, _| {}));
    let left = std::mem::take(&mut *left.lock().unwrap());
    each_in_parallel(&left, |(_, disk)| {
        let (store, _) = store_over(disk);
        for _ in 0..3 {
            if verify(&store, &fork).unwrap().damage.is_none() {
                break;
            }
            repair_it(&store, &fork).unwrap();
        }
        drop(store.open(&fork).unwrap());
        assert!(is_sound(&store, &fork));
        assert!(store.look(&fork).unwrap().screen.flow.parent.is_some());
    });
}

#[test]
fn another_flows_journal_is_still_not_ours() {
    let disk = FaultyDisk::new();
    let store = grown(&disk, 1500);
    let fork = fork_at(&store, begun(&store) + 9);
    // The parent's first segments with an own one that names no parent behind them.
    let folder = store.folder(&fork);
    let stranger = sample_stranger(&disk);
    disk.write_file(&folder.segment(1), &stranger).unwrap();
    let found = verify(&store, &fork).unwrap();
    let damage = found.damage.unwrap();
    assert_eq!(damage.harm.word(), "foreign-flow", "{damage}");
    assert_eq!(found.records, 0, "nothing of another flow is folded");
}

/// The first segment of a flow that has nothing to do with the others.
fn sample_stranger(disk: &FaultyDisk) -> Vec<u8> {
    let elsewhere = FaultyDisk::new();
    let (store, _) = store_over(&elsewhere);
    let flow = store
        .create(FORK_OF_FORK.parse().unwrap(), crate::model::created())
        .unwrap();
    let path = flow.folder().segment(1);
    drop(disk.files());
    elsewhere.read_file(&path).unwrap()
}
