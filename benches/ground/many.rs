//! Figures about many flows.

use a_society_state::index::rows;

use crate::run::{Bench, line, median, ms, timed};
use crate::support::{created, flow_ref, store};

/// The list of ten thousand flows, by the program itself and by the library.
pub(crate) fn ten_thousand_flows(bench: &Bench) {
    let root = bench.folder("list");
    let ours = root.join(".a-society");
    let store = store(&ours);
    let count = bench.either(10_000, 500);
    std::thread::scope(|scope| {
        for part in 0..8 {
            let store = &store;
            scope.spawn(move || {
                for number in (part..count).step_by(8) {
                    let title = format!("Flow number {number}");
                    store
                        .create(flow_ref(number).flow, created(&title))
                        .unwrap()
                        .close()
                        .unwrap();
                }
            });
        }
    });
    let list = || {
        let made = rows(&store, &store.census().unwrap().flows);
        assert_eq!(made.len(), count);
        assert!(
            made.iter()
                .all(|row| row.summary.is_some() && row.damage.is_none())
        );
    };
    let library = median((0..9).map(|_| timed(list).0).collect());
    let program = || {
        let out = std::process::Command::new(env!("CARGO_BIN_EXE_a-society"))
            .args(["ls", "--json"])
            .current_dir(&root)
            .output()
            .unwrap();
        assert!(
            out.status.success(),
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
    };
    let whole = median((0..9).map(|_| timed(program).0).collect());
    let measured = format!(
        "{:.0} ms ({:.0} ms of it reading rows)",
        ms(whole),
        ms(library)
    );
    line(
        &format!("`ls` over {count} flows, warm"),
        "≤ 200 ms",
        &measured,
    );
}
