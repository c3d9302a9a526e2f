//! Every number of retrying, with its reason.

/// How often a request is sent again before anything of an answer came: with the waits below, a
/// provider may be away for half a minute.
pub const RETRIES_BEFORE: u32 = 5;

/// How often it is sent again after an answer had begun. The lost answer is paid for each time.
pub const RETRIES_AFTER: u32 = 3;

/// The first wait is at most this long, and each later one at most twice the one before.
pub(crate) const BASE_MS: u64 = 1_000;

/// No wait of our own choice is longer: an operator who watches should see progress.
pub(crate) const CAP_MS: u64 = 60_000;

/// How much is at most added to a wait that the provider chose, so that not all come back at once.
pub(crate) const SPREAD_MS: u64 = 1_000;

/// A provider that asks for more than this is waited for by the flow, and not within the turn.
pub(crate) const LONGEST_RETRY_AFTER_MS: u64 = 300_000;

/// A rate limit that another role met and that lasts longer than this suspends the flow, which shows until when; a
/// shorter one passes within the turn.
pub const LONGEST_HELD_MS: u64 = 60_000;

/// How long one turn waits for its provider, all waits together.
pub(crate) const TURN_WAIT_MS: u64 = 600_000;

/// How many requests of one turn may fail. Blind retries of long prompts have cost others dearly.
pub(crate) const TURN_FAILURES: u32 = 12;

/// How many failures in a row, of all roles, say that a model is not to be had now.
pub(crate) const CIRCUIT_FAILURES: u32 = 5;

/// How long it is then left alone, before one request looks again.
pub(crate) const CIRCUIT_OPEN_MS: u64 = 60_000;

/// The time between two who wait for the same rate, when it is free again.
pub(crate) const SLOT_MS: u64 = 250;

/// How many wait for the same model at most; it is more than the roles that a machine holds.
pub(crate) const WAITING: usize = 4_096;

/// For how many models the state is kept; it is more than anybody configures.
pub(crate) const LANES: usize = 256;
