//! The bounds of what is folded.

use std::time::Duration;

use super::lines::Bounds;

/// How many items of a feed are held in the fold itself; older ones cannot change any more.
pub(crate) const OPEN_ITEMS_MAX: usize = 4_096;

/// How much of a text that streams is kept for those who come late; what is longer is read when it
/// is whole.
pub(crate) const STREAM_BYTES_MAX: usize = 256 << 10;

/// How many versions of what went along an edge are shown.
pub(crate) const PASSED_MAX: usize = 100;

/// How many decisions are shown.
pub(crate) const DECIDED_MAX: usize = 50;

/// How many earlier decisions are shown with a question.
pub(crate) const EARLIER_MAX: usize = 5;

/// How much of the last text of a role is shown with its question.
pub(crate) const SAID_BEFORE_BYTES_MAX: usize = 600;

/// How much of a text is shown in one line.
pub(crate) const SHORT_CHARS_MAX: usize = 80;

/// What is compared and shown of the change that a call would make. It is made for every edit when
/// it is recorded, and what waits for the operator is sent anew with every batch: so it takes less
/// than a millisecond and stays below what one frame holds. More is read with the item's body.
pub(crate) const CHANGE: Bounds = Bounds {
    bytes_max: 256 << 10,
    edits_max: 200,
    lines_max: 400,
    shown_bytes_max: 32 << 10,
};

/// How long the shortest way between two texts is looked for. A change of a few hundred lines takes a
/// millisecond; only texts that hold the same thousands of lines in another order get here, and are then
/// compared less closely.
pub(crate) const COMPARE_TIME: Duration = Duration::from_millis(50);

/// How many changes of calls without an end are kept for the questions about them. A role has one
/// question open at a time.
pub(crate) const CHANGES_MAX: usize = 8;

/// The longest arguments of which a change is read.
pub(crate) const ARGUMENTS_BYTES_MAX: usize = 1 << 20;

/// How much of a command is shown in one line, as much as the line of its call has.
pub(crate) const COMMAND_BYTES_MAX: usize = 600;

/// How many tasks of a role's list are shown, as many as its tool takes.
pub(crate) const TASKS_MAX: usize = 50;

/// How much of a task is shown, as much as the tool takes.
pub(crate) const TASK_BYTES_MAX: usize = 800;

/// How many files of one edit are shown, more than its tool takes.
pub(crate) const EDITED_FILES_MAX: usize = 50;

/// How many lines of a difference are shown.
const DIFF_LINES_MAX: usize = 4_000;

/// The largest text of which differences are looked for.
const DIFF_BYTES_MAX: usize = 1 << 20;

/// How much is compared, and how much of it is shown.
pub(crate) const DIFF_BOUNDS: Bounds = Bounds {
    bytes_max: DIFF_BYTES_MAX,
    // What is compared at the operator's wish may take some tens of milliseconds.
    edits_max: 2_000,
    lines_max: DIFF_LINES_MAX,
    // No more than both texts together have.
    shown_bytes_max: DIFF_BYTES_MAX * 2,
};

/// How many turns are named that changed one file: the first ones and the last.
pub(crate) const AUTHORS_MAX: usize = 20;

/// How many points the clock of a time strip has.
pub(crate) const TRACK_CLOCK_MAX: usize = 2_000;
