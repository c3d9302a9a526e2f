//! Readers beside a writer, and archives of flows that are torn or damaged.

use std::path::PathBuf;

use a_society_facts::Fact;
use a_society_facts::fact::journal::RecoveryRow;
use a_society_facts::id::Seq;
use a_society_state::disk::Disk;
use a_society_state::repair::{self, Diagnosis};
use a_society_state::{archive, look};

use crate::model::{ELSEWHERE, flow_ref, in_project, is_about_the_journal};
use crate::oracle::records;
use crate::script::{Play, Step, Temper, store_over};

#[test]
fn a_follower_hands_on_every_record_once_whatever_happens_to_the_writer() {
    let mut play = Play::new();
    let script = [
        Step::Create,
        Step::Title,
        Step::Segments(600),
        Step::Title,
        Step::Title,
        Step::Sync,
        Step::Title,
        Step::Kill,
        Step::Torn(RecoveryRow::R4),
        Step::Open,
        Step::Title,
        Step::Close,
        Step::Torn(RecoveryRow::R2),
        Step::Torn(RecoveryRow::R6),
        Step::Open,
        Step::Title,
        Step::Title,
        Step::Torn(RecoveryRow::R3),
        Step::Open,
        Step::Title,
        Step::Title,
        Step::Rest,
        Step::Title,
    ];
    let mut follower = None;
    let mut heard: Vec<(Seq, Fact)> = Vec::new();
    for step in &script {
        drop(play.step(step));
        let follower = follower.get_or_insert_with(|| play.store.follow(&flow_ref()).unwrap());
        follower
            .read(&mut |recorded| heard.push((recorded.seq, recorded.fact().cloned().unwrap())))
            .unwrap();
        let expected = play.flow.as_ref().map(|flow| flow.position().seq);
        assert!(
            expected.is_none_or(|seq| follower.seq() == seq),
            "after {step:?}"
        );
    }
    let there: Vec<_> = records(&play.store, &flow_ref()).into_iter().collect();
    assert_eq!(heard, there);
}

#[test]
fn a_follower_says_so_when_what_it_read_is_no_longer_there() {
    let mut play = Play::new();
    let steps = [
        Step::Create,
        Step::Title,
        Step::Segments(600),
        Step::Title,
        Step::Title,
        Step::Title,
        Step::Close,
    ];
    assert!(play.run(&steps, Temper::GiveUp).is_none());
    let folder = play.store.folder(&flow_ref());
    let mut follower = play.store.follow(&flow_ref()).unwrap();
    follower.read(&mut |_| {}).unwrap();
    let seq = follower.seq();
    let segments = play.disk.files();
    let segment = |path: &&PathBuf| path.extension().is_some_and(|it| it == "jsonl");
    let last = segments.iter().rfind(segment).unwrap();
    assert_ne!(*last, folder.segment(1));
    let bytes = play.disk.read_file(last).unwrap();
    // An older copy of the journal replaces it.
    play.disk.truncate(last, bytes.len() as u64 - 1).unwrap();
    for _ in 0..2 {
        let error = follower
            .read(&mut |_| panic!("nothing is new"))
            .unwrap_err();
        assert!(error.to_string().contains("shorter"), "{error}");
    }
    play.disk.write_file(last, &bytes).unwrap();
    assert_eq!(follower.read(&mut |_| {}).unwrap(), 0);
    play.disk.remove_file(last).unwrap();
    let error = follower
        .read(&mut |_| panic!("nothing is new"))
        .unwrap_err();
    assert!(error.to_string().contains("segment"), "{error}");
    assert_eq!(follower.seq(), seq);
}

#[test]
fn a_look_beside_any_torn_end_shows_what_is_good_and_changes_nothing() {
    for row in [
        RecoveryRow::R2,
        RecoveryRow::R3,
        RecoveryRow::R4,
        RecoveryRow::R6,
    ] {
        let mut play = Play::new();
        let steps = [
            Step::Checkpoints(1),
            Step::Create,
            Step::Title,
            Step::Sync,
            Step::Title,
            Step::Sync,
        ];
        assert!(play.run(&steps, Temper::GiveUp).is_none());
        let end = play.flow.as_ref().unwrap().position();
        play.step(&Step::Torn(row)).unwrap();
        let before: Vec<_> = play
            .disk
            .files()
            .iter()
            .map(|path| play.disk.read_file(path))
            .collect();
        let seen = look::look(
            &play.disk,
            &play.store.folder(&flow_ref()),
            &flow_ref().flow,
        );
        assert_eq!(seen.end, Some(end));
        assert_eq!(seen.torn.map(|tail| tail.row), Some(row));
        assert!(seen.from_checkpoint && seen.damage.is_none() && seen.held_by.is_none());
        let after: Vec<_> = play
            .disk
            .files()
            .iter()
            .map(|path| play.disk.read_file(path))
            .collect();
        assert_eq!(before, after);
    }
}

#[test]
fn a_look_that_reads_bytes_of_two_moments_calls_nothing_damaged() {
    let mut play = Play::new();
    let steps = [
        Step::Create,
        Step::Title,
        Step::Title,
        Step::Sync,
        Step::Title,
        Step::Title,
        Step::Sync,
    ];
    assert!(play.run(&steps, Temper::GiveUp).is_none());
    let folder = play.store.folder(&flow_ref());
    let look = || look::look(&play.disk, &folder, &flow_ref().flow);
    let began = play.disk.operations();
    assert!(look().damage.is_none());
    let operations = play.disk.operations() - began;
    let segment = folder.segment(1);
    let bit = play.disk.read_file(&segment).unwrap().len() as u64 * 4;
    for moment in 1..=operations {
        // Until this moment what is read is not what is there in the end.
        play.disk.flip_bit(&segment, bit).unwrap();
        let (at, file) = (play.disk.operations() + moment, segment.clone());
        play.disk.after_each(Box::new(move |number, disk| {
            if number == at {
                disk.flip_bit(&file, bit).unwrap();
            }
        }));
        let seen = look();
        play.disk.after_each(Box::new(|_, _| {}));
        assert!(seen.damage.is_none(), "{moment}: {:?}", seen.damage);
    }
    play.disk.flip_bit(&segment, bit).unwrap();
    assert!(look().damage.is_some(), "what is damaged is said to be");
}

#[test]
fn a_flow_that_is_opened_often_and_grows_a_little_each_time_gets_its_checkpoints() {
    const EACH: u64 = 1_000;
    let mut play = Play::new();
    let begin = [Step::Checkpoints(10 * EACH), Step::Create, Step::Close];
    assert!(play.run(&begin, Temper::GiveUp).is_none());
    let mut longest = 0;
    for _ in 0..60 {
        let again = [Step::Open, Step::Title, Step::Close];
        assert!(play.run(&again, Temper::GiveUp).is_none());
        let folder = play.store.folder(&flow_ref());
        let seen = look::look(&play.disk, &folder, &flow_ref().flow);
        assert!(seen.damage.is_none());
        longest = longest.max(seen.folded);
    }
    assert!((2..30).contains(&longest), "{longest} records were folded");
}

fn said(play: &Play, project: &str) -> Vec<Fact> {
    let there = records(&play.store, &in_project(project));
    let facts = there
        .into_values()
        .filter(|fact| !is_about_the_journal(fact));
    facts.collect()
}

#[test]
fn an_archive_of_a_torn_flow_is_whole() {
    for row in [
        RecoveryRow::R2,
        RecoveryRow::R3,
        RecoveryRow::R4,
        RecoveryRow::R6,
    ] {
        let mut play = Play::new();
        let steps = [
            Step::Create,
            Step::Session,
            Step::Say(70_000),
            Step::Title,
            Step::Sync,
            Step::Torn(row),
        ];
        assert!(play.run(&steps, Temper::GiveUp).is_none());
        play.step(&Step::Carry).unwrap();
        let (flow, report) = play.store.open(&in_project(ELSEWHERE)).unwrap();
        assert!(
            report.recovered.is_empty() && report.blobs_lost.is_empty(),
            "{report:?}"
        );
        drop(flow);
        play.step(&Step::Open).unwrap();
        assert_eq!(said(&play, ELSEWHERE), said(&play, crate::model::PROJECT));
    }
}

#[test]
fn an_archive_of_a_damaged_flow_carries_everything_and_its_damage() {
    let mut play = Play::new();
    let mut steps = vec![Step::Segments(800), Step::Create];
    steps.extend([
        Step::Title,
        Step::Sync,
        Step::Title,
        Step::Sync,
        Step::Title,
        Step::Sync,
        Step::Flip,
    ]);
    assert!(play.run(&steps, Temper::GiveUp).is_none());
    let mut bytes = Vec::new();
    archive::export(&play.store, &flow_ref(), &mut bytes).unwrap();
    let project = Some(ELSEWHERE.parse().unwrap());
    let imported = archive::import(&play.store, &mut bytes.as_slice(), project).unwrap();
    assert!(imported.damage.is_some());
    let plans = [flow_ref(), in_project(ELSEWHERE)].map(|flow| {
        let Diagnosis::Plan(plan) = repair::plan(&play.store, &flow).unwrap() else {
            panic!("a repair helps");
        };
        plan
    });
    assert_eq!(plans[0].pieces, plans[1].pieces, "the same bytes");
    for plan in &plans {
        drop(repair::apply(&play.store, plan).unwrap());
    }
    assert_eq!(said(&play, ELSEWHERE), said(&play, crate::model::PROJECT));
}

#[test]
fn an_archive_that_is_cut_off_anywhere_brings_nothing() {
    let mut play = Play::new();
    let steps = [Step::Create, Step::Title, Step::Close];
    assert!(play.run(&steps, Temper::GiveUp).is_none());
    let mut bytes = Vec::new();
    archive::export(&play.store, &flow_ref(), &mut bytes).unwrap();
    // The end of a tar is two blocks of zeros, which nothing needs.
    for size in (0..bytes.len() - 1024).step_by(97) {
        let (store, _) = store_over(&play.disk.kill_clone());
        let project = Some(ELSEWHERE.parse().unwrap());
        let imported = archive::import(&store, &mut &bytes[..size], project);
        assert!(imported.is_err(), "with {size} bytes");
        assert_eq!(store.census().unwrap().flows, [flow_ref()]);
    }
}
