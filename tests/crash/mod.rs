//! The real program, killed at every system call that changes the disk, and watched while it
//! acknowledges.
//!
//! Both need `strace`, which can end a process on entry to its Nth call of a kind. Where it is
//! missing, or may not trace, the tests say NOT MEASURED and nothing else.

mod acknowledged;
mod killed;
pub(crate) mod scenario;

pub(crate) use scenario::strace_works;
