//! Figures about streamed text.

use std::time::Duration;

use a_society_facts::fact::turn::DraftKind;
use a_society_facts::id::TurnId;
use a_society_state::Flow;
use a_society_state::draft::DraftStream;

use crate::support::{Bench, answer, ask, flow_in_a_turn, line, message, role, store, timed};

const DELTA: &str = "twenty characters ok";

/// Ten megabytes in pieces of twenty characters, into an empty session and into one of ten
/// megabytes.
pub(crate) fn ten_megabytes(bench: &Bench) {
    let root = bench.folder("stream");
    let store = store(&root);
    let bytes = bench.count(10 * 1024 * 1024);
    let mut empty = flow_in_a_turn(&store, 0);
    let mut full = flow_in_a_turn(&store, 1);
    for number in 0..bytes / 10_240 {
        full.append(message(number + 1, 10_240)).unwrap();
    }
    full.rest().unwrap();
    let before = written(&full);
    let into_empty = stream(&mut empty, bytes);
    let into_full = stream(&mut full, bytes);
    let moving = written(&full) - before;
    full.rest().unwrap();
    let resting = written(&full) - before - moving;
    let share = |bytes_written: u64| bytes_written as f64 / bytes as f64;
    line(
        "bytes written while 10 MB of text stream into a session of 10 MB, against the text",
        "≤ 3×",
        &format!(
            "{:.2}× while it streams; the views of the flow at rest add {:.2}×",
            share(moving),
            share(resting)
        ),
    );
    let deltas = u32::try_from(bytes / DELTA.len()).unwrap();
    let ratio = into_full.as_secs_f64() / into_empty.as_secs_f64();
    line(
        "time for a delta in a session of 10 MB, against an empty one",
        "independent of the size",
        &format!(
            "{ratio:.2}× ({:.2?} against {:.2?})",
            into_full / deltas,
            into_empty / deltas
        ),
    );
}

fn written(flow: &Flow) -> u64 {
    let (journal, views) = flow.written_bytes();
    journal + views
}

fn stream(flow: &mut Flow, bytes: usize) -> Duration {
    let work = || {
        ask(flow, 1);
        let mut draft = DraftStream::new(TurnId(1), role(), 1, DraftKind::Text);
        for _ in 0..bytes / DELTA.len() {
            draft.push(flow, DELTA).unwrap();
            flow.tick();
        }
        answer(flow, 1, draft);
        flow.sync().unwrap();
    };
    timed(work).0
}
