//! The bounds of hubs.

use std::time::Duration;

/// How soon after one batch the next may follow. Sixty a second is what a screen shows, and each
/// batch may cost a sync.
pub(crate) const BATCH: Duration = Duration::from_millis(16);

/// How soon after another a batch may follow that only streams text: thirty a second are read as
/// smooth, and each is sent to everybody who looks.
pub(crate) const STREAM: Duration = Duration::from_millis(33);

/// How long a flow may take to say what streams. It answers in microseconds, unless it waits for the
/// disk; what is in the journal is not held up for longer than a screen notices.
pub(crate) const AHEAD_TIMEOUT: Duration = Duration::from_millis(20);

/// How long a hub stays after the last one went: a page that is loaded anew finds it warm.
pub(crate) const LINGER: Duration = Duration::from_secs(10);

/// How often a hub looks without a notification: the system may miss a change, and a change of the
/// lock's holder is never notified.
pub(crate) const LOOK: Duration = Duration::from_secs(2);

/// How often the list of all flows is made anew while flows move.
pub(crate) const LIST: Duration = Duration::from_millis(250);

/// How many bytes of items go into one frame of a replay.
pub(crate) const FRAME_BYTES: usize = 64 << 10;

/// How many items go into one frame.
pub(crate) const FRAME_ITEMS_MAX: usize = 400;

/// How many of the last changes of a feed are known by their order. Who is further behind walks the
/// whole feed once.
pub(crate) const CHANGES_MAX: usize = 8_192;

/// How many parts that are gone are remembered for those who come back.
pub(crate) const GONE_MAX: usize = 2_000;

/// How many hubs there are at once. Each holds the feeds of a flow in memory.
pub(crate) const HUBS_MAX: usize = 64;

/// How many flows the list shows; the newest. A page of more than this is not read by anybody.
pub(crate) const FLOWS_MAX: usize = 5_000;

/// How many flows are watched for changes while they have no followers.
pub(crate) const WATCHED_MAX: usize = 2_000;

/// How many flows that are not watched are read at a time, one such number after another.
pub(crate) const POLLED_AT_ONCE: usize = 100;

/// How many flows that are over are looked at for the list; of the others only the summary is read.
pub(crate) const LOOKED_MAX: usize = 300;

/// For how many calls that wait it is remembered what they would change; each is some 32 KiB. Beyond
/// it everything is looked up anew.
pub(crate) const CHANGES_KNOWN_MAX: usize = 64;
