//! Every number that bounds the machine, with its reason.

/// Repairs of a turn's outcome in a row. A role that did not manage in five tries will not manage
/// in the sixth; the operator will.
pub(crate) const REPAIRS_MAX: u32 = 5;

/// How often in a row a role waits by itself for a limit of its provider. Each wait takes as long as the
/// provider said, so that this is days; a provider that never keeps its word needs the operator.
pub(crate) const LIMITS_IN_A_ROW_MAX: u32 = 100;

/// Messages that a session must have to be compacted by hand: a single one may be a summary already.
pub(crate) const COMPACTED_MESSAGES_MIN: usize = 2;

/// Messages that stay at the end of a session that is compacted so, if the operator does not say how many.
pub(super) const COMPACTED_KEEP_LAST: u64 = 12;

/// How many bytes of text make a token as a rule.
pub(super) const BYTES_A_TOKEN: u64 = 4;

/// Names that one sentence spells out; the rest are counted.
pub(crate) const NAMES_SHOWN_MAX: usize = 8;

/// Characters of a name that a role wrote and that a sentence repeats.
pub(crate) const QUOTED_CHARS_MAX: usize = 80;

/// Characters of a chat's first message by which it is called: a row of a list shows about as many.
pub(crate) const CHAT_TITLE_CHARS_MAX: usize = 40;

/// A label is read in lists, one line each.
pub(super) const TITLE_CHARS_MAX: usize = 64;
