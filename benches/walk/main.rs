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
mod start;
mod support;
mod wide;

use support::Bench;

/// A figure by its name.
type Figure = (&'static str, fn(&Bench));

fn main() {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let bench = Bench::new(&words);
    let figures: [Figure; 5] = [
        ("linear", linear::a_thousand_nodes),
        ("fan-out", wide::one_to_many_to_one),
        ("decide", decide::ten_thousand_nodes),
        ("restart", restart::a_thousand_unfinished),
        ("start", start::the_program),
    ];
    println!("| figure | wanted | measured |\n| --- | --- | --- |");
    for (name, figure) in figures {
        if bench.wants(name) {
            Bench::settle();
            figure(&bench);
        }
    }
}
