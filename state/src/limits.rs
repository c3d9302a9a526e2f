//! Every limit of the disk, with its reason.

use std::time::Duration;

/// A segment is closed when it reaches this size. Small enough to hold one in memory while it is
/// scanned, large enough that a long flow has few.
pub const SEGMENT_BYTES: u64 = 16 * 1024 * 1024;

/// The largest file that is read as a segment. A writer closes one after [`SEGMENT_BYTES`] and at
/// most one more record, so anything larger is not ours.
pub(crate) const SEGMENT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Lines of a segment are read ahead by several threads from this size on; below it, starting them
/// takes longer than they save.
pub(crate) const LONG_SEGMENT_BYTES: usize = 1024 * 1024;

/// How much one of these threads reads before it hands its lines on: some hundred lines, so that
/// what is on its way takes little memory and a wakeup is a small part of it.
pub(crate) const AHEAD_PIECE_BYTES: usize = 64 * 1024;

/// How many pieces wait for each of these threads at most, besides the one it reads.
pub(crate) const AHEAD_PIECES_MAX: usize = 2;

/// How many threads read ahead at most: folding does not keep up with more.
pub(crate) const AHEAD_THREADS_MAX: usize = 4;

/// How much of a segment is read to see who wrote it and whether it begins a fork: its header and
/// one fact that names a flow and a title.
pub(crate) const SEGMENT_HEAD_BYTES: usize = 16 * 1024;

/// The longest name of a fork: a title fits, and the fact with it fits into [`SEGMENT_HEAD_BYTES`]
/// even when every character needs escaping.
pub(crate) const FORK_NAME_BYTES_MAX: usize = 1024;

/// Set aside while a flow is open for writing and given back on the first full disk, so that the
/// pause itself can be recorded.
pub(crate) const RESERVE_BYTES: u64 = 1024 * 1024;

/// How often an interrupted system call is tried again before it counts as failed.
pub(crate) const INTERRUPTED_RETRIES_MAX: u32 = 100;

/// How often an opener asks for a flow's lock. A look holds it for some microseconds, and several
/// may follow one another; another writer holds it much longer than all tries take.
pub(crate) const LOCK_TRIES: u32 = 25;

/// How long an opener waits between two of these tries. The system rings no bell for a lock that is given up; a call that
/// waits for it cannot be given up in time, and would have the lock later, when the opener has given up.
pub(crate) const LOCK_PAUSE: Duration = Duration::from_millis(2);

/// A view is at most this old while its flow moves, as long as writing it is cheap.
pub(crate) const VIEW_AGE_US: u64 = 250_000;

/// Writing views, with the sync before it, takes at most one part in this many of the time while a
/// flow moves. What the disk still does afterwards costs a little more, so that this is less than
/// the twentieth that views may cost in all.
pub(crate) const VIEW_TIME_SHARE: u64 = 50;

/// What views may write at once while a flow moves, before anything had to be earned.
pub(crate) const VIEW_BURST_BYTES: u64 = 256 * 1024;

/// Views may write one part in this many of what the journal grows by. At rest each text is written
/// into two of them anyway, so that this is the smaller part of what they take.
pub(crate) const VIEW_GROWTH_SHARE: u64 = 32;

/// What views may write a second while the flow moves, besides. A session of two megabytes still
/// follows within [`VIEW_AGE_US`]; a larger one follows more rarely instead of taking the disk.
pub(crate) const VIEW_BYTES_PER_SECOND: u64 = 8 * 1024 * 1024;

/// A journal that grows by this much a second races: many times what all turns of a flow stream,
/// and more than anybody follows. Its views earn nothing by time.
pub(crate) const VIEW_RACE_BYTES_PER_SECOND: u64 = 512 * 1024;

/// Streamed text is recorded in batches of about this size: large enough that a record's frame is
/// a small part of it, small enough that a screen folded from the journal moves.
pub const DRAFT_BYTES: usize = 4 * 1024;

/// Streamed text waits at most this long for its batch to fill.
pub(crate) const DRAFT_AGE_US: u64 = 250_000;

/// A checkpoint of the fold is written each time the journal grew by this much, so that a screen
/// of a long flow folds at most about this much, in a few hundredths of a second.
pub(crate) const CHECKPOINT_BYTES: u64 = 8 * 1024 * 1024;

/// A checkpoint is written at the end only when one part in this many of [`CHECKPOINT_BYTES`] came
/// after the last one. A reader folds less than that without a noticeable wait.
pub(crate) const CHECKPOINT_CLOSE_SHARE: u64 = 2;

/// The largest checkpoint that is read; a larger one is not ours.
pub(crate) const CHECKPOINT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The largest `views.json` that is read.
pub(crate) const VIEWS_INDEX_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The largest blob that is kept or read back whole.
pub(crate) const BLOB_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// The longest line in which a single flipped bit is searched for. The search tries every bit, so
/// its cost grows with the square of the length.
pub(crate) const MEND_BYTES_MAX: usize = 8 * 1024;

/// The largest file that an archive carries.
pub(crate) const ARCHIVE_FILE_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// The most files that an archive carries.
pub(crate) const ARCHIVE_FILES_MAX: usize = 1_000_000;

/// The longest list at the end of an archive that is read.
pub(crate) const ARCHIVE_LIST_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// How long the writer of a flow tries an unreachable ledger again before it stops: longer than a
/// database takes to hand over to its standby, shorter than a person waits without asking.
pub(crate) const LEDGER_PATIENCE: Duration = Duration::from_secs(30);

/// How long it waits after the first failure, and how long at most.
pub(crate) const LEDGER_PAUSE: Duration = Duration::from_millis(20);

/// The longest wait between two tries.
pub(crate) const LEDGER_PAUSE_MAX: Duration = Duration::from_secs(1);

/// How often an append without an answer is repeated at once, before it is tried with pauses.
pub(crate) const LEDGER_UNSURE_MAX: u32 = 2;

/// How often one send may find the ledger's end elsewhere. It moves back once for what the ledger
/// lost and forward once for what it took without an answer.
pub(crate) const LEDGER_MOVES_MAX: u32 = 4;

/// How often an open begins again because another worker went on with the flow meanwhile.
pub(crate) const LEDGER_OPENS_MAX: u32 = 8;

/// How many flows of a ledger are asked for at once.
pub(crate) const LEDGER_PAGE: usize = 500;

/// So many terminals of one workspace keep what is typed at them; more than a person has open at once.
pub(crate) const UNSENT_FILES_MAX: usize = 16;

/// So many texts that were not sent are kept of one terminal.
pub(crate) const UNSENT_TEXTS_MAX: usize = 64;

/// And so many bytes of them. The file is replaced each second while something is typed.
pub(crate) const UNSENT_BYTES_MAX: usize = 1024 * 1024;

/// The largest file about what was decided of one schedule: a few dozen runs and a reason.
pub(crate) const SCHEDULE_BYTES_MAX: u64 = 64 * 1024;
