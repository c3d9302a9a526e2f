//! The bounds of what is folded.

/// How many items of a feed are held in the fold itself; older ones cannot change any more.
pub const OPEN_ITEMS_MAX: usize = 4_096;

/// How much of a text that streams is kept for those who come late; what is longer is read when it
/// is whole.
pub const STREAM_BYTES_MAX: usize = 256 << 10;

/// How many versions of what went along an edge are shown.
pub const PASSED_MAX: usize = 100;

/// How many decisions are shown.
pub const DECIDED_MAX: usize = 50;

/// How many earlier decisions stand beside a question.
pub const EARLIER_MAX: usize = 5;

/// How much of the last words of a role stands beside its question.
pub const SAID_BEFORE_BYTES_MAX: usize = 600;

/// How much of a text stands in one line.
pub const SHORT_CHARS_MAX: usize = 80;
