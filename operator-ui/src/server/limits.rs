//! The bounds of the server.

use std::time::Duration;

/// How many sockets are open at once if none are configured. A page has one; a wall of screens and
/// a few forgotten windows have some dozens, and each that rests takes some twenty kilobytes.
pub const SOCKETS_MAX: u16 = 1_100;

/// How many connections there are at once besides sockets that were upgraded.
pub(crate) const CONNECTIONS_MAX: usize = 256;

/// How long a client may take for the head of a request, and then for its body. Until then the
/// connection is held for a client that has not proved anything yet.
pub const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest head of a request.
pub(crate) const HEAD_BYTES_MAX: usize = 16 << 10;

/// How many header lines a request may have.
pub(crate) const HEADERS_MAX: usize = 64;

/// The longest body of a request.
pub(crate) const BODY_BYTES_MAX: usize = 1 << 20;

/// The longest body of a webhook. It becomes a part of a message, which a model reads as a whole.
pub(crate) const HOOK_BYTES_MAX: usize = 64 * 1024;

/// While so many flows are driven here, webhooks begin none. Each has a driver with its threads.
pub(crate) const HOOK_FLOWS_MAX: usize = 64;

/// The longest body that starts a flow or is a file of one: what it is asked to do may be a book.
pub(crate) const BEGIN_BYTES_MAX: usize = 16 << 20;

/// How long a frame may take to leave. Who takes nothing for so long is gone.
pub(crate) const SEND_TIMEOUT: Duration = Duration::from_secs(30);

/// How many frames a client may send within a second. No typing is faster.
pub(crate) const FRAMES_A_SECOND_MAX: u32 = 200;

/// How many things one socket follows at once: an inbox, a flow and the feeds of its roles.
pub(crate) const FOLLOWED_MAX: usize = 64;

/// How many commands of one socket are under way at once.
pub(crate) const COMMANDS_MAX: usize = 16;

/// The buffer of a socket for what comes in. Most sockets say little.
pub(crate) const READ_BUFFER_BYTES: usize = 4 << 10;

/// How much is gathered before it is written to a socket.
pub(crate) const WRITE_BUFFER_BYTES: usize = 4 << 10;

/// How many requests read the disk at once.
pub(crate) const READERS_MAX: usize = 8;

/// How many commands of sockets are carried out at once, and journals opened for them. Others wait for their turn.
pub(crate) const WORKERS_MAX: usize = 8;

/// How many requests wait at once for the answer to a message. Each has a thread, which does nothing meanwhile.
pub(crate) const WAITS_MAX: usize = 64;

/// How many items a window of a feed has at the most.
pub(crate) const ITEMS_MAX: usize = 1_000;

/// How many bytes of a text are read at once.
pub(crate) const TEXT_BYTES_MAX: usize = 256 << 10;

/// The largest blob that is sent.
pub(crate) const BLOB_BYTES_MAX: usize = 8 << 20;

/// How many records a window of a journal has at the most.
pub(crate) const EVENTS_MAX: usize = 500;

/// The longest line of a journal that is shown whole.
pub(crate) const EVENT_BYTES_MAX: usize = 64 << 10;

/// How many messages of a session are read at once.
pub(crate) const MESSAGES_MAX: usize = 200;

/// The longest session that is taken along from the page; the terminal prints any.
pub(crate) const TAKEN_BYTES_MAX: usize = 64 << 20;

/// How many files of a flow's shared folder are offered to a person who hands one over.
pub(crate) const RECORD_LISTED_MAX: usize = 500;

/// How many files of a project are offered to that person at once; words make them fewer.
pub(crate) const PROJECT_LISTED_MAX: usize = 200;

/// How many times as long as any other body the bytes of a file may take to come.
pub(crate) const FILE_PATIENCE: u32 = 12;

/// How many places a search finds.
pub(crate) const HITS_MAX: usize = 100;

/// How many of them are in the feed of one role.
pub(crate) const HITS_A_ROLE_MAX: usize = 20;

/// How many sessions a search of all flows finds.
pub(crate) const FOUND_SESSIONS_MAX: usize = 20;

/// How many messages of each of them. The page shows a few.
pub(crate) const FOUND_IN_A_SESSION_MAX: usize = 5;

/// How long such a search indexes what is new before it answers, in microseconds. The rest is indexed beside it.
pub(crate) const INDEXING_US_MAX: u64 = 300_000;

/// How many flows with findings are listed at once.
pub(crate) const FINDINGS_FLOWS_MAX: usize = 50;

/// How many flows are looked at for them. Most flows have none, and each look reads the end of one.
pub(crate) const FINDINGS_LOOKED_AT_MAX: usize = 500;

/// How much of a finding the list shows; all of it is a file of the flow's record.
pub(crate) const FINDING_BYTES_MAX: usize = 16 << 10;

/// How many records are folded to find the place of what models were sent in their sessions.
pub(crate) const SENT_RECORDS_MAX: u64 = 20_000;

/// The shortest words that are searched for.
pub(crate) const QUERY_CHARS_MIN: usize = 2;

/// The longest words that are searched for.
pub(crate) const QUERY_BYTES_MAX: usize = 200;

/// How much of a request a page is sent. A window of a million tokens is about so long.
pub(crate) const REQUEST_BYTES_MAX: usize = 4 << 20;

/// How many time strips are kept.
pub(crate) const TRACKS_MAX: usize = 16;

/// How long the server waits for connections when it ends.
pub(crate) const END_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a development server may take for a file: it makes what it was not asked for before.
pub(crate) const DEV_TIMEOUT: Duration = Duration::from_secs(30);

/// How long input is still read from a client after its socket got a reason to end.
pub(crate) const LAST_WORDS: Duration = Duration::from_secs(1);
