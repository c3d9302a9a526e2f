//! Every number that bounds the machine, with its reason.

/// Repairs of a turn's outcome in a row. A role that did not manage in five tries will not manage
/// in the sixth; the operator will.
pub const REPAIRS_MAX: u32 = 5;

/// How often in a row a role waits by itself for a limit of its provider. Each wait takes as long as the
/// provider said, so that this is days; a provider that never keeps its word needs the operator.
pub const LIMITS_IN_A_ROW_MAX: u32 = 100;

/// Names that one sentence spells out; the rest are counted.
pub const NAMES_SHOWN_MAX: usize = 8;

/// Characters of a name that a role wrote and that a sentence repeats.
pub const QUOTED_CHARS_MAX: usize = 80;
