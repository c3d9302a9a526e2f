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
#[path = "../shared/run.rs"]
mod run;
mod stream;
mod support;

use support::child;

fn main() {
    let words = run::words();
    if child::asked(&words) {
        return;
    }
    let figures: [run::Figure; 9] = [
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
    run::take(&words, &figures);
}
