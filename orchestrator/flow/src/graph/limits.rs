//! Every number that bounds the reading of a flow file, with its reason.

/// A flow file is written by hand or by a role; ten megabytes hold more than 50,000 nodes, and
/// nothing larger is worth parsing before the operator asks what happened.
pub(crate) const MAX_FILE_BYTES: usize = 10 * 1024 * 1024;

/// The longest a node id or a role instance may be. A role instance is a folder name, and most
/// file systems stop at 255 bytes.
pub(crate) const MAX_NAME_BYTES: usize = 128;

/// Digits of an instance's number; the journal's names stop there as well.
pub(crate) const MAX_INSTANCE_DIGITS: usize = 6;

/// Diagnostics kept of one file. More are not useful, and one broken 10 MB file must not turn
/// into a gigabyte of messages.
pub(crate) const MAX_DIAGNOSTICS: usize = 1_000;

/// How many candidate names are compared for hints over one whole file. A comparison costs about
/// a microsecond, so that hints never take longer than a second.
pub(crate) const MAX_HINT_COMPARISONS: usize = 500_000;

/// Names of a cycle or of a list of nodes that one message spells out.
pub(crate) const MAX_NAMES_SHOWN: usize = 12;

/// Characters of a source line that an excerpt shows; longer lines are cut around the caret.
pub(crate) const MAX_EXCERPT_CHARS: usize = 110;

/// Characters of a quoted value that a message repeats.
pub(crate) const MAX_QUOTED_CHARS: usize = 60;

/// A day: longer than any build, and short enough that a forgotten program ends.
pub(crate) const MAX_TIME_LIMIT_SECONDS: u64 = 24 * 60 * 60;

/// What a command may say at most; the rest of the machinery keeps it in memory.
pub(crate) const MAX_OUTPUT_LIMIT_BYTES: u64 = 64 * 1024 * 1024;

/// JSON tells numbers above this apart no longer.
pub(crate) const MAX_BUDGET: u64 = 1 << 53;
