//! Disks: `port` is the only door to the file system for state, `real` the machine's file system behind it.
//! `faulty` is one in memory that fails on request and can be cloned as a power cut would leave it.

mod faulty;
mod limits;
mod port;
mod real;
#[cfg(test)]
mod tests;
pub(crate) mod unlocked;

pub use faulty::{DiskCall, FaultPlan, FaultyDisk, InjectedFault};
pub use port::{About, Disk, DiskFile, Entry, How, Kind, Locked, SharedDisk};
pub use real::RealDisk;
pub use unlocked::UnlockedDisk;
