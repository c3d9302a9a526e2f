//! What time it is, asked in one place.
//!
//! The hearts never read a clock. The code that stamps facts holds a [`Clock`], so that a test or the
//! simulator can replace the machine's.

use std::fmt::Debug;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use a_society_facts::At;

/// Tells the time.
pub trait Clock: Debug + Send + Sync {
    /// The moment, for people. It may jump; no decision rests on it.
    fn now(&self) -> At;
    /// Microseconds since some beginning, which never run backwards.
    fn elapsed_us(&self) -> u64;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    started: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self {
            started: Instant::now(),
        }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> At {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        At::from_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn elapsed_us(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

/// A clock that advances by one millisecond each time it is asked, for tests and the simulator.
#[derive(Debug)]
pub struct CountingClock {
    ms: AtomicI64,
}

impl CountingClock {
    /// Begins at a moment.
    #[must_use]
    pub const fn from(at: At) -> Self {
        Self {
            ms: AtomicI64::new(at.ms()),
        }
    }
}

impl Clock for CountingClock {
    fn now(&self) -> At {
        At::from_ms(self.ms.fetch_add(1, Ordering::Relaxed))
    }

    fn elapsed_us(&self) -> u64 {
        u64::try_from(self.ms.fetch_add(1, Ordering::Relaxed))
            .unwrap_or(0)
            .saturating_mul(1000)
    }
}
