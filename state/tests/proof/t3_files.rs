//! T3, for whole files: segments that are missing, emptied, exchanged, foreign, newer, or no files.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use a_society_facts::Fact;
use a_society_facts::fact::journal::SegmentStarted;
use a_society_facts::line;
use a_society_in_memory::{FaultPlan, FaultyDisk, InjectedFault};
use a_society_state::clock::SystemClock;
use a_society_state::disk::{Disk, RealDisk};
use a_society_state::index::rows;
use a_society_state::journal::verdict::{Damage, Harm};
use a_society_state::layout::FlowFolder;
use a_society_state::{Error, Ground, Store, blob, process, repair, verify};

use crate::extent::slice_of;
use crate::model::{created, flow_ref, titled};
use crate::oracle::records;
use crate::script::{Play, Step, Temper, store_over};
use crate::tails;

/// A flow of several segments, killed.
fn several_segments() -> (FaultyDisk, FlowFolder, Vec<PathBuf>) {
    let mut play = Play::new();
    let mut steps = vec![Step::Segments(600), Step::Create];
    for _ in 0..6 {
        steps.extend([Step::Title, Step::Title, Step::Sync]);
    }
    steps.push(Step::Kill);
    assert!(play.run(&steps, Temper::GiveUp).is_none());
    let folder = play.store.folder(&flow_ref());
    let segments = tails::segments(&play.disk, folder.root());
    assert!(segments.len() >= 4, "{segments:?}");
    (play.disk, folder, segments)
}

/// Opens a flow that must be damaged, and checks that nothing of it is touched and that
/// everything else still knows it.
fn damage(disk: &FaultyDisk) -> Damage {
    let before: Vec<_> = disk
        .files()
        .iter()
        .map(|path| disk.read_file(path))
        .collect();
    let (store, _) = store_over(disk);
    let Err(Error::Damaged(damage)) = store.open(&flow_ref()) else {
        panic!("it opens");
    };
    let after: Vec<_> = disk
        .files()
        .iter()
        .map(|path| disk.read_file(path))
        .collect();
    assert_eq!(before.len(), after.len());
    let seen = store.look(&flow_ref()).unwrap();
    assert_eq!(seen.damage.as_ref().map(|d| d.harm), Some(damage.harm));
    assert_eq!(seen.end, damage.good, "what is good is shown");
    let [row] = &rows(&store, &[flow_ref()])[..] else {
        panic!("one flow, one row");
    };
    assert_eq!(row.damage_word, Some(damage.harm.word()));
    let mut archive = Vec::new();
    let exported = a_society_state::archive::export(&store, &flow_ref(), &mut archive).unwrap();
    assert!(exported.damage.is_some(), "it can always be exported");
    *damage
}

fn without(disk: &FaultyDisk, path: &Path) {
    disk.remove_file(path).unwrap();
    disk.sync_folder(path.parent().unwrap()).unwrap();
}

#[test]
fn r10_a_segment_that_is_missing_is_damage_and_a_missing_end_is_told_by_views() {
    let (disk, _, segments) = several_segments();
    for gone in &segments[..segments.len() - 1] {
        let left = disk.kill_clone();
        without(&left, gone);
        assert_eq!(damage(&left).harm, Harm::SegmentMissing);
    }
    let (store, _) = store_over(&disk);
    store.open(&flow_ref()).unwrap().0.rest().unwrap();
    without(&disk, segments.last().unwrap());
    assert_eq!(damage(&disk).harm, Harm::EndMissing);
}

#[test]
fn r7_a_segment_that_was_emptied_is_damage() {
    let (disk, _, segments) = several_segments();
    for (place, path) in segments.iter().enumerate() {
        let size = disk.read_file(path).unwrap().len();
        for zeros in [0, size] {
            let left = disk.kill_clone();
            left.write_file(path, &vec![0; zeros]).unwrap();
            let damage = damage(&left);
            assert_eq!(damage.harm, Harm::Emptied, "segment {place}, {zeros} zeros");
            assert_eq!(usize::try_from(damage.segment).unwrap(), place + 1);
        }
    }
}

#[test]
fn r7_an_empty_journal_beside_views_is_damage() {
    let mut play = Play::new();
    let steps = [
        Step::Create,
        Step::Title,
        Step::Sync,
        Step::Rest,
        Step::Kill,
    ];
    assert!(play.run(&steps, Temper::GiveUp).is_none());
    let folder = play.store.folder(&flow_ref());
    play.disk.write_file(&folder.segment(1), b"").unwrap();
    assert_eq!(damage(&play.disk.kill_clone()).harm, Harm::Emptied);
    // One view alone is enough, whatever happened to the others.
    play.disk.write_file(&folder.views(), b"no index").unwrap();
    assert_eq!(damage(&play.disk.kill_clone()).harm, Harm::Emptied);
    without(&play.disk, &folder.segment(1));
    assert_eq!(damage(&play.disk.kill_clone()).harm, Harm::Emptied);
    let (store, _) = store_over(&play.disk);
    let repair::Diagnosis::Plan(plan) = repair::plan(&store, &flow_ref()).unwrap() else {
        panic!("a repair helps");
    };
    let (flow, _) = repair::apply(&store, &plan).unwrap();
    drop(flow);
    store.open(&flow_ref()).unwrap();
}

#[test]
fn r8_an_empty_first_segment_without_any_evidence_is_begun_again() {
    let mut play = Play::new();
    play.step(&Step::Create).unwrap();
    play.step(&Step::Kill).unwrap();
    let folder = play.store.folder(&flow_ref());
    play.disk.write_file(&folder.segment(1), b"").unwrap();
    let (mut flow, report) = play.store.open(&flow_ref()).unwrap();
    assert!(report.recovered.is_empty());
    flow.append_durably(Fact::FlowCreated(created())).unwrap();
}

#[test]
fn r9_segments_in_the_wrong_place_are_damage() {
    let (disk, _, segments) = several_segments();
    for one in 0..segments.len() {
        for other in 0..one {
            let left = disk.kill_clone();
            let bytes = |path: &Path| disk.read_file(path).unwrap();
            left.write_file(&segments[one], &bytes(&segments[other]))
                .unwrap();
            assert_eq!(damage(&left).row(), "R9");
            left.write_file(&segments[other], &bytes(&segments[one]))
                .unwrap();
            assert_eq!(damage(&left).row(), "R9");
        }
    }
}

trait HasRow {
    fn row(&self) -> &'static str;
}

impl HasRow for Damage {
    fn row(&self) -> &'static str {
        self.harm.row()
    }
}

#[test]
fn r5_any_bit_of_a_segment_that_is_not_the_last_is_damage() {
    let (disk, _, segments) = several_segments();
    let bits = disk.read_file(&segments[1]).unwrap().len() as u64 * 8;
    for bit in slice_of(0..bits, 97) {
        let left = disk.kill_clone();
        left.flip_bit(&segments[1], bit).unwrap();
        let damage = damage(&left);
        assert_eq!(
            (damage.row(), damage.segment),
            ("R5", 2),
            "bit {bit}: {damage}"
        );
    }
}

fn header(flow: &str, format: u32) -> Vec<u8> {
    let fact = Fact::SegmentStarted(SegmentStarted {
        flow: flow.parse().unwrap(),
        format,
        writer: "a-society/9".into(),
        segment: 1,
        previous: None,
    });
    let mut out = Vec::new();
    line::write(&mut out, 1, a_society_facts::At::from_ms(0), 0, 0, &fact).unwrap();
    out
}

#[test]
fn r9_and_r12_another_flows_journal_and_a_newer_one_are_left_alone() {
    let (disk, folder, segments) = several_segments();
    for path in &segments[1..] {
        without(&disk, path);
    }
    let other = header("20260527T143000123Z-zzzzzz", 1);
    disk.write_file(&folder.segment(1), &other).unwrap();
    assert_eq!(damage(&disk).harm, Harm::ForeignFlow);
    disk.write_file(&folder.segment(1), &header(flow_ref().flow.as_str(), 2))
        .unwrap();
    assert_eq!(damage(&disk).harm, Harm::Newer);
    let (store, _) = store_over(&disk);
    let diagnosis = repair::plan(&store, &flow_ref()).unwrap();
    assert!(
        matches!(diagnosis, repair::Diagnosis::Beyond(_)),
        "{diagnosis:?}"
    );
}

#[test]
fn r12_a_line_of_a_newer_version_is_left_alone_and_r11_an_unknown_word_is_kept() {
    let (disk, folder, segments) = several_segments();
    let last = tails::lines(&disk, folder.root()).pop().unwrap();
    let line = |version: u32, word: &str| {
        let (seq, durable) = (last.frame.seq + 1, last.frame.durable);
        let prev = last.frame.crc;
        let mut text = format!(
            "{{\"v\":{version},\"seq\":{seq},\"at\":\"2026-01-01T00:00:00.000Z\",\"durable\":{durable},\
             \"fact\":\"{word}\",\"more\":[1],\"prev\":\"{prev:08x}\"}}"
        )
        .into_bytes();
        line::seal(&mut text);
        text.push(b'\n');
        text
    };
    let path = segments.last().unwrap();
    let bytes = disk.read_file(path).unwrap();
    let newer = disk.kill_clone();
    newer
        .write_file(path, &[&bytes[..], &line(2, "flow_titled")].concat())
        .unwrap();
    assert_eq!(damage(&newer).harm, Harm::Newer);
    let wrong = disk.kill_clone();
    wrong
        .write_file(path, &[&bytes[..], &line(1, "flow_titled")].concat())
        .unwrap();
    assert_eq!(
        damage(&wrong).harm,
        Harm::Illegal,
        "a title without its title"
    );
    let unknown = [&bytes[..], &line(1, "flow_sang")].concat();
    disk.write_file(path, &unknown).unwrap();
    let (store, _) = store_over(&disk);
    let (mut flow, _) = store.open(&flow_ref()).unwrap();
    flow.append_durably(titled(5)).unwrap();
    flow.close().unwrap();
    assert!(
        disk.read_file(path).unwrap().starts_with(&unknown),
        "it is kept"
    );
    store.open(&flow_ref()).unwrap();
}

#[test]
fn r13_a_blob_that_is_lost_costs_only_itself() {
    let mut play = Play::new();
    let steps = [
        Step::Create,
        Step::Session,
        Step::Say(70_000),
        Step::Say(80_000),
        Step::Close,
    ];
    assert!(play.run(&steps, Temper::GiveUp).is_none());
    let folder = play.store.folder(&flow_ref());
    let hash = play.model().blobs[0];
    let kept = play.disk.read_file(&folder.blob(hash)).unwrap();
    without(&play.disk, &folder.blob(hash));
    let (flow, report) = play.store.open(&flow_ref()).unwrap();
    assert_eq!(report.blobs_lost, [hash]);
    flow.close().unwrap();
    let (flow, report) = play.store.open(&flow_ref()).unwrap();
    assert!(report.blobs_lost.is_empty(), "it is told once");
    flow.close().unwrap();
    play.disk.write_file(&folder.blob(hash), &kept).unwrap();
    drop(play.store.open(&flow_ref()).unwrap());
    let found = records(&play.store, &flow_ref());
    assert!(
        found
            .values()
            .any(|fact| matches!(fact, Fact::BlobFound(_)))
    );
    play.disk.flip_bit(&folder.blob(hash), 9).unwrap();
    let verified = verify::verify(&play.store, &flow_ref()).unwrap();
    assert_eq!(verified.blobs_lost.len(), 1, "{verified:?}");
    assert!(blob::loss(&play.disk, &folder, hash).is_some());
}

#[test]
fn r14_a_device_that_fails_while_it_is_read_costs_nothing() {
    let (disk, _, segments) = several_segments();
    tails::leave_tail(
        &disk,
        segments[0].ancestors().nth(2).unwrap(),
        a_society_facts::fact::journal::RecoveryRow::R2,
    );
    let probe = disk.kill_clone();
    store_over(&probe).0.open(&flow_ref()).unwrap();
    for at in 1..=probe.operations() {
        let left = disk.kill_clone();
        left.arm(FaultPlan {
            at,
            fault: InjectedFault::Eio,
            sticky: true,
        });
        let (store, _) = store_over(&left);
        if let Err(Error::Damaged(damage)) = store.open(&flow_ref()) {
            assert_eq!(damage.row(), "R14", "operation {at}: {damage}");
            for path in &segments {
                assert_eq!(left.read_file(path), disk.read_file(path), "operation {at}");
            }
        }
    }
}

#[test]
fn r15_views_that_are_wrong_are_built_again() {
    let mut play = Play::new();
    let steps = [Step::Create, Step::Session, Step::Say(9), Step::Close];
    assert!(play.run(&steps, Temper::GiveUp).is_none());
    let folder = play.store.folder(&flow_ref());
    let views: Vec<PathBuf> = play
        .disk
        .files()
        .into_iter()
        .filter(|path| {
            path.extension().is_some_and(|e| e == "json") && !path.starts_with(folder.journal())
        })
        .collect();
    assert_eq!(views.len(), 4, "{views:?}");
    let written = |disk: &FaultyDisk| {
        views
            .iter()
            .map(|path| disk.read_file(path))
            .collect::<Vec<_>>()
    };
    let right = written(&play.disk);
    for path in &views {
        for bytes in [&b""[..], b"{}", b"\0\0\0\0"] {
            let left = play.disk.kill_clone();
            left.write_file(path, bytes).unwrap();
            let (store, _) = store_over(&left);
            let (flow, report) = store.open(&flow_ref()).unwrap();
            assert!(report.views_rebuilt, "{}", path.display());
            flow.close().unwrap();
            assert_eq!(written(&left), right, "{}", path.display());
        }
    }
}

/// Makes something at the path of a journal.
type Make = fn(&FlowFolder);

#[test]
fn what_is_no_journal_is_named_and_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let ground = Ground {
        disk: Arc::new(RealDisk),
        clock: Arc::new(SystemClock::default()),
        process: process::this(&RealDisk),
        ledger: None,
    };
    let store = Store::new(ground, home.path().join(".a-society/state"));
    let folder = store.folder(&flow_ref());
    let kinds: [(&str, Make); 4] = [
        ("a link for a segment", |folder| {
            std::fs::create_dir_all(folder.journal()).unwrap();
            std::fs::write(folder.root().join("elsewhere"), b"precious").unwrap();
            symlink(folder.root().join("elsewhere"), folder.segment(1)).unwrap();
        }),
        ("a folder for a segment", |folder| {
            std::fs::create_dir_all(folder.segment(1)).unwrap();
        }),
        ("a file for the journal", |folder| {
            std::fs::create_dir_all(folder.root()).unwrap();
            std::fs::write(folder.journal(), b"precious").unwrap();
        }),
        ("a giant segment", |folder| {
            std::fs::create_dir_all(folder.journal()).unwrap();
            let file = std::fs::File::create(folder.segment(1)).unwrap();
            file.set_len(100 << 20).unwrap();
        }),
    ];
    for (what, make) in kinds {
        make(&folder);
        let opened = store.open(&flow_ref());
        let Err(Error::Damaged(damage)) = opened else {
            panic!("{what}: {opened:?}");
        };
        assert_eq!(damage.harm, Harm::NotAJournal, "{what}");
        assert!(store.look(&flow_ref()).unwrap().damage.is_some(), "{what}");
        std::fs::remove_dir_all(folder.root()).unwrap();
    }
}
