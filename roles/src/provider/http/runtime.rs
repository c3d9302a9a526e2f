//! The one runtime on which connections wait.

use std::sync::OnceLock;

use tokio::runtime::{Builder, Handle, Runtime};

use crate::thread;

/// Threads that wait for all connections of the program together. Reading a stream takes
/// microseconds an event, so that one keeps up with every role that a machine can hold; a second one
/// would be woken for half of what the first one hears, which takes longer than the reading.
const THREADS: usize = 1;

/// The runtime, which is made when it is needed first. Programs that reach no model have none.
///
/// # Errors
///
/// If the system gives no threads.
pub fn shared() -> Result<&'static Handle, String> {
    static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
    if let Some(made) = RUNTIME.get() {
        return made.as_ref().map(Runtime::handle).map_err(Clone::clone);
    }
    // The builder panics where it gets no thread; a later request may find one.
    let cannot = |why| format!("threads for connections could not be started: {why}");
    thread::is_to_be_had().map_err(|why| cannot(why.to_string()))?;
    let made = RUNTIME.get_or_init(|| {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(THREADS).thread_name("connections");
        let runtime = builder.enable_io().enable_time().build();
        runtime.map_err(|why| cannot(why.to_string()))
    });
    made.as_ref().map(Runtime::handle).map_err(Clone::clone)
}
