//! Threads that the system may refuse. Whatever needs one says so in words, and ends what it began.

use std::io;
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

/// The system gave no thread.
#[derive(Debug, thiserror::Error)]
#[error("the system gave no thread: {0}")]
pub struct NoThread(io::Error);

/// Begins a thread of this name.
///
/// # Errors
/// When the system gives none; then `work` is dropped.
pub fn begin<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, NoThread> {
    refused()?;
    let begun = Builder::new().name(name.to_owned()).spawn(work);
    begun.map_err(NoThread)
}

/// Begins a thread that ends with its scope.
///
/// # Errors
/// As [`begin`].
pub fn begin_within<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, NoThread> {
    refused()?;
    let begun = Builder::new().name(name.to_owned());
    begun.spawn_scoped(scope, work).map_err(NoThread)
}

/// Whether the system can start a thread at present. Libraries that start threads and panic on failure
/// are called only after this.
///
/// # Errors
/// When it gives none.
pub(crate) fn is_to_be_had() -> Result<(), NoThread> {
    let thread = begin("probe", || ())?;
    // A thread that does nothing does not panic.
    drop(thread.join());
    Ok(())
}

#[cfg(not(test))]
#[expect(
    clippy::unnecessary_wraps,
    reason = "in tests a system without threads is played"
)]
const fn refused() -> Result<(), NoThread> {
    Ok(())
}

#[cfg(test)]
pub(crate) use played::{refused, with_threads};

/// A system with few threads, for those that are begun by the thread that plays it.
#[cfg(test)]
mod played {
    use std::cell::Cell;
    use std::io;

    use super::NoThread;

    thread_local! {
        static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
    }

    pub(crate) fn refused() -> Result<(), NoThread> {
        match LEFT.get() {
            None => Ok(()),
            Some(0) => Err(NoThread(io::Error::from_raw_os_error(11))),
            Some(left) => {
                LEFT.set(Some(left - 1));
                Ok(())
            }
        }
    }

    /// Runs with so many threads left.
    pub(crate) fn with_threads<T>(left: usize, run: impl FnOnce() -> T) -> T {
        LEFT.set(Some(left));
        let done = run();
        LEFT.set(None);
        done
    }
}
