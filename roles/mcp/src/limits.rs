//! Every number that bounds a server, with its reason.

use std::time::Duration;

/// What differs between a product and the tests of its patience.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerLimits {
    /// How long a server may take from its start to its answer to the greeting. `npx` may have to
    /// fetch a package first.
    pub start: Duration,
    /// How long a server may take to list one page of its tools.
    pub list: Duration,
    /// The first pause before a server that failed is started again; each further one is twice as
    /// long, and none is longer than [`ServerLimits::rest`].
    pub first_pause: Duration,
    /// After `FAILURES_MAX` failures in a row a server is not tried for this long.
    pub rest: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(60),
            list: Duration::from_secs(30),
            first_pause: Duration::from_millis(250),
            rest: Duration::from_secs(60),
        }
    }
}

/// How often in a row a server may fail to start, or crash, before it rests: the pauses between
/// sum up to about four seconds, which is more than a crash by chance needs.
pub(crate) const FAILURES_MAX: u32 = 5;

/// After so many calls in a row without an answer in time a server is ended and started again.
pub(super) const SILENCES_MAX: u32 = 3;

/// How long one call may take when nothing else is configured: most tools answer within seconds, and
/// those that drive a browser or a build within minutes.
pub const CALL_LIMIT: Duration = Duration::from_secs(5 * 60);

/// The most a call's time limit may be configured to: a day.
pub(super) const CALL_LIMIT_MAX_S: u64 = 24 * 60 * 60;

/// Servers that one configuration may name. Each has a process of its own.
pub(crate) const SERVERS_MAX: usize = 64;

/// A name of a server; together with `mcp__` and a tool's name it must fit into
/// [`NAME_BYTES_MAX`].
pub(super) const SERVER_NAME_BYTES_MAX: usize = 24;

/// What providers of models accept as the name of a tool.
pub(super) const NAME_BYTES_MAX: usize = 64;

/// Arguments, variables and headers of one server: more is no configuration but a mistake.
pub(super) const ENTRIES_MAX: usize = 256;

/// One argument, value or address in a configuration. The system bounds all arguments of a program
/// together, and far above this.
pub(super) const ENTRY_BYTES_MAX: usize = 16 * 1024;

/// Tools of one server. A model chooses badly among more than a few dozen.
pub(super) const TOOLS_MAX: usize = 256;

/// Pages of one list: a server with one tool on each page is still accepted.
pub(super) const PAGES_MAX: usize = TOOLS_MAX;

/// A description. Real ones are a few hundred bytes, long ones a few thousand; it is paid for with
/// every request.
pub(super) const DESCRIPTION_BYTES_MAX: usize = 8 * 1024;

/// A schema of arguments, as JSON.
pub(super) const SCHEMA_BYTES_MAX: usize = 64 * 1024;

/// How deep a schema may be nested. Hand-written ones have less than ten levels.
pub(super) const SCHEMA_DEPTH_MAX: usize = 32;

/// References in a schema. Each is followed from each, so that their number counts thrice.
pub(super) const REFERENCES_MAX: usize = 200;

/// All definitions of one server together, as they are sent with every request.
pub(super) const LIST_BYTES_MAX: usize = 512 * 1024;

/// One message of a server, on a pipe or over HTTP. A result with a large picture fits.
pub(super) const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Messages that were read and not yet dealt with. Behind them the pipe fills and its writer waits.
pub(super) const MESSAGES_WAITING: usize = 16;

/// Lines on a server's output that are no messages. Some print a greeting before they speak the
/// protocol; one that goes on for longer does not speak it.
pub(super) const NOISE_LINES_MAX: u32 = 200;

/// How much of what a server says on the side is kept, from its end: enough for a stack trace.
pub(super) const ASIDE_BYTES: usize = 8 * 1024;

/// How much of that a fault repeats.
pub(super) const ASIDE_SHOWN_BYTES: usize = 600;

/// How much of a fault of a server's own wording is repeated.
pub(super) const FAULT_SHOWN_BYTES: usize = 600;

/// How many of a server's own requests are remembered for the operator; all of them are refused.
pub(super) const ASKED_KEPT: usize = 16;

/// How many requests of its own a server may make within [`ASKED_WINDOW`]: many more than a
/// server that asks whether we are there once a second.
pub(super) const ASKED_MAX: u32 = 1_000;

/// The time over which they are counted.
pub(super) const ASKED_WINDOW: Duration = Duration::from_secs(60);

/// What a model gets of one result; the rest goes to a blob. As much as of a program's two outputs
/// together.
pub(super) const OUTPUT_BYTES_MAX: usize = 48 * 1024;

/// The arguments of one call, as JSON.
pub(super) const ARGUMENTS_BYTES_MAX: usize = 1024 * 1024;

/// How long a server that has ended is still read: its last answer may be in the pipe.
pub(super) const LAST_WORDS: Duration = Duration::from_millis(500);

/// How long the stderr of a server that has ended may take to arrive: it is in the pipe.
pub(super) const ASIDE_GRACE: Duration = Duration::from_millis(50);

/// How long a server may take to end by itself when it is not needed any more, twice at the most.
pub(super) const LEAVE: Duration = Duration::from_millis(400);

/// How long it may take to reach an HTTP server.
pub(super) const CONNECT_LIMIT: Duration = Duration::from_secs(15);

/// How often a stream of events that broke off is listened to again: half a minute of trouble.
pub(super) const RELISTEN_MAX: usize = 5;

/// The longest pause between.
pub(super) const RELISTEN_PAUSE_MAX: Duration = Duration::from_secs(15);

/// A session's id over HTTP. Real ones are UUIDs.
pub(super) const SESSION_ID_BYTES_MAX: usize = 256;

/// A workspace's own list of servers that it would like to have.
pub(super) const WANTED_BYTES_MAX: usize = 256 * 1024;

/// How long a server that is asked to end may take for it before it is killed.
pub(super) const END_GRACE: Duration = Duration::from_millis(1_000);
