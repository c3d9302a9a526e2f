//! What the server counts, as Prometheus reads it.

use std::sync::atomic::Ordering;

use super::app::App;

pub(super) fn text(app: &App) -> String {
    let counts = &app.hubs.counts;
    let lines = [
        (
            "sockets",
            "gauge",
            "Sockets that are open.",
            counts.sockets.load(Ordering::Relaxed),
        ),
        (
            "hubs",
            "gauge",
            "Flows that a client follows.",
            app.hubs.len() as u64,
        ),
        (
            "driven_flows",
            "gauge",
            "Flows that this process drives.",
            app.hubs.driven().len() as u64,
        ),
        (
            "facts_total",
            "counter",
            "Facts that hubs folded.",
            counts.facts.load(Ordering::Relaxed),
        ),
        (
            "batches_total",
            "counter",
            "Batches that hubs published.",
            counts.batches.load(Ordering::Relaxed),
        ),
        (
            "frames_total",
            "counter",
            "Frames that were sent.",
            counts.frames.load(Ordering::Relaxed),
        ),
        (
            "sent_bytes_total",
            "counter",
            "Bytes of frames that were sent.",
            counts.bytes.load(Ordering::Relaxed),
        ),
        (
            "commands_total",
            "counter",
            "Commands that were heard.",
            counts.commands.load(Ordering::Relaxed),
        ),
    ];
    let lines = lines.map(|(name, kind, help, value)| {
        format!("# HELP a_society_{name} {help}\n# TYPE a_society_{name} {kind}\na_society_{name} {value}\n")
    });
    lines.concat()
}
