//! Many unfinished flows after the process that drove them is gone.

use std::time::Duration;

use a_society_orchestrator::driver::task::drive;
use a_society_orchestrator::mint::SystemMint;
use a_society_orchestrator::run::reopen;
use a_society_state::index::rows;

use crate::flows::{SPOKEN_BYTES, begun, chain, plain_store, until};
use crate::run::{Bench, line, median, ms, timed};

/// A thousand flows, cut off in their first turns: until all are listed and the first one runs.
pub(crate) fn a_thousand_unfinished(bench: &Bench) {
    let count = bench.either(1000, 100);
    let root = bench.folder("restart");
    let source = chain(10);
    std::thread::scope(|scope| {
        for part in 0..8 {
            let (root, source) = (&root, &source);
            scope.spawn(move || {
                let store = plain_store(root);
                for _ in (part..count).step_by(8) {
                    let mut core = begun(&store, root, source, SPOKEN_BYTES);
                    let starts = core.advance().unwrap();
                    assert_eq!(starts.len(), 1);
                    // Nothing is closed: this is where the process dies.
                    drop(core);
                }
            });
        }
    });
    Bench::settle();
    let (mut listing, mut whole) = (Vec::new(), Vec::new());
    for round in 0..5 {
        let store = plain_store(&root);
        let (time, (listed, core)) = timed(|| {
            let (listed, flows) = timed(|| {
                let flows = store.census().unwrap().flows;
                let made = rows(&store, &flows);
                assert_eq!(made.len(), count);
                let unfinished = |row: &a_society_state::index::Row| {
                    row.damage.is_none() && row.summary.as_ref().is_some_and(|row| !row.is_over())
                };
                assert!(made.iter().all(unfinished));
                flows
            });
            let first = reopen(&store, &flows[round], root.clone(), Box::new(SystemMint));
            let (mut core, _) = first.unwrap();
            assert_eq!(core.advance().unwrap().len(), 1);
            (listed, core)
        });
        listing.push(ms(listed));
        whole.push(ms(time));
        drop(core);
    }
    line(
        &format!("{count} unfinished flows after a restart: all are listed and the first runs"),
        "≤ 1 s",
        &format!(
            "{:.0} ms ({:.0} ms of it listing)",
            median(whole),
            median(listing)
        ),
    );
    every_one_goes_on(&root, count);
}

/// That they are resumable is shown with a few of them, to the end.
fn every_one_goes_on(root: &std::path::Path, count: usize) {
    let store = plain_store(root);
    let flows = store.census().unwrap().flows;
    for flow in flows.iter().step_by(count / 5) {
        let (core, _) = reopen(&store, flow, root.to_owned(), Box::new(SystemMint)).unwrap();
        let driven = drive(core, None).unwrap();
        until(&driven.handle, |seen| {
            seen.live == 0 && !seen.pending.is_empty()
        });
        driven.handle.drain();
        driven.task.join().unwrap().unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
}
