//! Every number that bounds a guard, with its reason.

use std::time::Duration;

/// The longest order: the longest command, its variables and the folders of its walls.
pub(super) const ORDER_BYTES: u64 = 1024 * 1024;

/// How long a guard is awaited beyond the time of its command before it counts as lost.
pub(super) const GUARD_GRACE: Duration = Duration::from_secs(10);

/// The largest file that a command may write: enough for every build, less than a disk.
pub(super) const FILE_BYTES: u64 = 16 * 1024 * 1024 * 1024;

/// How many files a command may hold open.
pub(super) const OPEN_FILES: u64 = 4_096;

/// How many commands run beside one turn: a few servers and watchers.
pub(super) const BACKGROUND_COMMANDS: usize = 8;

/// How much of what such a command writes is held until it is read, half and half.
pub(super) const BACKGROUND_BYTES: usize = 1024 * 1024;

/// How long such a command is awaited before its call ends, so that an early failure is seen.
pub(super) const BACKGROUND_FIRST: Duration = Duration::from_secs(1);

/// How deep repositories within the project are looked for, to protect their insides.
pub(super) const REPOSITORY_DEPTH: usize = 4;

/// How many folders are looked at for it.
pub(super) const REPOSITORY_FOLDERS: usize = 4_000;

/// How deep the system's settings are looked at for what every user may read: deeper than they are.
pub(super) const SETTINGS_DEPTH: usize = 8;

/// How many entries of them are looked at, which takes some ten milliseconds; a large system has a few
/// thousand.
pub(super) const SETTINGS_ENTRIES: usize = 20_000;
