//! Uses that once went wrong, or nearly: each is one situation, written out.

use a_society_facts::Fact;
use a_society_facts::fact::flow::{FactAuthor, FlowPaused, FlowUnpaused, PauseReason};
use a_society_in_memory::{DiskCall, FaultPlan, FaultyDisk, InjectedFault};
use a_society_state::disk::How;
use a_society_state::index::rows;
use a_society_state::removal::{self, NotRemoved, Stays};
use a_society_state::{Error, retention};

use crate::model::{FLOW, created, flow_ref, titled};
use crate::oracle::{judge, records};
use crate::script::{Play, Step, Temper, store_over};
use crate::tails;

fn played(steps: &[Step]) -> Play {
    let mut play = Play::new();
    let error = play.run(steps, Temper::GiveUp);
    assert!(error.is_none(), "{error:?}");
    play
}

#[test]
fn a_flow_that_cannot_be_leaves_nothing_behind() {
    let (store, _) = store_over(&FaultyDisk::new());
    let mut impossible = created();
    impossible.graph.nodes.clear();
    let refused = store.create(flow_ref().flow, impossible);
    assert!(matches!(refused, Err(Error::Illegal { .. })), "{refused:?}");
    assert_eq!(store.census().unwrap().flows, []);
    store.create(flow_ref().flow, created()).unwrap();
}

#[test]
fn views_of_another_journal_of_the_same_length_are_not_believed() {
    let one = played(&[Step::Create, Step::Title, Step::Close]);
    let mut other = Play::new();
    other.model().titles = 420;
    assert!(
        other
            .run(&[Step::Create, Step::Title, Step::Close], Temper::GiveUp)
            .is_none()
    );
    let folder = one.store.folder(&flow_ref());
    let segment = folder.segment(1);
    let bytes = other.disk.read_file(&segment).unwrap();
    one.disk.write_file(&segment, &bytes).unwrap();
    let (flow, report) = one.store.open(&flow_ref()).unwrap();
    assert!(report.views_rebuilt, "the journal is the only truth");
    flow.close().unwrap();
    let view = |play: &Play| play.disk.read_file(&folder.flow_view());
    assert_eq!(view(&one), view(&other));
}

#[test]
fn a_flow_that_is_removed_while_somebody_waits_for_its_lock_does_not_come_back() {
    let play = played(&[Step::Create, Step::Cancel, Step::Close]);
    let lock = play.store.folder(&flow_ref()).lock();
    let probe = play.disk.kill_clone();
    probe.record_trace();
    drop(store_over(&probe).0.open(&flow_ref()).unwrap());
    let is_lock = |op: &DiskCall| {
        *op == DiskCall::Open {
            path: lock.clone(),
            how: How::CreateOrAppend,
        }
    };
    let before = play.disk.operations();
    let at = before + 1 + probe.trace().iter().position(is_lock).unwrap() as u64;
    play.disk.after_each(Box::new(move |number, disk| {
        if number == at {
            let (store, _) = store_over(disk);
            let plan = retention::plan(&store, a_society_facts::At::from_ms(i64::MAX / 4)).unwrap();
            assert_eq!(retention::apply(&store, &plan).unwrap(), [flow_ref()]);
        }
    }));
    let opened = play.store.open(&flow_ref());
    assert!(matches!(opened, Err(Error::NoFlow(_))), "{opened:?}");
    let left = play.disk.files();
    assert!(
        left.iter()
            .all(|path| !path.to_string_lossy().contains(FLOW)),
        "{left:?}"
    );
}

#[test]
fn one_flow_is_removed_only_as_its_plan_was_read_and_when_nobody_writes_it() {
    let mut play = played(&[Step::Create, Step::Title]);
    let plan = removal::plan(&play.store, &flow_ref()).unwrap();
    assert!(matches!(plan.stays, Some(Stays::Held(_))), "{plan:?}");
    assert!(play.run(&[Step::Close], Temper::GiveUp).is_none());
    let plan = removal::plan(&play.store, &flow_ref()).unwrap();
    assert_eq!(plan.stays, Some(Stays::NotOver));
    assert!(removal::remove(&play.store, &flow_ref(), plan.seq).is_err());
    let play = played(&[Step::Create, Step::Cancel, Step::Close]);
    let plan = removal::plan(&play.store, &flow_ref()).unwrap();
    let folder = play.store.folder(&flow_ref());
    let there = || {
        let files = play.disk.files();
        let ours = files.iter().filter(|path| path.starts_with(folder.root()));
        ours.count() as u64
    };
    assert_eq!((plan.stays.as_ref(), plan.files()), (None, there()));
    let went_on = removal::remove(&play.store, &flow_ref(), plan.seq - 1);
    assert!(
        matches!(went_on, Err(NotRemoved::WentOn { .. })),
        "{went_on:?}"
    );
    assert_eq!(there(), plan.files());
    removal::remove(&play.store, &flow_ref(), plan.seq).unwrap();
    assert_eq!(there(), 0);
    assert!(removal::plan(&play.store, &flow_ref()).is_err());
}

#[test]
fn a_full_disk_pauses_the_flow_in_the_room_that_was_set_aside() {
    let mut play = played(&[Step::Create, Step::Title, Step::Sync, Step::Room(Some(10))]);
    let refused = play.step(&Step::Title);
    assert!(matches!(refused, Err(Error::DiskFull)), "{refused:?}");
    for seed in 0..8 {
        let disk = play.disk.crash_clone(seed);
        disk.set_free_bytes(None);
        let (store, _) = store_over(&disk);
        let paused = Fact::FlowPaused(FlowPaused {
            client: None,
            reason: PauseReason::DiskFull,
            detail: None,
        });
        drop(store.open(&flow_ref()).unwrap());
        let there = records(&store, &flow_ref());
        assert!(there.values().any(|fact| *fact == paused), "seed {seed}");
    }
}

#[test]
fn a_flow_whose_disk_is_still_full_does_not_resume_and_does_as_soon_as_there_is_room() {
    let mut play = played(&[Step::Create, Step::Title, Step::Sync, Step::Room(Some(10))]);
    play.step(&Step::Title).unwrap_err();
    // Just enough for what is set aside, and nothing for the record.
    for room in [0, 10, 1 << 20, (1 << 20) + 10] {
        play.disk.set_free_bytes(Some(room));
        let flow = play.flow.as_mut().unwrap();
        assert_eq!(
            flow.try_resume_after_full().ok(),
            Some(false),
            "with {room} bytes"
        );
        assert_eq!(flow.poison(), None);
    }
    play.disk.set_free_bytes(Some(2 << 20));
    let flow = play.flow.as_mut().unwrap();
    assert!(flow.try_resume_after_full().unwrap());
    let resumed = Fact::FlowUnpaused(FlowUnpaused {
        client: None,
        by: FactAuthor::Runtime,
    });
    let there = records(&play.store, &flow_ref());
    assert_eq!(there.values().filter(|fact| **fact == resumed).count(), 1);
    play.step(&Step::Title).unwrap();
    play.step(&Step::Sync).unwrap();
    let model = play.model().clone();
    judge(&play.disk.crash_clone(3), &model, 3);
}

#[test]
fn a_folder_whose_name_could_not_be_synced_is_not_taken_for_durable_later() {
    let mut play = played(&[Step::Create, Step::Session, Step::Sync]);
    play.disk.record_trace();
    let probe = play.disk.operations();
    // The folder of the blobs is looked for, its parent is looked for, it is made, and synced.
    for at in probe + 1..probe + 8 {
        let mut again = played(&[Step::Create, Step::Session, Step::Sync]);
        again.disk.arm(FaultPlan {
            at,
            fault: InjectedFault::FolderSyncFails,
            sticky: false,
        });
        let first = again.step(&Step::Say(70_000));
        assert_eq!(first.is_err(), again.disk.fired());
        again.step(&Step::Say(70_000)).unwrap();
        again.step(&Step::Sync).unwrap();
        let model = again.model().clone();
        for seed in 0..24 {
            judge(&again.disk.crash_clone(seed), &model, seed);
        }
    }
    play.step(&Step::Say(70_000)).unwrap();
}

#[test]
fn a_writer_announces_itself_once_and_only_when_it_writes() {
    let mut play = played(&[
        Step::Create,
        Step::Title,
        Step::Close,
        Step::Open,
        Step::Close,
    ]);
    let announced = |play: &Play| {
        let there = records(&play.store, &flow_ref());
        there
            .values()
            .filter(|fact| matches!(fact, Fact::WriterOpened(_)))
            .count()
    };
    assert_eq!(announced(&play), 1, "the second one wrote nothing");
    let more = [
        Step::Open,
        Step::Title,
        Step::Title,
        Step::Sync,
        Step::Kill,
        Step::Open,
        Step::Title,
    ];
    assert!(play.run(&more, Temper::GiveUp).is_none());
    assert_eq!(announced(&play), 3);
}

#[test]
fn what_a_dead_process_left_half_made_is_in_nobodys_way() {
    let play = played(&[Step::Create, Step::Title, Step::Sync, Step::Kill]);
    let folder = play.store.folder(&flow_ref());
    for left in [
        folder.new_segment(1),
        folder.new_segment(2),
        folder.checkpoint().with_file_name("checkpoint.json.tmp"),
        folder.views().with_file_name("views.json.tmp"),
        folder.flow_view().with_file_name("flow.json.tmp"),
        folder
            .quarantine()
            .join("tail-r2-00000001-1-1-0123456789abcdef.bin.tmp"),
        folder.blobs().join("half.tmp"),
    ] {
        play.disk.write_file(&left, b"half").unwrap();
    }
    let model = play.model().clone();
    judge(&play.disk, &model, 0);
    judge(&play.disk, &model, 1);
    let steps = [
        Step::Segments(1),
        Step::Checkpoints(1),
        Step::Open,
        Step::Title,
        Step::Rest,
        Step::Close,
    ];
    let mut play = play;
    assert!(play.run(&steps, Temper::GiveUp).is_none());
}

#[test]
fn the_list_shows_what_the_journal_says_whatever_the_views_say() {
    let mut play = Play::new();
    let script = [
        Step::Create,
        Step::Title,
        Step::Sync,
        Step::Rest,
        Step::Title,
        Step::Title,
        Step::Segments(1),
        Step::Title,
        Step::Title,
        Step::Rest,
        Step::Title,
        Step::Tick,
        Step::Title,
        Step::Kill,
        Step::Torn(a_society_facts::fact::journal::RecoveryRow::R2),
        Step::Open,
        Step::Close,
        Step::Open,
        Step::Title,
    ];
    let mut newest = created().title;
    for step in &script {
        play.step(step).unwrap();
        if *step == Step::Title {
            let Fact::FlowTitled(fact) = titled(play.model().titles) else {
                panic!("a title");
            };
            newest = fact.title;
        }
        let [row] = &rows(&play.store, &[flow_ref()])[..] else {
            panic!("one flow, one row");
        };
        let title = row.summary.as_ref().map(|summary| summary.title.clone());
        assert_eq!(title.as_ref(), Some(&newest), "after {step:?}");
        assert_eq!(row.damage, None);
        assert!(
            row.held_by.is_none() || play.flow.is_some(),
            "after {step:?}"
        );
    }
}

#[test]
fn a_repair_that_is_cut_off_anywhere_can_be_run_again_and_keeps_every_byte() {
    let script = [
        Step::Segments(700),
        Step::Create,
        Step::Title,
        Step::Sync,
        Step::Title,
        Step::Sync,
        Step::Title,
        Step::Sync,
        Step::Title,
        Step::Sync,
        Step::Rest,
        Step::Kill,
    ];
    let mut play = played(&script);
    let folder = play.store.folder(&flow_ref());
    let whole: Vec<u8> = journal(&play.disk, &folder);
    play.step(&Step::Flip).unwrap();
    let harmed = journal(&play.disk, &folder);
    assert_ne!(whole, harmed);
    let model = play.model().clone();
    let (before, probe) = (play.disk.operations(), play.disk.kill_clone());
    let mut repairing = Play::on(probe.clone());
    repairing.step(&Step::Repair).unwrap();
    let operations = probe.operations();
    assert!(before > 0 && operations > 20);
    for at in 1..=operations {
        let disk = play.disk.kill_clone();
        disk.arm(FaultPlan {
            at,
            fault: InjectedFault::Eio,
            sticky: true,
        });
        let mut cut_off = Play::on(disk);
        if cut_off.step(&Step::Repair).is_ok() {
            continue;
        }
        cut_off.flow = None;
        for left in [cut_off.disk.kill_clone(), cut_off.disk.crash_clone(at)] {
            judge(&left, &model, at);
            let mut again = Play::on(left);
            again.step(&Step::Repair).unwrap();
            again.flow = None;
            let kept = kept_pieces(&again.disk, &folder);
            let good = journal(&again.disk, &folder);
            let lost = harmed.len() - common(&harmed, &good);
            assert!(
                kept.iter().map(Vec::len).sum::<usize>() >= lost,
                "operation {at}"
            );
        }
    }
}

fn common(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}

fn journal(disk: &FaultyDisk, folder: &a_society_state::layout::FlowFolder) -> Vec<u8> {
    let segments = tails::segments(disk, folder.root());
    segments
        .iter()
        .flat_map(|path| disk.read_file(path).unwrap())
        .collect()
}

fn kept_pieces(disk: &FaultyDisk, folder: &a_society_state::layout::FlowFolder) -> Vec<Vec<u8>> {
    let quarantine = folder.quarantine();
    let kept = disk
        .files()
        .into_iter()
        .filter(|path| path.parent() == Some(&quarantine));
    kept.map(|path| disk.read_file(&path).unwrap()).collect()
}
