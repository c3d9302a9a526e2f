//! How often the operator asked us to end: Ctrl-C, or a signal that asks politely.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;
use signal_hook::consts::{SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::iterator::Signals;
use signal_hook::{flag, low_level};

use crate::operator_error::{Stop, from_io};

/// Makes a file at the system's size limit a reported error, like a full disk, instead of a signal that
/// kills this process.
pub(crate) fn outlive_the_limit_of_a_file() {
    // Without it the process ends at its first write beyond the limit, as it would have.
    let _heard = flag::register(Signal::XFSZ.as_raw(), Arc::default());
}

/// Ends a wait in another thread. It returns whether that may wait again.
pub(crate) type Waker = Box<dyn Fn() -> bool + Send>;

/// Counts the signals that ask this process to end.
#[derive(Clone)]
pub(crate) struct Interrupts {
    count: Arc<AtomicUsize>,
    /// Can be read from when a signal came since it was read last.
    bell: Arc<PipeReader>,
    /// What ends the waits of those that wait for something else as well.
    wakers: Arc<Mutex<Vec<Waker>>>,
}

impl Interrupts {
    /// Listens from here on; the signals no longer end the process by themselves.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn listen() -> Result<Self, Stop> {
        let refused = |error: io::Error| from_io("listen for", "signals", &error);
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGWINCH]).map_err(refused)?;
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let (bell, mut rings) = quiet_pipe().map_err(refused)?;
        let wakers: Arc<Mutex<Vec<Waker>>> = Arc::default();
        let waiting = Arc::clone(&wakers);
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                for signal in signals.forever() {
                    // A terminal that has another size only ends the wait.
                    if signal != SIGWINCH {
                        counted.fetch_add(1, Ordering::SeqCst);
                    }
                    // A full pipe can be read from already.
                    let _rung = rings.write(&[0]);
                    let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
                    waiting.retain(|wake| wake());
                }
            })
            .map_err(refused)?;
        Ok(Self {
            count,
            bell: Arc::new(bell),
            wakers,
        })
    }

    /// Ends other waits, too, whenever a signal comes.
    pub(crate) fn wakes(&self, waker: impl Fn() -> bool + Send + 'static) {
        let mut wakers = self.wakers.lock().unwrap_or_else(PoisonError::into_inner);
        wakers.push(Box::new(waker));
    }

    /// Waits for a signal, or until one of others can be read from, but no longer than this.
    pub(crate) fn wait_beside<'a>(
        &'a self,
        others: impl IntoIterator<Item = BorrowedFd<'a>>,
        longest: Duration,
    ) {
        let own = self.bell.as_fd();
        let ends = std::iter::once(own).chain(others);
        let mut ends: Vec<PollFd<'_>> = ends
            .map(|end| PollFd::from_borrowed_fd(end, PollFlags::IN))
            .collect();
        wait_for(&mut ends, longest);
        let mut rung = [0; 64];
        while matches!((&*self.bell).read(&mut rung), Ok(1..)) {}
    }

    /// Waits for a signal, but no longer than this.
    pub(crate) fn wait(&self, longest: Duration) {
        self.wait_beside(None, longest);
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

/// Waits until one of these can be read from, but no longer than this. A wait that is interrupted ends sooner.
pub(super) fn wait_for(ends: &mut [PollFd<'_>], longest: Duration) {
    let longest = Timespec {
        tv_sec: i64::try_from(longest.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(longest.subsec_nanos()),
    };
    let _waited = poll(ends, Some(&longest));
}

/// A pipe whose ends never wait.
fn quiet_pipe() -> io::Result<(PipeReader, PipeWriter)> {
    let (reads, writes) = io::pipe()?;
    rustix::io::ioctl_fionbio(&reads, true)?;
    rustix::io::ioctl_fionbio(&writes, true)?;
    Ok((reads, writes))
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
