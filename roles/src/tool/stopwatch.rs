//! How long something takes that a tool does. Nothing that is recorded has its time from here.

use std::time::{Duration, Instant};

/// Runs from when it was made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stopwatch(Instant);

impl Stopwatch {
    /// Begins now.
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    /// How long it has run.
    pub(super) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
