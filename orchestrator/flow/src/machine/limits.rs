//! Every number that bounds the machine, with its reason.

/// Repairs of a turn's outcome in a row. A role that did not manage in five tries will not manage
/// in the sixth; the operator will.
pub const REPAIRS_MAX: u32 = 5;

/// Names that one sentence spells out; the rest are counted.
pub const NAMES_SHOWN_MAX: usize = 8;

/// Characters of a name that a role wrote and that a sentence repeats.
pub const QUOTED_CHARS_MAX: usize = 80;
