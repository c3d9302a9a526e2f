//! A disk in memory that fails on request and can be cloned as a crash would leave it.
//!
//! It is for tests and for the simulator. It keeps two pictures of everything: what a reader
//! sees now, and what has been made durable. A file's bytes become durable by
//! [`DiskFile::sync`](a_society_state::disk::DiskFile::sync), its name by
//! [`Disk::sync_folder`](a_society_state::disk::Disk::sync_folder) on the folder that holds it, and neither by
//! the other, as POSIX has it.
//!
//! * [`FaultyDisk::arm`] makes one numbered operation fail in one way.
//! * [`FaultyDisk::crash_clone`] is what a power cut would leave, and [`FaultyDisk::kill_clone`]
//!   what the death of the process would.
//! * [`FaultyDisk::hang`] makes calls wait until the test lets them go.
//! * [`FaultyDisk::trace`] tells what was done, in order.

#[cfg(test)]
mod alike;
mod contents;
mod crash;
mod fault;
mod faulty;
mod file;
mod hang;
mod limits;
mod node;
mod random;
#[cfg(test)]
mod tests;
mod trace;
mod tree;

#[cfg(test)]
use fault::PartialWrite;
pub use fault::{FaultPlan, InjectedFault};
pub use faulty::FaultyDisk;
pub use hang::{HangGate, HangingCalls};
pub use trace::DiskCall;
