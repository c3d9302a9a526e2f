//! The one runtime on which connections wait.

use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};

/// The runtime, which is made when it is needed first. Programs that reach no model have none.
///
/// It has no thread of its own: the threads that wait for answers drive it, one at a time, and each
/// passes it on when its own answer is there. A turn that is alone therefore reads its connection itself,
/// and no other thread has to wake it for each piece; while no answer is waited for, connections that
/// are kept for later need no thread.
///
/// # Errors
///
/// If the system has no means left to wait for connections.
pub(crate) fn shared() -> Result<&'static Runtime, String> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(made) = RUNTIME.get() {
        return Ok(made);
    }
    // What is refused now may be granted to a later request.
    let made = Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build();
    let made = made.map_err(|why| format!("connections cannot be waited for: {why}"))?;
    Ok(RUNTIME.get_or_init(|| made))
}
