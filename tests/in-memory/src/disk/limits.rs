//! How much the disk in memory holds at most, and why.

use std::time::Duration;

/// The largest file of the disk in memory. It plays the `EFBIG` of a real disk, and it
/// keeps a wrong size in a test from eating the machine's memory.
pub(super) const MAX_MEMORY_FILE_BYTES: usize = 1 << 30;

/// The longest name in a folder, as on every file system that Linux commonly mounts.
pub(super) const MAX_NAME_BYTES: usize = 255;

/// How many changes of names a folder in memory keeps unsynced. Beyond it the oldest half is
/// written back, as a real file system does by itself in time, so that a folder that is never
/// synced does not grow for ever.
pub(super) const MAX_UNSYNCED_NAMES: usize = 4096;

/// How many unsynced cuts of one file are remembered, each as a version that a crash may bring
/// back. Beyond it the oldest is forgotten.
pub(super) const MAX_UNSYNCED_CUTS: usize = 32;

/// How many operations a trace holds. Beyond it the oldest is forgotten, so that a long
/// simulation with a trace stays within some hundred megabytes.
pub(super) const MAX_TRACED_OPERATIONS: usize = 1 << 20;

/// How long a call hangs at most, and how long a test waits for one that does: far longer than
/// anything takes that does not hang, so that a test that forgot one fails in the end.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
