//! What turns of models cost: a turn over HTTP, a long session, many streams at once, and what is
//! left on the disk.
//!
//! The models are a server on loopback in this process; the runtime is a process of its
//! own, so that time, memory and processor can be measured apart. `cargo bench --bench roles` runs all
//! figures and prints one table; a name as an argument runs only the figures whose name holds it,
//! and `--quick` makes everything smaller.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a figure that cannot be taken ends the run, and the table is the output"
)]

#[path = "../walk/counted.rs"]
mod counted;
mod flow;
mod pupil;
#[path = "../shared/run.rs"]
mod run;
mod server;
mod session;
mod streams;
mod turns;

fn main() {
    let words = run::words();
    if pupil::asked(&words) {
        return;
    }
    let figures: [run::Figure; 6] = [
        ("turn", turns::a_turn),
        ("processor", turns::processor),
        ("fan-out", turns::fan_out),
        ("chain", turns::chain),
        ("streams", streams::thirty_two),
        ("disk", turns::two_hundred_turns),
    ];
    run::take(&words, &figures);
}
