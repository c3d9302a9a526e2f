//! Every number that bounds a handoff block, with its reason.

/// A fan-out to a thousand nodes with long paths takes about 200 KB.
pub const MAX_BLOCK_BYTES: usize = 256 * 1024;

/// The widest fan-out that one block may ask for.
pub const MAX_TARGETS: usize = 1_000;

/// Names of nodes that one message to a model lists; a model does not choose well among more.
pub(super) const MAX_NAMES_SHOWN: usize = 40;

/// Characters of a model's own words that a message repeats to it.
pub(super) const MAX_QUOTED_CHARS: usize = 60;
