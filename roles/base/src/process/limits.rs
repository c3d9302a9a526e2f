//! Every number that bounds the end of a process, with its reason.

use std::time::Duration;

/// How long a program that was asked to end may take for it. Together with `KILL_ROUNDS` a tree is gone
/// within two seconds.
pub const GRACE: Duration = Duration::from_millis(500);

/// How long what a crash left behind may take. It may be a guard, which gives its own command as long
/// as [`GRACE`] before it kills what is left and reports how it ended.
pub(super) const SURVIVOR_GRACE: Duration = Duration::from_millis(1_000);

/// How often we look whether a process has ended of which the system does not wake us.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How often what is left is killed. A program that starts others while it is killed is caught by
/// a later round.
pub(super) const KILL_ROUNDS: u32 = 25;

/// How often we look again for a process that is about to run another program and shows nothing of
/// whose it is for that moment. A loaded machine needs some hundredths of a second for it.
pub(super) const UNSURE_LOOKS: u32 = 5;

/// How long the outputs are awaited when the program itself has ended: a daemon that it left may
/// hold them open for ever.
pub const OUTPUT_GRACE: Duration = Duration::from_millis(500);
