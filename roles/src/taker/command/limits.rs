//! Every number that bounds a program, with its reason.

/// How long a program may take when its role does not say: most builds are done by then.
pub(crate) const TIME_LIMIT_MS: u64 = 10 * 60 * 1000;

/// How much of each of its two outputs is kept when its role does not say. Both together stay
/// within what a fact holds inline.
pub(crate) const OUTPUT_LIMIT_BYTES: usize = 24 * 1024;

/// How much of a program's output a question to the operator repeats.
pub(super) const SHOWN_BYTES: usize = 2_000;
