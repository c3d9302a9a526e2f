//! Many roles that stream at once.

use std::time::Duration;

use crate::pupil::{Pupil, Work};
use crate::run::{Bench, line};
use crate::server::{Manner, Server};

const ROLES: usize = 32;

/// Thirty-two roles, at a pace that is shared and at one that each of them has.
pub(crate) fn thirty_two(bench: &Bench) {
    let seconds = bench.either(24, 4);
    for (what, per_second) in [
        (
            "2,000 tokens a second for 32 roles together",
            2_000 / ROLES as u64,
        ),
        ("2,000 tokens a second for each of 32 roles", 2_000),
    ] {
        let time = Duration::from_secs(seconds);
        let server = Server::start(Manner::Streams { per_second, time });
        let root = bench.folder(&format!("streams-{per_second}"));
        let mut pupil = Pupil::start(&root, &server, Work::Fan(ROLES));
        pupil.go();
        let mut memory = Vec::new();
        for _ in 0..4 {
            std::thread::sleep(time / 5);
            memory.push(pupil.memory_kb());
        }
        let said = pupil.hear();
        let memory: Vec<String> = memory
            .iter()
            .map(|kb| format!("{:.0}", *kb as f64 / 1e3))
            .collect();
        line(
            &format!(
                "streaming {what} over {seconds} s: share of one processor, and memory over time"
            ),
            "no growth of memory with time",
            &format!(
                "{:.1} %; {} MB; {:.1} MB written",
                said["cpu"].as_f64().unwrap() * 100.0,
                memory.join(", "),
                said["bytes"].as_f64().unwrap() / 1e6
            ),
        );
    }
}
