//! How much the disk port does at most for one request, and why.

/// The most names that one listing returns. A folder with more is refused rather than cut, since
/// half a listing would make files that exist look lost; a million names are about 100 MB.
pub(super) const MAX_LISTED_NAMES: usize = 1_000_000;

/// How often one call starts again after a signal interrupted it. A handful of signals may meet
/// a call; a call that never gets through is an error, not a reason to spin.
pub(super) const MAX_INTERRUPTIONS: usize = 100;

/// How many zeros one `write` carries where the file system cannot reserve space by itself.
pub(super) const ZEROS_BYTES: usize = 64 * 1024;

/// How deep folders are closed to others. The state of a flow is five deep, and a record folder has
/// what roles made in it.
pub(super) const PRIVATE_DEPTH_MAX: usize = 64;
