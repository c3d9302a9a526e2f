//! Every limit of the driver, with its reason.

use std::time::Duration;

/// The largest artifact that is handed over. It is kept as a blob and shown to its receiver.
pub const ARTIFACT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The largest flow file. The parser refuses larger ones itself; this spares reading them.
pub const FLOW_FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The largest flow file that is offered where one is to be chosen. They are written by hand; what is larger is
/// something else, and is run only by its name.
pub(crate) const FLOW_FILE_OFFERED_BYTES_MAX: u64 = 256 * 1024;

/// How many entries of folders are looked at for flow files; a workspace may be the folder of all.
pub(crate) const FLOW_FILES_ENTRIES_LOOKED_AT_MAX: usize = 2_000;

/// How deep flow files are looked for.
pub(crate) const FLOW_FILES_DEPTH_MAX: usize = 2;

/// How many turns of one flow run at once, unless it is set otherwise. More of them wait; a person
/// cannot follow more, and a provider's limits are met sooner.
pub(crate) const TURNS_AT_ONCE: usize = 8;

/// How many turns run at once in the process, over all its flows.
pub(crate) const TURNS_AT_ONCE_IN_PROCESS: usize = 32;

/// How many threads of a flow wait for its next turn: a chain of nodes needs one, and its stages a few.
pub(crate) const IDLE_THREADS_MAX: usize = 4;

/// How long such a thread waits. A flow that moves gives it a turn at once.
pub(crate) const IDLE_THREAD_TIME: Duration = Duration::from_secs(1);

/// How many commands of a flow wait at once until something outside is found out. Each has a thread; an operator
/// gives one at a time, and a program that gives more gets an error.
pub(crate) const COMMAND_ERRANDS_MAX: usize = 16;

/// How long a command waits at most until something outside is found out, such as what a server of tools offers.
/// It is less than the time that a client waits for its answer.
pub(crate) const COMMAND_ERRAND_US: u64 = 20_000_000;

/// How many messages wait for a flow's task before the next sender waits for a place.
pub(crate) const INBOX_MAX: usize = 256;

/// How much is kept of why a flow was cancelled. It is part of its record, in a feed and in lists; a few
/// sentences are enough.
pub(crate) const CANCEL_REASON_BYTES_MAX: usize = 16 * 1024;

/// How many commands are known by name that had a request tried at once: far more than a client
/// sends before it gets an answer to the first. A turn takes a dozen of them at most.
pub(crate) const HURRIED_MAX: usize = 64;

/// How many steps a turn that never waits takes before others have theirs.
pub(crate) const STEPS_AT_ONCE: usize = 64;

/// How often a flow that moves looks whether its views are due.
pub(crate) const TICK_MS: u64 = 50;

/// How long an idle flow waits for a command before it writes its views. A client that answers at once,
/// as a program does, would have them written twice; and for all others they are still fresh.
pub(crate) const REST_MS: u64 = 100;

/// How often a flow that waits for a limit to reset looks at the clock, which may be set meanwhile.
pub(crate) const WAKE_LOOK_MS: u64 = 10_000;

/// The furthest moment at which a limit of a provider resets: a week has passed by then, and those that
/// are counted by the month are better looked at by the operator.
pub(crate) const LIMIT_RESETS_MS_MAX: u64 = 8 * 24 * 60 * 60 * 1000;

/// How long a flow that moves looks the same from outside. People and pages do not see faster.
pub(crate) const LOOK_US: u64 = 20_000;

/// How long the blocks of a provider in the record of an answer may be. They repeat the text and
/// the calls, and a record that holds both must not become longer than a record may be.
pub(crate) const PROVIDER_BLOCKS_BYTES_MAX: usize = 256 * 1024;

/// How much of a model's window the artifacts of a packet take together. What is longer is named, with
/// its length; the role reads of it what it needs.
pub(crate) const ARTIFACTS_SHARE_PERCENT: u64 = 40;

/// Into how many parts a small window is taken, of which readings fill one at most.
pub(crate) const READINGS_PARTS: u64 = 4;

/// How long a token is taken to be.
pub(crate) const BYTES_A_TOKEN: u64 = 4;

/// The window of models for which none is configured, and of roles that are no models.
pub(crate) const UNKNOWN_WINDOW_TOKENS: u64 = 200_000;

/// How much of a role's findings is shown to others; the rest is in the file.
pub(crate) const SHOWN_ARTIFACT_BYTES_MAX: usize = 48 * 1024;

/// How much of all findings together is shown to a role that gets them, each with an equal share. A
/// hundred roles in full would be more than a model takes in.
pub(crate) const SHOWN_FINDINGS_BYTES_MAX: usize = 512 * 1024;

/// The largest text of a project that is read as a whole. Roles read these in full, and a megabyte
/// is more than any model takes in.
pub(crate) const PROJECT_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// How many folders of a workspace are looked at as projects. A home folder has fewer.
pub(crate) const PROJECTS_MAX: usize = 10_000;

/// How many role folders of a project are looked at. A graph with more roles is not read by anybody.
pub(crate) const PROJECT_ROLES_MAX: usize = 1000;

/// How many names of files a plan says one by one; it is read by people.
pub(crate) const RECORD_NAMES_SHOWN: usize = 12;

/// How many files of a record folder are looked at for such a plan.
pub(crate) const RECORD_FILES_MAX: usize = 10_000;

/// How many entries of a project are looked at for files that a person may hand over.
pub(crate) const PROJECT_ENTRIES_MAX: usize = 20_000;

/// How deep a record folder is looked at.
pub(crate) const RECORD_DEPTH_MAX: usize = 32;

/// The largest file of another program's state that is read. Sessions of months stay below it, and
/// one is held in memory while it is taken over.
pub(crate) const IMPORTED_FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// How much of a session or a feed one record of an import carries, roughly. Far below the longest
/// record, because one message more may follow.
pub(crate) const IMPORTED_PART_BYTES: usize = 128 * 1024;

/// The longest text of an imported message that is kept in a record; a longer one is kept as a blob
/// and shown by its beginning. Even when every character of it needs two, the record holds it.
pub(crate) const IMPORTED_TEXT_BYTES_MAX: usize = 384 * 1024;

/// How many members without a place an import lists; the files that hold them are kept whole.
pub(crate) const WITHOUT_PLACE_MAX: usize = 500;

/// How many changes of a graph are listed one by one. A longer list is not useful, and a graph may have
/// thousands of nodes.
pub(crate) const CHANGES_SAID_MAX: usize = 200;

/// How much of one thing that is wrong with a project is recorded and shown in a question.
pub(crate) const AILMENT_BYTES_MAX: usize = 400;

/// How many things that are wrong with a project one question names.
pub(crate) const AILMENTS_SHOWN_MAX: usize = 20;

/// How many things that are wrong with a project an import records. Of a project with more, nothing is
/// recorded, and everything that is found later counts as older than the flow.
pub(crate) const AILMENTS_RECORDED_MAX: usize = 400;

/// The longest text that many sessions have in common which is still repeated in the records of each.
pub(crate) const FRAME_INLINE_BYTES_MAX: usize = 1024;

/// How many longer texts of requests a process remembers to have kept. There are as many as there are
/// different sets of tools.
pub(crate) const FRAME_TEXTS_MAX: usize = 64;

/// How many sets of tools a flow remembers to have kept: roles differ in a few ways.
pub(crate) const FRAME_TOOLS_MAX: usize = 8;

/// A wait for a limit that another role met is recorded from here on. What is shorter is over before it is read.
pub(crate) const HELD_RECORDED_MS: u64 = 1_000;

/// The most of `.git/HEAD` that is read for the branch of a chat: one line.
pub(crate) const GIT_HEAD_BYTES_MAX: u64 = 4 * 1024;
