//! How soon a server answers after its start, and what it takes to be there.

use std::process::Command;

use crate::run::{Bench, line, median, ms, timed};
use crate::served::Served;

const TIMES: usize = 21;

/// A server in an empty workspace.
pub(crate) fn answers(bench: &Bench) {
    let root = bench.folder("start");
    let (mut answered, mut memory, mut nothing) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TIMES {
        let served = Served::start(&root);
        answered.push(ms(served.answered));
        memory.push(served.memory_mb("VmRSS"));
        let (time, status) = timed(|| Command::new("/bin/true").status().unwrap());
        assert!(status.success());
        nothing.push(ms(time));
    }
    line(
        "`serve`: from its start to its first answer",
        "at most 20 ms",
        &format!(
            "{:.1} ms (`/bin/true`: {:.1} ms)",
            median(answered),
            median(nothing)
        ),
    );
    line(
        "the same: memory",
        "at most 20 MB",
        &format!("{:.1} MB", median(memory)),
    );
}
