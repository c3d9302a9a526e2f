//! The bounds of a file that holds a flow.

use crate::fold::lines::Bounds;

/// The largest journal of which one file is made: all of it is folded in memory at once.
pub(crate) const JOURNAL_BYTES_MAX: u64 = 256 << 20;

/// How much a file holds before it is packed. A browser reads this within a second or two.
pub(crate) const FILE_BYTES_MAX: usize = 64 << 20;

/// How much of one text is in the file; what was more says so.
pub(crate) const TEXT_BYTES_MAX: usize = 64 << 10;

/// The largest version of a file that was handed over, and that is in the file.
pub(crate) const BLOB_BYTES_MAX: usize = 512 << 10;

/// How many requests are in the file: the last ones. Each is written anew for it, which takes some
/// milliseconds.
pub(crate) const REQUESTS_MAX: usize = 1_000;

/// How much all requests take in the file. They have most of their text in common, so that the last
/// ones of each role find room in this.
pub(crate) const REQUESTS_BYTES_MAX: usize = 8 << 20;

/// How hard the file is packed: the middle, as the last percents take most of the time.
pub(crate) const PACKING: u8 = 6;

/// What is compared and shown of an edit.
pub(crate) const CHANGE: Bounds = Bounds {
    bytes_max: 1 << 20,
    edits_max: 1_000,
    lines_max: 1_000,
    shown_bytes_max: TEXT_BYTES_MAX,
};
