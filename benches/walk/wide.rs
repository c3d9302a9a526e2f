//! One node, many beside one another, and one again.

use crate::counted::bare;
use crate::flows::{SPOKEN_BYTES, fan, walk};
use crate::run::{Bench, line, median, ms};

/// From one node to two hundred and to one.
pub(crate) fn one_to_many_to_one(bench: &Bench) {
    let (count, rounds) = (200, bench.either(7, 3));
    let (mut times, mut syncs, mut bares) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        let root = bench.folder(&format!("fan-{round}"));
        let walked = walk(&root, &fan(count), SPOKEN_BYTES);
        bares.push(ms(bare(&root, &walked.counts.syncs)));
        times.push(ms(walked.time));
        syncs.push(walked.counts.syncs.len());
    }
    line(
        &format!("1 → {count} → 1"),
        "≤ 250 ms",
        &format!(
            "{:.0} ms ({:.0} ms of it as many bare syncs)",
            median(times),
            median(bares)
        ),
    );
    line(
        "the same: syncs, for three a node",
        "shared by turns that wait together",
        &format!("{} for {}", median(syncs), 3 * (count + 2)),
    );
}
