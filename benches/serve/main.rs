//! What the operator's page costs its server: many who watch one flow, replays of a long feed, the
//! start, and sockets that rest.
//!
//! The server is the real program in a process of its own; the load comes from this one, which is the
//! model, too. `cargo bench --bench serve` runs all figures and prints one table; a name as an
//! argument runs only the figures whose name holds it, and `--quick` makes everything smaller.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a figure that cannot be taken ends the run, and the table is the output"
)]

mod client;
mod feed;
#[path = "../ground/support.rs"]
#[expect(dead_code, reason = "it has more than is needed here")]
mod ground;
mod idle;
mod model;
mod replay;
#[path = "../shared/run.rs"]
mod run;
mod served;
mod start;
mod terminal;
mod watchers;

fn main() {
    let figures: [run::Figure; 7] = [
        ("start", start::answers),
        ("idle", idle::sockets),
        ("replay", replay::whole_feed),
        ("reconnect", replay::since),
        ("watchers", watchers::hundred),
        ("beside", watchers::beside),
        ("terminal", terminal::streams),
    ];
    run::take(&run::words(), &figures);
}
