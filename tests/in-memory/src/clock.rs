//! A clock that a test moves.

use std::sync::atomic::{AtomicI64, Ordering};

use a_society_facts::At;
use a_society_state::clock::Clock;

/// A clock that moves only when a test or the simulator moves it.
#[derive(Debug)]
pub struct ManualClock {
    ms: AtomicI64,
}

impl ManualClock {
    /// Begins at a moment.
    #[must_use]
    pub const fn from(at: At) -> Self {
        Self {
            ms: AtomicI64::new(at.ms()),
        }
    }

    /// Lets time pass.
    pub fn advance_ms(&self, ms: i64) {
        self.ms.fetch_add(ms, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> At {
        At::from_ms(self.ms.load(Ordering::Relaxed))
    }

    fn elapsed_us(&self) -> u64 {
        u64::try_from(self.ms.load(Ordering::Relaxed))
            .unwrap_or(0)
            .saturating_mul(1000)
    }
}
