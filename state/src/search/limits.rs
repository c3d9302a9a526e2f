//! The bounds of the search, each with its reason.

/// A longer word counts with its beginning: nothing that is typed is longer, and base64 would be one word without end.
pub(super) const WORD_BYTES_MAX: usize = 64;

/// So much of a message is searched. What is longer is a file that a tool read, and its beginning says which.
pub(super) const TEXT_BYTES_MAX: usize = 1024 * 1024;

/// So much text is indexed before it is committed: what a death takes back, and what waits in memory.
pub(super) const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// How much memory the database takes for its pages, in KiB.
pub(super) const CACHE_KIB: i64 = 16 * 1024;

/// How many bytes of new words the index gathers before it writes a part of itself.
pub(super) const GATHERED_BYTES: i64 = 16 * 1024 * 1024;

/// Journals that take more than this together are not indexed whole: the oldest are left out. The index is about half as
/// large as the texts.
pub(super) const JOURNALS_BYTES_MAX: u64 = 8 * 1024 * 1024 * 1024;

/// How many messages that match are looked at in one search.
pub(super) const LOOKED_AT_MAX: u32 = 5_000;

/// The longest search.
pub(super) const QUERY_BYTES_MAX: usize = 1024;

/// How many words one search has at most.
pub(super) const QUERY_WORDS_MAX: usize = 32;

/// How long a reader waits for the moment in which a writer ends, in milliseconds.
pub(super) const BUSY_MS: u64 = 2_000;

/// The longest run of records that is read again for one message. A longer one is an answer that streamed beside many others.
pub(super) const SPAN_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// An index of so many bytes is put together anew when a flow was removed, which takes about a second.
pub(super) const PURGED_BYTES_MAX: i64 = 64 * 1024 * 1024;

/// The shortest beginning of a word: the index has beginnings of two and three characters.
pub(super) const BEGINNING_CHARS_MIN: usize = 2;
