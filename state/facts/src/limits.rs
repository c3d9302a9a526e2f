//! Every limit of the facts, with its reason.

/// Longest record, newline included. A reader can hold one line without asking how long it is;
/// larger payloads go to blobs.
pub const RECORD_BYTES_MAX: usize = 1024 * 1024;

/// Texts longer than this are kept as a blob and named by hash, so that a line stays readable and
/// stays far below [`RECORD_BYTES_MAX`] even when every character needs escaping.
pub const INLINE_TEXT_BYTES_MAX: usize = 64 * 1024;

/// How much of a blob is repeated in the record that names it, for screens that show a glimpse.
pub const BLOB_HEAD_BYTES_MAX: usize = 1024;

/// Longest name that becomes a folder or a file. Common file systems stop at 255 bytes, and a
/// temporary file adds a suffix.
pub const NAME_BYTES_MAX: usize = 128;

/// Longest opaque id.
pub const ID_BYTES_MAX: usize = 256;

/// How many questions, replies or requests a flow keeps open at once. A flow that reaches this is
/// not waiting for a person any more.
pub const OPEN_ITEMS_MAX: usize = 10_000;
