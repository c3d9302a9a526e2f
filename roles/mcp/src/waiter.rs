//! Waiting for the SDK's tasks, which run on the one runtime of the process, from threads that may wait.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use a_society_base::runtime;
use a_society_base::stop::StopSignal;

/// Why something was not waited for to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CutShort {
    /// The turn was stopped.
    Stopped,
    /// The system gives no more threads, or the caller may not wait.
    NoRuntime,
}

/// Waits for the tasks of a set of servers.
#[derive(Debug, Default)]
pub(super) struct Waiter {
    /// Whether anything was ever waited for.
    has_waited: AtomicBool,
}

impl Waiter {
    /// Waits for some work until it is done or the turn is stopped. Work that is given up is
    /// dropped.
    pub(super) fn wait<T>(
        &self,
        stop: &StopSignal,
        work: impl Future<Output = T>,
    ) -> Result<T, CutShort> {
        // A call from within a runtime would block that runtime's other tasks, perhaps for ever.
        if Handle::try_current().is_ok() {
            return Err(CutShort::NoRuntime);
        }
        let runtime = runtime::shared().map_err(|_| CutShort::NoRuntime)?;
        self.has_waited.store(true, Ordering::SeqCst);
        let (tell, told) = oneshot::channel();
        stop.when_raised(move || {
            // The receiver is gone if the work is done.
            let _heard = tell.send(());
        });
        runtime.block_on(async {
            tokio::select! {
                biased;
                Ok(()) = told => Err(CutShort::Stopped),
                done = work => Ok(done),
            }
        })
    }

    /// Whether anything was ever waited for.
    pub(super) fn has_waited(&self) -> bool {
        self.has_waited.load(Ordering::SeqCst)
    }
}

/// Leaves a task to the runtime on which the present one runs.
pub(super) fn leave(task: impl Future<Output = ()> + Send + 'static) {
    if let Ok(runtime) = Handle::try_current() {
        drop(runtime.spawn(task));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_ends_a_wait_that_would_never_end() {
        let stop = StopSignal::default();
        let raiser = stop.clone();
        let wait = move || Waiter::default().wait(&stop, std::future::pending::<()>());
        let waiting = std::thread::spawn(wait);
        raiser.raise();
        assert_eq!(waiting.join().unwrap(), Err(CutShort::Stopped));
    }

    #[test]
    fn what_is_done_is_given_back_and_a_raised_stop_comes_first() {
        let (waiter, stop) = (Waiter::default(), StopSignal::default());
        assert_eq!(waiter.wait(&stop, async { 7 }), Ok(7));
        stop.raise();
        assert_eq!(waiter.wait(&stop, async { 7 }), Err(CutShort::Stopped));
    }

    #[test]
    fn waiting_within_a_runtime_is_refused() {
        let (waiter, stop) = (Waiter::default(), StopSignal::default());
        let within = waiter.wait(&stop, async {
            Waiter::default().wait(&StopSignal::default(), async { 7 })
        });
        assert_eq!(within, Ok(Err(CutShort::NoRuntime)));
    }
}
