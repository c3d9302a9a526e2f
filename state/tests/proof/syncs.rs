//! One test for each sync in the code that the crash tests alone would not miss, so that taking
//! any one of them out makes a test fail. `state/SYNCS.md` has the table.

use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

use a_society_facts::Fact;
use a_society_facts::fact::journal::RecoveryRow;
use a_society_in_memory::{DiskCall, FaultPlan, FaultyDisk, InjectedFault};
use a_society_state::disk::{Disk, How};
use a_society_state::layout::FlowFolder;
use a_society_state::{blob, checkpoint};

use crate::model::{ELSEWHERE, flow_ref, in_project, message, titled};
use crate::oracle::{judge, records};
use crate::script::{Play, ROOT, Step, Temper, store_over};
use crate::tails;

/// How many power cuts each claim of durability must survive.
const CUTS: u64 = 24;

fn played(steps: &[Step]) -> Play {
    let mut play = Play::new();
    let error = play.run(steps, Temper::GiveUp);
    assert!(error.is_none(), "{error:?}");
    play
}

/// Whether a fact is in the journal after every power cut.
fn survives(disk: &FaultyDisk, fact: &Fact) {
    for seed in 0..CUTS {
        let (store, _) = store_over(&disk.crash_clone(seed));
        drop(store.open(&flow_ref()).unwrap());
        let there = records(&store, &flow_ref());
        assert!(
            there.values().any(|other| other == fact),
            "power cut {seed}"
        );
    }
}

#[test]
fn what_is_appended_durably_rested_on_closed_or_resumed_survives() {
    let mut play = played(&[Step::Create]);
    let flow = play.flow.as_mut().unwrap();
    flow.append_durably(titled(1)).unwrap();
    survives(&play.disk, &titled(1));
    let flow = play.flow.as_mut().unwrap();
    flow.append(titled(2)).unwrap();
    flow.rest().unwrap();
    survives(&play.disk, &titled(2));
    let mut flow = play.flow.take().unwrap();
    flow.append(titled(3)).unwrap();
    flow.close().unwrap();
    survives(&play.disk, &titled(3));
}

#[test]
fn what_was_put_back_survives() {
    let mut play = played(&[
        Step::Create,
        Step::Title,
        Step::Sync,
        Step::Kill,
        Step::Torn(RecoveryRow::R6),
        Step::Open,
        Step::Restore,
    ]);
    survives(&play.disk, &tails::torn_fact(tails::TITLES[0]));
    play.flow = None;
}

#[test]
fn a_checkpoint_survives() {
    let play = played(&[Step::Checkpoints(1), Step::Create, Step::Title, Step::Sync]);
    let folder = play.store.folder(&flow_ref());
    let end = play.flow.as_ref().unwrap().position().seq;
    for seed in 0..CUTS {
        let disk = play.disk.crash_clone(seed);
        let kept = checkpoint::read(&disk, &folder, &flow_ref().flow);
        assert_eq!(
            kept.map(|kept| kept.position.seq),
            Some(end),
            "power cut {seed}"
        );
    }
}

/// Keeps a text as a blob, names it in a record, and holds both to every power cut.
fn says_a_blob(play: &mut Play) {
    let text = "w".repeat(70_000);
    let flow = play.flow.as_mut().unwrap();
    let text = flow.keep_text(text).unwrap();
    let hash = text.blob().unwrap().blob;
    let said = message(77, text);
    flow.append_durably(said.clone()).unwrap();
    survives(&play.disk, &said);
    let folder = play.store.folder(&flow_ref());
    for seed in 0..CUTS {
        let loss = blob::loss(&play.disk.crash_clone(seed), &folder, hash);
        assert_eq!(loss, None, "power cut {seed}");
    }
}

#[test]
fn a_blob_that_a_dead_process_had_named_is_durable_before_it_is_named_in_a_record() {
    let mut first = played(&[Step::Create, Step::Session, Step::Sync]);
    let before = first.disk.operations();
    let probe = first.disk.clone();
    let text = || "w".repeat(70_000);
    first.flow.as_mut().unwrap().keep_text(text()).unwrap();
    let operations = probe.operations() - before;
    for at in 1..=operations {
        let play = played(&[Step::Create, Step::Session, Step::Sync]);
        let (tell, left) = channel();
        play.disk.after_each(Box::new(move |number, disk| {
            if number == before + at {
                tell.send(disk.kill_clone()).unwrap();
            }
        }));
        play.flow.as_ref().unwrap().keep_text(text()).unwrap();
        let mut again = Play::on(left.try_recv().unwrap());
        again.step(&Step::Open).unwrap();
        says_a_blob(&mut again);
    }
}

#[test]
fn a_folder_that_another_process_made_in_between_is_made_durable_too() {
    let mut play = played(&[Step::Create, Step::Session, Step::Sync]);
    let blobs = play.store.folder(&flow_ref()).blobs();
    play.disk.after_each(Box::new(move |_, disk| {
        // It does so as soon as we have seen that it is not there.
        drop(disk.create_folder(&blobs));
    }));
    says_a_blob(&mut play);
}

#[test]
fn an_imported_flow_leaves_no_second_name_behind() {
    let play = played(&[Step::Create, Step::Title, Step::Close, Step::Carry]);
    for seed in 0..CUTS {
        let left = play.disk.crash_clone(seed);
        let names = left.list(Path::new(ROOT)).unwrap();
        let coming = names.iter().find(|entry| entry.name.starts_with('.'));
        assert_eq!(coming, None, "power cut {seed}");
    }
}

#[test]
fn what_a_failed_sync_dropped_is_written_anew_whichever_sync_it_was() {
    // Records that were not synced, and the half of one more, as the death of a process leaves them.
    let steps = [Step::Create, Step::Title, Step::Title, Step::Kill];
    let torn = || {
        let play = played(&steps);
        let segment = play.store.folder(&flow_ref()).segment(1);
        let mut file = play.disk.open(&segment, How::Append).unwrap();
        file.append(b"{\"v\":1,").unwrap();
        play
    };
    let mut probe = torn();
    let before = probe.disk.operations();
    probe.step(&Step::Open).unwrap();
    let mut failed = 0;
    for at in before + 1..=probe.disk.operations() {
        let mut play = torn();
        play.disk.arm(FaultPlan {
            at,
            fault: InjectedFault::SyncFailsThenLies,
            sticky: false,
        });
        failed += usize::from(play.step(&Step::Open).is_err());
        play.flow = None;
        let model = play.model().clone();
        for seed in 0..CUTS {
            judge(&play.disk.kill_clone(), &model, seed);
        }
    }
    assert!(failed >= 3, "the tail kept, the cut, and the end: {failed}");
}

// Orders that no single crash shows, because the next open would mend what they prevent: they are
// read off the trace.

/// What was done to a disk while a script was played on it, failures left out.
fn traced(play: &mut Play, step: &Step) -> Vec<DiskCall> {
    play.disk.record_trace();
    play.step(step).unwrap();
    play.disk.trace()
}

fn place(trace: &[DiskCall], op: &DiskCall) -> usize {
    let found = trace.iter().position(|other| other == op);
    found.unwrap_or_else(|| panic!("{op:?} was not done"))
}

fn next_after(trace: &[DiskCall], after: usize, op: &DiskCall) -> usize {
    after + 1 + place(&trace[after + 1..], op)
}

#[test]
fn j19_a_tail_is_kept_then_cut_then_told_and_each_is_durable_before_the_next() {
    let mut play = played(&[
        Step::Create,
        Step::Title,
        Step::Sync,
        Step::Kill,
        Step::Torn(RecoveryRow::R2),
    ]);
    let folder = play.store.folder(&flow_ref());
    let trace = traced(&mut play, &Step::Open);
    let segment = folder.segment(1);
    let kept = place(
        &trace,
        &DiskCall::SyncFolder {
            path: folder.quarantine(),
        },
    );
    let cut = trace
        .iter()
        .position(|op| matches!(op, DiskCall::SetSize { path, .. } if *path == segment))
        .unwrap();
    let synced = next_after(
        &trace,
        cut,
        &DiskCall::Sync {
            path: segment.clone(),
        },
    );
    let named = next_after(
        &trace,
        synced,
        &DiskCall::SyncFolder {
            path: folder.journal(),
        },
    );
    let told = trace
        .iter()
        .position(|op| matches!(op, DiskCall::Append { path, .. } if *path == segment))
        .unwrap();
    assert!(
        kept < cut && named < told,
        "{kept} {cut} {synced} {named} {told}"
    );
}

#[test]
fn an_import_makes_the_new_name_durable_before_the_old_one_may_go() {
    let mut play = played(&[Step::Create, Step::Title, Step::Close]);
    let trace = traced(&mut play, &Step::Carry);
    let named = trace
        .iter()
        .rposition(|op| matches!(op, DiskCall::Rename { .. }));
    let sync = |path: &Path| DiskCall::SyncFolder {
        path: path.to_owned(),
    };
    let target = play.store.folder(&in_project(ELSEWHERE));
    let new = next_after(
        &trace,
        named.unwrap(),
        &sync(target.root().parent().unwrap()),
    );
    next_after(&trace, new, &sync(play.store.root()));
}

fn removed(path: PathBuf) -> DiskCall {
    DiskCall::RemoveFile { path }
}

#[test]
fn a_repair_silences_every_witness_durably_before_it_takes_anything_out() {
    let mut play = played(&[
        Step::Segments(700),
        Step::Checkpoints(1),
        Step::Create,
        Step::Title,
        Step::Sync,
        Step::Title,
        Step::Title,
        Step::Title,
        Step::Title,
        Step::Sync,
        Step::Rest,
        Step::Kill,
        Step::Flip,
    ]);
    let folder: FlowFolder = play.store.folder(&flow_ref());
    let segments = tails::segments(&play.disk, folder.root());
    assert!(segments.len() > 2, "{segments:?}");
    let trace = traced(&mut play, &Step::Repair);
    let sync = |path: PathBuf| DiskCall::SyncFolder { path };
    let views = place(&trace, &removed(folder.views()));
    let flow = place(&trace, &removed(folder.flow_view()));
    let fold = place(&trace, &removed(folder.checkpoint()));
    let root = next_after(&trace, views.max(flow), &sync(folder.root().to_owned()));
    let journal = next_after(&trace, fold, &sync(folder.journal()));
    let mut last = root.max(journal);
    // The later segments go first, and each is gone for good before the next one goes.
    for path in segments[1..].iter().rev() {
        let gone = place(&trace, &removed(path.clone()));
        assert!(gone > last, "{} goes too early", path.display());
        last = next_after(&trace, gone, &sync(folder.journal()));
    }
    let is_cut = |op: &DiskCall| matches!(op, DiskCall::Rename { to, .. } if *to == segments[0]);
    let cut = trace.iter().position(is_cut).unwrap();
    assert!(cut > last, "the damaged segment is cut last");
    let DiskCall::Rename { from, .. } = &trace[cut] else {
        panic!("the shorter segment is put in its place")
    };
    let synced = place(&trace, &DiskCall::Sync { path: from.clone() });
    assert!(synced < cut, "it is durable before it gets its place");
    next_after(&trace, cut, &sync(folder.journal()));
}

#[test]
fn a_record_is_written_with_one_write_and_synced_with_one_sync() {
    let mut play = played(&[Step::Create, Step::Close, Step::Open, Step::Title]);
    let segment = play.store.folder(&flow_ref()).segment(1);
    let before = traced(&mut play, &Step::Title).len();
    play.step(&Step::Sync).unwrap();
    let trace = play.disk.trace();
    assert_eq!(before, 1, "{trace:?}");
    assert!(matches!(&trace[0], DiskCall::Append { path, .. } if *path == segment));
    assert_eq!(trace[1..], [DiskCall::Sync { path: segment }]);
    let model = play.model().clone();
    judge(&play.disk.crash_clone(5), &model, 5);
}
