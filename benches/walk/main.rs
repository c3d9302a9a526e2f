//! What a walk costs: long flows, wide ones, large graphs, restarts, and starting the program.
//!
//! Every figure is taken beside what it is compared with, by turns and within one run, because
//! machines are shared and noisy. `cargo bench --bench walk` runs all of them and prints one table;
//! a name as an argument runs only the figures whose name holds it, and `--quick` makes everything
//! smaller.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a figure that cannot be taken ends the run, and the table is the output"
)]

mod counted;
mod decide;
mod flows;
mod linear;
mod restart;
#[path = "../shared/run.rs"]
mod run;
mod start;
mod wide;

fn main() {
    let words = run::words();
    let figures: [run::Figure; 5] = [
        ("linear", linear::a_thousand_nodes),
        ("fan-out", wide::one_to_many_to_one),
        ("decide", decide::ten_thousand_nodes),
        ("restart", restart::a_thousand_unfinished),
        ("start", start::the_program),
    ];
    run::take(&words, &figures);
}
