//! Every number that bounds a replacement, with its reason.

/// How long a summary may be at most, in tokens: what a role needs to go on fits, and a long one
/// would fill the window again.
pub(super) const SUMMARY_TOKENS_MAX: u64 = 4_000;

/// The shortest bound of a summary, in tokens: fewer than these say nothing.
pub(super) const SUMMARY_TOKENS_MIN: u64 = 64;

/// The part of the window that a summary may fill: one in so many.
pub(super) const SUMMARY_SHARE: u64 = 10;

/// The part of the window that the last unanswered request may fill.
pub(super) const REQUEST_SHARE: u64 = 8;

/// The part of the window that the task list may fill, and the facts of the flow as well.
pub(super) const LIST_SHARE: u64 = 32;

/// The part of the window that the messages may fill which stay when no summary can be made.
pub(super) const KEPT_SHARE: u64 = 4;

/// The window of a model for which none is configured: most read at least this much.
pub(super) const WINDOW_UNKNOWN_TOKENS: u64 = 128_000;

/// How many bytes of text make a token as a rule.
pub(super) const BYTES_A_TOKEN: u64 = 4;

/// How many changed files are named; the model finds the others with its tools.
pub(super) const FILES_MAX: usize = 40;

/// How long the name of a changed file may be to be named, in bytes: file systems allow no more
/// for a path.
pub(super) const FILE_NAME_BYTES_MAX: usize = 4_096;

/// How many tasks of a list are read, as many as the tool takes.
pub(super) const TASKS_MAX: usize = 50;

/// How much of a task is repeated, as much as the tool takes.
pub(super) const TASK_BYTES_MAX: usize = 800;

/// How often a tag's number is raised until its end is not in its text.
pub(super) const TAG_NUMBER_MAX: u32 = 1_000;

/// How many replacements inside one another are unwrapped: older versions nested one a compaction.
pub(super) const NESTED_MAX: usize = 10_000;

/// How many characters of one output of a tool go into what replaces it, if the operator does not say.
pub(super) const OUTPUT_CHARS: usize = 16_000;

/// An output that may have fewer characters than this stays whole: nothing of use would be left.
pub(super) const OUTPUT_CHARS_MIN: usize = 200;

/// How many lines that say what went wrong stay of a long output.
pub(super) const DIAGNOSTIC_LINES_MAX: usize = 32;

/// How many bytes of its beginning and of its end stay at least beside them.
pub(super) const OUTPUT_EDGE_BYTES_MIN: usize = 80;

/// A result that is shorter is not masked.
pub(super) const MASKED_BYTES_MIN: usize = 500;

/// A result of so many lines is not masked.
pub(super) const MASKED_LINES_MIN: usize = 3;

/// How many bytes of the first line of a masked result stay.
pub(super) const MASKED_LINE_BYTES: usize = 120;

/// How many handoffs a line of facts names; of a join of two hundred nodes it gives the number.
pub(super) const NAMES_MAX: usize = 40;
