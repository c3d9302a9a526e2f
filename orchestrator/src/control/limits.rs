//! The limits of the control socket, each with its reason.

use std::time::Duration;

/// The longest message. The largest command is a revised flow file or a text of the operator, which may be
/// as long as the input of a flow; a client that sends more without an end is cut off.
pub(crate) const MESSAGE_BYTES_MAX: u64 = 16 << 20;

/// How many clients are connected at once. Each costs a thread, and an operator has few terminals.
pub(crate) const CONNECTIONS_MAX: usize = 16;

/// How long a client may say nothing before its connection is closed.
pub(crate) const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// How long an answer may take to be written to a client that does not read.
pub(crate) const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a client waits for the answer. A sync on a slow disk takes a part of it.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the listening thread rests after the system refused it a client.
pub(crate) const PAUSE_AFTER_FAILURE: Duration = Duration::from_millis(100);

/// How often a command is tried when the flow changes hands under it, without news of the flow's folder.
pub(crate) const TRIES_MAX: u32 = 5;

/// How often it is tried because of such news. A driver that begins or ends changes a few dozen files.
pub(crate) const NEWS_MAX: u32 = 200;

/// How long a command rests between two tries without news.
pub(crate) const PAUSE_BETWEEN_TRIES: Duration = Duration::from_millis(50);

/// The longest path a socket can be bound to directly, everywhere. Linux takes 108 bytes with the
/// closing zero, others a few fewer.
pub(crate) const PATH_BYTES_MAX: usize = 100;

/// How long a door that closes waits for clients that have no answer yet. A client that does not read may not
/// hold up the end of the process any longer.
pub(crate) const LAST_ANSWERS_TIME: Duration = Duration::from_secs(2);
