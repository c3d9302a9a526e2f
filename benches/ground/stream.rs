//! Figures about streamed text.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use a_society_facts::At;
use a_society_facts::fact::turn::DraftKind;
use a_society_facts::id::TurnId;
use a_society_state::Flow;
use a_society_state::clock::{Clock, SystemClock};
use a_society_state::draft::DraftStream;

use crate::run::{Bench, line, timed};
use crate::support::{answer, ask, flow_in_a_turn, message, role, store, store_by};

const DELTA: &str = "twenty characters ok";

/// Ten megabytes in pieces of twenty characters, into an empty session and into one of ten
/// megabytes.
pub(crate) fn ten_megabytes(bench: &Bench) {
    let root = bench.folder("stream");
    let store = store(&root);
    let bytes = bench.either(10 << 20, 512 << 10);
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

/// How long the load below lasts, and how often the flow looks whether its views are due.
const LOAD: Duration = Duration::from_secs(5);
const EACH_TICK: usize = 20;

/// Views under load: a session that grows as fast as it can be appended to, with views that follow
/// and without.
pub(crate) fn views_under_load(bench: &Bench) {
    let root = bench.folder("views");
    let load = bench.either(LOAD, LOAD / 5);
    let own = Arc::new(OwnTime::default());
    let mut following = flow_in_a_turn(&store_by(&root, Arc::clone(&own) as Arc<dyn Clock>), 0);
    let store = store(&root);
    let mut alone = flow_in_a_turn(&store, 1);
    let (mut behind, mut with, mut without) = (0, 0, 0);
    // By turns, so that both meet the same noise. While the other one's turn is, no time passes for
    // the flow whose views are to take a small part of its time.
    for _ in 0..10 {
        own.go_on();
        with += append_for(load / 10, &mut following, with, |flow| {
            flow.tick();
            behind = behind.max(flow.views_behind_us());
        });
        own.stand_still();
        without += append_for(load / 10, &mut alone, without, |_| {});
    }
    let cost = 1.0 - with as f64 / without as f64;
    line(
        "what views that follow cost a flow under load",
        "under 5 % of the time",
        &format!("{:.1} % ({with} facts against {without})", cost * 100.0),
    );
    drop((following, alone));
    Bench::settle();
    let small = steady(&store, load);
    line(
        "the oldest change that a view on disk lacks, in a session of ordinary size",
        "≤ 250 ms",
        &format!(
            "{:.0} ms at the most ({:.0} ms in the session under full load)",
            small as f64 / 1000.0,
            behind as f64 / 1000.0,
        ),
    );
}

/// A clock that can be stopped.
#[derive(Debug, Default)]
struct OwnTime {
    system: SystemClock,
    /// When it was stopped, if it is stopped, and for how long it was stopped before.
    stood: Mutex<(Option<u64>, u64)>,
}

impl OwnTime {
    fn stand_still(&self) {
        let now = self.system.elapsed_us();
        self.stood.lock().unwrap().0.get_or_insert(now);
    }

    fn go_on(&self) {
        let mut stood = self.stood.lock().unwrap();
        if let Some(since) = stood.0.take() {
            stood.1 += self.system.elapsed_us() - since;
        }
    }
}

impl Clock for OwnTime {
    fn now(&self) -> At {
        self.system.now()
    }

    fn elapsed_us(&self) -> u64 {
        let stood = self.stood.lock().unwrap();
        let now = stood.0.unwrap_or_else(|| self.system.elapsed_us());
        now - stood.1
    }
}

fn append_for(
    time: Duration,
    flow: &mut Flow,
    from: usize,
    mut look: impl FnMut(&mut Flow),
) -> usize {
    let started = std::time::Instant::now();
    let mut number = from;
    while started.elapsed() < time {
        for _ in 0..EACH_TICK {
            number += 1;
            flow.append(message(number, 300)).unwrap();
        }
        look(flow);
    }
    number - from
}

/// A flow in which something happens every few milliseconds, looked after as a driver does.
fn steady(store: &a_society_state::Store, time: Duration) -> u64 {
    let mut flow = flow_in_a_turn(store, 2);
    let started = std::time::Instant::now();
    let (mut number, mut behind) = (0, 0);
    while started.elapsed() < time {
        number += 1;
        flow.append(message(number, 300)).unwrap();
        std::thread::sleep(Duration::from_millis(10));
        behind = behind.max(flow.views_behind_us());
        flow.tick();
    }
    behind
}
