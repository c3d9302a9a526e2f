//! The one runtime on which connections wait.

use std::sync::{Mutex, OnceLock, PoisonError};

use tokio::runtime::{Builder, Handle};

use crate::thread;

/// The runtime, which is made when it is needed first. Programs that reach no model have none.
///
/// One thread waits for all connections of the program together. Reading a stream takes microseconds an
/// event, so that it keeps up with every role that a machine can hold; a second one would be woken for
/// half of what the first one hears, which takes longer than the reading. The thread is begun here and
/// not by the runtime, which panics where the system gives none.
///
/// # Errors
///
/// If the system gives no thread. A later request may find one.
pub fn shared() -> Result<&'static Handle, String> {
    static RUNTIME: OnceLock<Handle> = OnceLock::new();
    static MAKING: Mutex<()> = Mutex::new(());
    if let Some(made) = RUNTIME.get() {
        return Ok(made);
    }
    let _one = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(made) = RUNTIME.get() {
        return Ok(made);
    }
    let cannot = |why: String| format!("threads for connections could not be started: {why}");
    let mut builder = Builder::new_current_thread();
    let runtime = builder.enable_io().enable_time().build();
    let runtime = runtime.map_err(|why| cannot(why.to_string()))?;
    let handle = runtime.handle().clone();
    // What is spawned there runs while the thread waits for what never comes.
    let waits = move || runtime.block_on(std::future::pending::<()>());
    thread::begin("connections", waits).map_err(|why| cannot(why.to_string()))?;
    Ok(RUNTIME.get_or_init(|| handle))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_the_system_refuses_is_an_error_and_the_next_request_has_one() {
        // Other tests of this process may have it already; then nothing is refused.
        if let Err(why) = thread::with_threads(0, shared) {
            assert!(
                why.starts_with("threads for connections could not be started: "),
                "{why}"
            );
        }
        let (say, hear) = std::sync::mpsc::channel();
        shared().unwrap().spawn(async move { say.send(7) });
        assert_eq!(hear.recv(), Ok(7));
    }
}
