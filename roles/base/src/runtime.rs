//! The one runtime of the process on which tasks wait for sockets and pipes while no thread of ours does: those of MCP
//! servers, of web fetches and of the page's server.

use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};

use crate::thread;

/// Tasks here parse, and wait. With several threads a server that floods its own holds up neither those of other flows nor
/// the page.
const THREADS: usize = 4;

/// Names of hosts are looked up, and files read for the page, on threads that block. The page's server, whose commands may
/// wait there for a name, takes half of them at most.
const BLOCKING_THREADS_MAX: usize = 32;

/// The runtime, which is made when it is needed first. It is never dropped, so that a pending name resolution does not
/// delay the end of the process.
///
/// # Errors
/// If the system gives no more threads, or no means to wait.
pub fn shared() -> Result<&'static Runtime, String> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(made) = RUNTIME.get() {
        return Ok(made);
    }
    // What is refused now may be granted later.
    let made = make()?;
    Ok(RUNTIME.get_or_init(|| made))
}

fn make() -> Result<Runtime, String> {
    // The builder panics where it gets no thread.
    thread::is_to_be_had().map_err(|why| why.to_string())?;
    let made = Builder::new_multi_thread()
        .worker_threads(THREADS)
        .max_blocking_threads(BLOCKING_THREADS_MAX)
        .thread_name("sockets")
        .enable_io()
        .enable_time()
        .build();
    made.map_err(|why| format!("sockets cannot be waited for: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_one_runtime_however_many_ask_for_it() {
        let askers = [0; 4].map(|_| std::thread::spawn(shared));
        let found = askers.map(|asker| asker.join().unwrap().unwrap());
        assert!(found.iter().all(|one| std::ptr::eq(*one, found[0])));
    }
}
