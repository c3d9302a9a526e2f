//! A long flow, one node after the other.

use std::time::Duration;

use crate::counted::bare;
use crate::flows::{SPOKEN_BYTES, Walked, chain, walk};
use crate::run::{Bench, line, median, ms};

const SHORT: usize = 10;

struct Taken {
    walked: Walked,
    bare: Duration,
}

impl Taken {
    /// What each node took beyond the syncs it needed, in milliseconds.
    fn beyond(&self, nodes: usize) -> f64 {
        (ms(self.walked.time) - ms(self.bare)) / nodes as f64
    }
}

fn take(bench: &Bench, name: &str, nodes: usize, spoken: usize) -> Taken {
    let root = bench.folder(name);
    let walked = walk(&root, &chain(nodes), spoken);
    let bare = bare(&root, &walked.counts.syncs);
    Taken { walked, bare }
}

/// A thousand nodes, against the same syncs alone and against ten nodes.
pub(crate) fn a_thousand_nodes(bench: &Bench) {
    let (long, rounds) = bench.either((1000, 5), (200, 3));
    let (mut longs, mut shorts) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        for number in 0..8 {
            shorts.push(take(
                bench,
                &format!("short-{round}-{number}"),
                SHORT,
                SPOKEN_BYTES,
            ));
        }
        longs.push(take(bench, &format!("long-{round}"), long, SPOKEN_BYTES));
    }
    let per = |value: u64| value as f64 / long as f64;
    let syncs = median(longs.iter().map(|t| t.walked.counts.syncs.len()).collect());
    let of_one = |taken: &Taken| ms(taken.walked.time) / long as f64;
    line(
        &format!("a chain of {long} nodes: syncs a node"),
        "≤ 3",
        &format!("{:.2}", per(syncs as u64)),
    );
    let beyond = median(longs.iter().map(|t| t.beyond(long)).collect());
    let bares = median(longs.iter().map(|t| ms(t.bare) / long as f64).collect());
    let inside = longs
        .iter()
        .map(|t| ms(t.walked.counts.syncing) / long as f64);
    line(
        "the same: time a node beyond those syncs, measured bare",
        "≤ 1 ms",
        &format!(
            "{beyond:.3} ms ({:.3} ms in all, {bares:.3} ms of bare syncs; its own took {:.3} ms)",
            median(longs.iter().map(of_one).collect()),
            median(inside.collect()),
        ),
    );
    let short = median(shorts.iter().map(|t| t.beyond(SHORT)).collect());
    line(
        &format!("the same, against a chain of {SHORT}"),
        "≤ 1.2×",
        &format!(
            "{:.2}× ({beyond:.3} ms against {short:.3} ms)",
            beyond / short
        ),
    );
    let bytes = median(longs.iter().map(|t| t.walked.bytes()).collect());
    let said = median(longs.iter().map(|t| t.walked.said).collect());
    line(
        "bytes written a node, into files of every kind, against what the node said",
        "≤ 4×",
        &format!(
            "{:.2}× ({:.0} against {:.0})",
            bytes as f64 / said as f64,
            per(bytes),
            per(said)
        ),
    );
    where_they_went(&longs[0].walked, long);
    let more = take(bench, "more", long, 3 * SPOKEN_BYTES).walked;
    line(
        "the same, when each node says three times as much",
        "≤ 4×",
        &format!(
            "{:.2}× ({:.0} against {:.0})",
            more.bytes() as f64 / more.said as f64,
            per(more.bytes()),
            per(more.said)
        ),
    );
}

/// What each kind of file and of fact takes of the bytes that were written, the largest first.
fn where_they_went(walked: &Walked, nodes: usize) {
    let files = walked
        .written
        .iter()
        .map(|(what, bytes)| ((*what).to_owned(), *bytes));
    let facts = walked.facts.iter().map(|(word, n)| (word.clone(), *n));
    for (figure, mut parts) in [
        ("the same: bytes a node by file", files.collect::<Vec<_>>()),
        (
            "the same: bytes a node by fact, in the journal",
            facts.collect(),
        ),
    ] {
        parts.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        let shown: Vec<String> = parts
            .iter()
            .map(|(what, bytes)| format!("{what} {}", bytes / nodes as u64))
            .collect();
        line(figure, "", &shown.join(", "));
    }
}
