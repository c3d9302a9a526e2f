//! Disks: `port` is the only door to the file system for state, `real` the machine's file system behind it.
//! Tests have one in memory that fails on request (`tests/in-memory`).

mod limits;
mod port;
mod real;
pub(crate) mod unlocked;

pub use port::{About, Disk, DiskFile, Entry, How, Kind, Locked, SharedDisk};
pub use real::RealDisk;
pub use unlocked::UnlockedDisk;
