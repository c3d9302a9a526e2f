//! How often the operator asked us to end: Ctrl-C, or a signal that asks politely.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::process::Signal;
use signal_hook::consts::{SIGINT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;
use signal_hook::{flag, low_level};

use crate::operator_error::{Stop, from_io};

/// Makes a file at the system's size limit a reported error, like a full disk, instead of a signal that
/// kills this process.
pub(crate) fn outlive_the_limit_of_a_file() {
    // Without it the process ends at its first write beyond the limit, as it would have.
    let _heard = flag::register(Signal::XFSZ.as_raw(), Arc::default());
}

/// Counts the signals that ask this process to end.
#[derive(Debug, Clone)]
pub(crate) struct Interrupts {
    count: Arc<AtomicUsize>,
}

impl Interrupts {
    /// Listens from here on; the signals no longer end the process by themselves.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn listen() -> Result<Self, Stop> {
        let refused = |error: std::io::Error| from_io("listen for", "signals", &error);
        let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(refused)?;
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                for _ in signals.forever() {
                    counted.fetch_add(1, Ordering::SeqCst);
                }
            })
            .map_err(refused)?;
        Ok(Self { count })
    }

    /// Takes back those after the first so many, which were meant for another program.
    pub(crate) fn forget(&self, kept: usize) {
        self.count.store(kept, Ordering::SeqCst);
    }

    /// How many there were.
    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }
}

/// Ctrl-Z, where the terminal must be as it was before this process stops.
#[derive(Debug, Default)]
pub(crate) struct Suspension {
    asked: Arc<AtomicBool>,
    /// Whether it stops this process at once, because another program has the terminal.
    at_once: Arc<AtomicBool>,
}

impl Suspension {
    /// Listens from here on; the signal no longer stops the process by itself.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn listen() -> Result<Self, Stop> {
        let listens = Self::default();
        flag::register_conditional_default(SIGTSTP, Arc::clone(&listens.at_once))
            .and_then(|_| flag::register(SIGTSTP, Arc::clone(&listens.asked)))
            .map_err(|error| from_io("listen for", "signals", &error))?;
        Ok(listens)
    }

    /// Whether it was asked for since this was asked last.
    pub(crate) fn take(&self) -> bool {
        self.asked.swap(false, Ordering::SeqCst)
    }

    /// Lets it stop this process at once, or no longer.
    pub(crate) fn stop_at_once(&self, wanted: bool) {
        self.at_once.store(wanted, Ordering::SeqCst);
        self.take();
    }

    /// Stops this process until it is continued. A system that refuses lets it go on.
    pub(crate) fn stop() {
        let _stopped = low_level::emulate_default_handler(SIGTSTP);
    }
}
