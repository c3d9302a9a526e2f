//! T3: a journal cut at every byte, with every bit flipped, with its lines in every wrong order.

use std::collections::BTreeMap;
use std::path::PathBuf;

use a_society_facts::Fact;
use a_society_facts::fact::journal::RecoveryRow;
use a_society_facts::id::Seq;
use a_society_in_memory::FaultyDisk;
use a_society_state::Error;

use crate::extent::{each_in_parallel, first_of, is_full, pick, slice_of};
use crate::model::{FLOW, flow_ref};
use crate::naive::{Ruled, Ruling, rule};
use crate::oracle::{cut_of, records};
use crate::script::{Play, Step, Temper, store_over};
use crate::tails;

/// A journal that was really written, with what it holds.
pub(crate) struct Sample {
    disk: FaultyDisk,
    path: PathBuf,
    pub(crate) bytes: Vec<u8>,
    /// Where each line begins, and the end.
    pub(crate) lines: Vec<usize>,
    records: BTreeMap<Seq, Fact>,
    /// The highest record that views testify for.
    evidence: Seq,
}

/// What testifies for the records of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Witness {
    /// Nothing but the journal.
    None,
    /// Views that were written half-way.
    Half,
    /// Views that were written at the end.
    End,
}

/// Writes a journal of about so many bytes, with a sync now and then.
pub(crate) fn sample(size_bytes: usize, witness: Witness) -> Sample {
    let mut play = Play::new();
    play.step(&Step::Create).unwrap();
    let path = play.store.folder(&flow_ref()).segment(1);
    let size = |play: &Play| play.disk.read_file(&path).unwrap().len();
    let mut round = 0;
    let mut half = witness == Witness::Half;
    while size(&play) < size_bytes {
        round += 1;
        play.step(&Step::Title).unwrap();
        if round % 4 != 1 {
            play.step(&Step::Sync).unwrap();
        }
        if half && size(&play) > size_bytes / 2 {
            play.step(&Step::Rest).unwrap();
            half = false;
        }
    }
    if witness == Witness::End {
        play.step(&Step::Rest).unwrap();
    }
    play.step(&Step::Sync).unwrap();
    play.step(&Step::Kill).unwrap();
    let bytes = play.disk.read_file(&path).unwrap();
    let ends = (1..=bytes.len()).filter(|end| bytes[end - 1] == b'\n');
    let views = play.disk.read_file(&play.store.folder(&flow_ref()).views());
    let evidence = views.map_or(0, |bytes| {
        let index: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        index["position"]["seq"].as_u64().unwrap()
    });
    assert_eq!(evidence > 0, witness != Witness::None);
    Sample {
        lines: [0].into_iter().chain(ends).collect(),
        records: records(&play.store, &flow_ref()),
        disk: play.disk,
        path,
        bytes,
        evidence,
    }
}

impl Sample {
    /// A line, newline included.
    pub(crate) fn line(&self, number: usize) -> &[u8] {
        &self.bytes[self.lines[number]..self.lines[number + 1]]
    }

    /// All lines.
    pub(crate) fn all_lines(&self) -> Vec<&[u8]> {
        (0..self.lines.len() - 1)
            .map(|number| self.line(number))
            .collect()
    }

    /// Opens the flow with other bytes in its journal and holds the outcome against the table.
    pub(crate) fn hold(&self, bytes: &[u8]) -> Ruled {
        let ruled = rule(bytes, FLOW, self.evidence);
        let disk = self.disk.kill_clone();
        disk.write_file(&self.path, bytes).unwrap();
        let (store, _) = store_over(&disk);
        match store.open(&flow_ref()) {
            Ok((flow, report)) => {
                self.nothing_testified_is_lost(&records(&store, &flow_ref()), ruled.good);
                self.cut_as_ruled(&disk, bytes, &ruled, &report.recovered);
                drop(flow);
            }
            Err(Error::Damaged(damage)) => {
                let row = damage.harm.row();
                assert_eq!(ruled.ruling, Ruling::ReadOnly(row), "{damage}");
                assert_eq!(
                    damage.good.map_or(0, |good| good.seq),
                    ruled.good,
                    "{damage}"
                );
                assert_eq!(
                    disk.read_file(&self.path).as_deref(),
                    Some(bytes),
                    "it was changed"
                );
            }
            Err(error) => panic!("the table has no row for it: {error}"),
        }
        ruled
    }

    /// The part before the cut is what was written, and reaches as far as the views prove.
    fn nothing_testified_is_lost(&self, there: &BTreeMap<Seq, Fact>, good: u64) {
        assert!(
            good >= self.evidence,
            "records up to {} were seen",
            self.evidence
        );
        let written = self.records.range(..=good);
        assert!(written.eq(there.range(..=good)), "up to {good}");
    }

    fn cut_as_ruled(&self, disk: &FaultyDisk, bytes: &[u8], ruled: &Ruled, recovered: &[Fact]) {
        match &ruled.ruling {
            Ruling::Sound => assert_eq!(recovered, [], "nothing was to be cut"),
            Ruling::ReadOnly(row) => panic!("it was opened although {row}"),
            Ruling::Cut(row, at) => {
                let [fact] = recovered else {
                    panic!("{row} at {at} was told as {recovered:?}");
                };
                let cut = cut_of(fact).unwrap();
                assert_eq!((name(cut.row), cut.offset_bytes), (*row, *at as u64));
                let kept = self.path.parent().unwrap().parent().unwrap();
                let kept = disk.read_file(&kept.join("quarantine").join(&cut.quarantine));
                assert_eq!(kept.as_deref(), Some(&bytes[*at..]), "what was cut is kept");
            }
        }
    }
}

const fn name(row: RecoveryRow) -> &'static str {
    match row {
        RecoveryRow::R2 => "R2",
        RecoveryRow::R3 => "R3",
        RecoveryRow::R4 => "R4",
        RecoveryRow::R6 => "R6",
    }
}

#[test]
fn a_journal_cut_at_any_byte_is_judged_by_the_table() {
    for witness in [Witness::None, Witness::Half, Witness::End] {
        let sample = sample(64 * 1024, witness);
        let stride = pick(if witness == Witness::None { 97 } else { 331 }, 1);
        let near = |at: usize| {
            let place = sample.lines.partition_point(|start| *start < at);
            let next = sample.lines.get(place).is_some_and(|end| end - at <= 2);
            next || place
                .checked_sub(1)
                .is_some_and(|p| at - sample.lines[p] <= 2)
        };
        let chosen =
            |at: &usize| at % stride == first_of(stride) || (near(*at) && at % 5 == first_of(5));
        let cuts: Vec<usize> = (0..=sample.bytes.len()).filter(chosen).collect();
        assert!(!is_full() || cuts.len() > 65_536);
        each_in_parallel(&cuts, |at| {
            sample.hold(&sample.bytes[..*at]);
        });
    }
}

#[test]
fn a_journal_with_any_bit_flipped_is_judged_by_the_table() {
    for witness in [Witness::None, Witness::Half, Witness::End] {
        let sample = sample(8 * 1024, witness);
        let bits: Vec<usize> = slice_of(0..sample.bytes.len() * 8, 211).collect();
        each_in_parallel(&bits, |bit| {
            let mut bytes = sample.bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let ruled = sample.hold(&bytes);
            assert_ne!(ruled.ruling, Ruling::Sound, "a flip goes unnoticed");
        });
    }
}

#[test]
fn bits_flipped_anywhere_in_a_large_journal_are_judged_by_the_table() {
    let sample = sample(64 * 1024, Witness::Half);
    let places: Vec<usize> = (0..pick(60, 4000))
        .map(|n| first_of(4000) + n * 7_919_317)
        .collect();
    each_in_parallel(&places, |place| {
        let mut bytes = sample.bytes.clone();
        for bit in [*place, place * 31 + 5, place * 57 + 11]
            .iter()
            .take(1 + place % 3)
        {
            let bit = bit % (bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        sample.hold(&bytes);
    });
}

#[test]
fn lines_that_are_missing_twice_or_in_the_wrong_order_are_noticed() {
    for witness in [Witness::None, Witness::Half, Witness::End] {
        let sample = sample(8 * 1024, witness);
        let count = sample.lines.len() - 1;
        let pairs = (0..count).flat_map(|one| (0..count).map(move |other| (one, other)));
        let pairs: Vec<_> = slice_of(pairs, 23).collect();
        each_in_parallel(&pairs, |&(one, other)| {
            let lines = sample.all_lines();
            let mut doubled = lines.clone();
            doubled.insert(other, lines[one]);
            sample.hold(&doubled.concat());
            let mut swapped = lines.clone();
            swapped.swap(one, other);
            sample.hold(&swapped.concat());
            let mut without = lines;
            without.remove(one.max(other));
            if one != other {
                without.remove(one.min(other));
            }
            sample.hold(&without.concat());
        });
    }
}

#[test]
fn any_sector_of_zeros_is_judged_by_the_table() {
    for witness in [Witness::None, Witness::Half, Witness::End] {
        let sample = sample(64 * 1024, witness);
        let sectors: Vec<usize> = (0..sample.bytes.len()).step_by(512).collect();
        let sectors: Vec<usize> = slice_of(sectors.into_iter().rev(), 5).collect();
        each_in_parallel(&sectors, |start| {
            let mut bytes = sample.bytes.clone();
            let end = bytes.len().min(start + 512);
            bytes[*start..end].fill(0);
            sample.hold(&bytes);
        });
    }
}

#[test]
fn other_peoples_line_ends_and_glued_lines_are_noticed() {
    let sample = sample(8 * 1024, Witness::Half);
    let lines = sample.all_lines();
    let crlf = |line: &[u8]| [line.strip_suffix(b"\n").unwrap(), b"\r\n"].concat();
    sample.hold(
        &lines
            .iter()
            .flat_map(|line| crlf(line))
            .collect::<Vec<u8>>(),
    );
    sample.hold(&[b"\xEF\xBB\xBF", &sample.bytes[..]].concat());
    for number in 0..lines.len() {
        let mut one = lines.iter().map(|line| line.to_vec()).collect::<Vec<_>>();
        one[number] = crlf(lines[number]);
        sample.hold(&one.concat());
        one[number] = lines[number].strip_suffix(b"\n").unwrap().to_vec();
        sample.hold(&one.concat());
        one[number] = [b"\n", lines[number]].concat();
        sample.hold(&one.concat());
        one[number] = [b"\xEF\xBB\xBF", lines[number]].concat();
        sample.hold(&one.concat());
    }
}

#[test]
fn a_file_of_nothing_and_a_file_of_zeros_are_judged_by_the_table() {
    for witness in [Witness::None, Witness::End] {
        let sample = sample(1024, witness);
        for bytes in [0, 1, 511, 512, 513, 4096, 100_000] {
            sample.hold(&vec![0; bytes]);
            sample.hold(&[&sample.bytes[..], &vec![0; bytes]].concat());
        }
    }
}

#[test]
fn whatever_follows_the_last_record_is_judged_by_the_table() {
    let sample = sample(2048, Witness::None);
    let last = tails::lines(
        &sample.disk,
        sample.path.parent().unwrap().parent().unwrap(),
    )
    .pop()
    .unwrap();
    let rows = [
        RecoveryRow::R2,
        RecoveryRow::R3,
        RecoveryRow::R4,
        RecoveryRow::R6,
    ];
    for one in rows {
        let tail = tails::tail(one, &last.frame);
        let ruled = sample.hold(&[&sample.bytes[..], &tail].concat());
        assert_eq!(ruled.ruling, Ruling::Cut(name(one), sample.bytes.len()));
        for other in rows {
            let two = [&sample.bytes[..], &tail, &tails::tail(other, &last.frame)].concat();
            sample.hold(&two);
        }
        for junk in [
            &b"\n"[..],
            b"\n\n\n",
            b"{}\n",
            b"junk",
            b"\x00",
            b"\x00\n",
            b"\xFF\xFE\n",
        ] {
            sample.hold(&[&sample.bytes[..], junk].concat());
            sample.hold(&[&sample.bytes[..], &tail, junk].concat());
            sample.hold(&[&sample.bytes[..], junk, &tail].concat());
        }
    }
}

#[test]
fn a_line_longer_than_any_record_is_judged_by_the_table() {
    let sample = sample(1024, Witness::None);
    for bytes in [1 << 20, 5 << 20] {
        let giant = vec![b'a'; bytes];
        sample.hold(&[&sample.bytes[..], &giant].concat());
        sample.hold(&[&sample.bytes[..], &giant, b"\n"].concat());
        sample.hold(&giant);
    }
}

#[test]
fn playing_a_sample_twice_writes_the_same_journal() {
    assert_eq!(
        sample(4096, Witness::None).bytes,
        sample(4096, Witness::None).bytes
    );
    assert_eq!(
        Play::new().run(&[], Temper::GiveUp).map(|e| e.to_string()),
        None
    );
}
