//! Figures about appending.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::time::Duration;

use crate::run::{Bench, line, median, timed};
use crate::support::{flow_in_a_turn, message, store};

/// A fact of a kilobyte with a sync, against the bare write and sync of as many bytes.
pub(crate) fn with_sync(bench: &Bench) {
    let root = bench.folder("append-sync");
    let mut flow = flow_in_a_turn(&store(&root), 0);
    let mut bare = OpenOptions::new()
        .create(true)
        .append(true)
        .open(flow.folder().journal().join("bare"))
        .unwrap();
    let mut line_bytes = Vec::new();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for number in 0..bench.either(4000, 200) {
        let fact = message(number, 850);
        line_bytes.clear();
        let at = crate::support::moment();
        a_society_facts::line::write(&mut line_bytes, 1, at, 1, 1, &fact).unwrap();
        // One of each, by turns, so that both meet the same noise.
        theirs.push(bare_append(&mut bare, &line_bytes));
        ours.push(timed(|| flow.append_durably(fact).unwrap()).0);
    }
    let (ours, theirs) = (median(ours), median(theirs));
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    let measured = format!("{ratio:.2}× ({ours:.0?} against {theirs:.0?})");
    line(
        "append of 1 KB with sync, against a bare write + fdatasync",
        "≤ 1.15×",
        &measured,
    );
}

fn bare_append(file: &mut File, bytes: &[u8]) -> Duration {
    let work = || {
        file.write_all(bytes).unwrap();
        file.sync_data().unwrap();
    };
    timed(work).0
}

/// A fact of a kilobyte without a sync.
pub(crate) fn without_sync(bench: &Bench) {
    let root = bench.folder("append-unsynced");
    let mut flow = flow_in_a_turn(&store(&root), 0);
    let mut times = Vec::new();
    for number in 0..bench.either(100_000, 5000) {
        let fact = message(number, 850);
        times.push(timed(|| flow.append(fact).unwrap()).0);
    }
    let total: Duration = times.iter().sum();
    let mean = total / u32::try_from(times.len()).unwrap();
    let measured = format!("{:.1?} median, {mean:.1?} mean", median(times));
    line(
        "append of 1 KB without sync, checks, checksum and fold included",
        "≤ 15 µs",
        &measured,
    );
}

const BLOCK: usize = 2000;

/// What a fact costs in a flow of a hundred facts and in one of a million.
pub(crate) fn in_a_long_flow(bench: &Bench) {
    let root = bench.folder("append-grown");
    let store = store(&root);
    let mut long = flow_in_a_turn(&store, 0);
    let facts = bench.either(1_000_000, 50_000);
    for number in 0..facts {
        long.append(message(number, 200)).unwrap();
    }
    let (mut in_short, mut in_long) = (Vec::new(), Vec::new());
    for block in 0..25 {
        let mut short = flow_in_a_turn(&store, block + 1);
        for number in 0..100 {
            short.append(message(number, 200)).unwrap();
        }
        in_short.push(block_of(&mut short, block));
        in_long.push(block_of(&mut long, facts + block));
    }
    let (short, long) = (median(in_short), median(in_long));
    let ratio = long.as_secs_f64() / short.as_secs_f64();
    let each = |time: Duration| time / u32::try_from(BLOCK).unwrap();
    let measured = format!(
        "{ratio:.2}× ({:.2?} against {:.2?})",
        each(long),
        each(short)
    );
    let figure = format!("cost of a fact in a flow of {facts} facts, against one of 100");
    line(&figure, "0.90–1.10×", &measured);
}

fn block_of(flow: &mut a_society_state::Flow, block: usize) -> Duration {
    let facts: Vec<_> = (0..BLOCK)
        .map(|n| message(10_000_000 + block * BLOCK + n, 200))
        .collect();
    let work = || {
        for fact in facts {
            flow.append(fact).unwrap();
        }
    };
    timed(work).0
}

/// Sixty-four flows that append with a sync, against one.
pub(crate) fn many_flows(bench: &Bench) {
    let root = bench.folder("group-commit");
    let store = store(&root);
    let mut flows: Vec<_> = (0..64)
        .map(|number| flow_in_a_turn(&store, number))
        .collect();
    let each = bench.either(2000, 100);
    let mut ratios = Vec::new();
    let (mut one_rate, mut all_rate) = (0.0, 0.0);
    for round in 0..5 {
        let (one, ()) = timed(|| append_synced(&mut flows[0], round, each));
        let (all, ()) = timed(|| {
            std::thread::scope(|scope| {
                for flow in &mut flows {
                    scope.spawn(move || append_synced(flow, round + 100, each));
                }
            });
        });
        one_rate = each as f64 / one.as_secs_f64();
        all_rate = (64 * each) as f64 / all.as_secs_f64();
        ratios.push(all_rate / one_rate);
    }
    ratios.sort_by(f64::total_cmp);
    let measured = format!(
        "{:.1}× ({all_rate:.0} facts/s against {one_rate:.0})",
        ratios[ratios.len() / 2]
    );
    line(
        "64 flows appending with sync, against one",
        "≥ 10×",
        &measured,
    );
}

fn append_synced(flow: &mut a_society_state::Flow, round: usize, count: usize) {
    for number in 0..count {
        flow.append_durably(message(round * 1_000_000 + number, 300))
            .unwrap();
    }
}
