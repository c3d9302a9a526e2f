//! What the ground costs: appends, syncs, streams, opens, listings.
//!
//! Every figure is a ratio or a rate taken within one run, because machines are shared and noisy.
//! `cargo bench --bench ground` runs all of them and prints one table; a name as an argument runs
//! only the figures whose name holds it, and `--quick` makes everything smaller.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a figure that cannot be taken ends the run, and the table is the output"
)]

mod append;
mod many;
mod open;
mod stream;
mod support;

use support::{Bench, child};

/// A figure by its name.
type Figure = (&'static str, fn(&Bench));

fn main() {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    if child::asked(&words) {
        return;
    }
    let bench = Bench::new(&words);
    let figures: [Figure; 9] = [
        ("append-sync", append::with_sync),
        ("append-unsynced", append::without_sync),
        ("append-grown", append::in_a_long_flow),
        ("group-commit", append::many_flows),
        ("stream", stream::ten_megabytes),
        ("views", stream::views_under_load),
        ("open", open::a_whole_journal),
        ("screen", open::the_last_screen),
        ("list", many::ten_thousand_flows),
    ];
    println!("| figure | wanted | measured |\n| --- | --- | --- |");
    for (name, figure) in figures {
        if bench.wants(name) {
            Bench::settle();
            figure(&bench);
        }
    }
}
