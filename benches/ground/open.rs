//! Figures about opening what is there.

use a_society_facts::fact::turn::DraftKind;
use a_society_facts::id::TurnId;
use a_society_state::draft::DraftStream;
use a_society_state::{Flow, Store};

use crate::run::{Bench, line, timed};
use crate::support::{answer, ask, child, flow_in_a_turn, flow_ref, message, role, store};

/// A flow with a journal of about so many bytes: messages long and short, and streamed text.
fn grow(store: &Store, bytes: u64) {
    let mut flow = flow_in_a_turn(store, 0);
    let (mut number, mut request) = (0, 0);
    while flow.written_bytes().0 < bytes {
        for size in [200, 700, 3000, 200, 700, 3000] {
            flow.append(message(number, size)).unwrap();
            number += 1;
        }
        request += 1;
        ask(&mut flow, request);
        let mut draft = DraftStream::new(TurnId(1), role(), request, DraftKind::Text);
        for _ in 0..4 {
            draft
                .push(
                    &mut flow,
                    &"a streamed sentence, of some length. ".repeat(30),
                )
                .unwrap();
        }
        answer(&mut flow, request, draft);
        if request % 500 == 0 {
            flow.sync().unwrap();
        }
    }
    close(flow);
}

fn close(flow: Flow) {
    flow.close().unwrap();
}

/// A journal of 100 MB, opened for writing: every record checked and folded.
pub(crate) fn a_whole_journal(bench: &Bench) {
    let root = bench.folder("open");
    let store = store(&root);
    grow(&store, bench.either(100 << 20, 5 << 20) as u64);
    let mut rates = Vec::new();
    let mut records = 0;
    for _ in 0..5 {
        let (time, (flow, report)) = timed(|| store.open(&flow_ref(0)).unwrap());
        rates.push(report.bytes as f64 / time.as_secs_f64() / 1e6);
        records = report.records;
        drop(flow);
    }
    rates.sort_by(f64::total_cmp);
    let measured = format!("{:.0} MB/s ({records} records)", rates[rates.len() / 2]);
    line(
        "open of a journal of 100 MB, everything checked and folded",
        "≥ 200 MB/s",
        &measured,
    );
}

/// The last screen of a journal of 1 GB, in a process of its own.
pub(crate) fn the_last_screen(bench: &Bench) {
    let root = bench.folder("screen");
    grow(&store(&root), bench.either(1 << 30, 50 << 20) as u64);
    let mut looks: Vec<_> = (0..9).map(|_| child::look(&root)).collect();
    looks.sort_unstable();
    let (micros, kilobytes, from_checkpoint, folded) = looks[looks.len() / 2];
    let measured = format!(
        "{:.1} ms, {:.0} MB at the most (checkpoint used: {from_checkpoint}, {folded} records folded)",
        micros as f64 / 1000.0,
        kilobytes as f64 / 1024.0,
    );
    line(
        "last screen of a journal of 1 GB",
        "≤ 100 ms, ≤ 100 MB",
        &measured,
    );
}
