//! Every number that bounds a tool, with its reason.

use std::time::Duration;

/// How much of an output a model gets: some twelve thousand tokens, enough to work with and too
/// little to fill a window with one call.
pub(super) const OUTPUT_BYTES: usize = 50 * 1024;

/// How many lines of it: a list of short lines costs more tokens than its bytes say.
pub(super) const OUTPUT_LINES: usize = 2_000;

/// How many bytes of text make a token as a rule.
pub(super) const BYTES_A_TOKEN: u64 = 4;

/// Into how many parts a window is taken, of which one output fills one at most.
pub(super) const WINDOW_PARTS: u64 = 8;

/// How much of an output is kept beside it. More is a log file, which a command can write itself.
pub(super) const BLOB_BYTES: usize = 4 * 1024 * 1024;

/// How long a command may take when it does not say: a test run of a small project.
pub(super) const COMMAND_MS: u64 = 120 * 1000;

/// How long a command may ask for: a build from nothing.
pub(super) const COMMAND_MAX_MS: u64 = 30 * 60 * 1000;

/// How long a command in the background may be awaited by one call.
pub(super) const COMMAND_WAIT_MS: u64 = 600_000;

/// How long a task list may be, in items and in characters of each; longer ones are not useful.
pub(super) const TODO_ITEMS: usize = 50;
/// See [`TODO_ITEMS`].
pub(super) const TODO_CHARS: usize = 200;

/// The longest command; what is longer belongs in a file that can be read before it runs.
pub(super) const COMMAND_BYTES: usize = 32 * 1024;

/// The longest arguments of any call; a larger file is written in parts.
pub(super) const ARGUMENTS_BYTES: usize = 4 * 1024 * 1024;

/// How much of a call's arguments a refusal repeats: enough to know which is meant.
pub(super) const REPEATED_CHARS: usize = 80;

/// The longest path that systems take.
pub(super) const PATH_BYTES: usize = 4096;

/// The largest file that is read or edited as a whole.
pub(super) const FILE_BYTES: u64 = 8 * 1024 * 1024;

/// The largest image that is sent. Providers count five megabytes in base64, which makes four bytes of three.
pub(super) const IMAGE_BYTES: usize = 5 * 1024 * 1024 / 4 * 3;

/// How many pixels an image may have on its longer side; providers refuse more, and with the request all
/// that the session says from then on.
pub(super) const IMAGE_SIDE: usize = 8_000;

/// How many images a session holds. With more in a request, providers take none that is larger than 2,000
/// pixels.
pub(super) const IMAGES: usize = 20;

/// How many bytes they have together: with base64 and the words, what one request may have.
pub(super) const IMAGES_BYTES: u64 = 20 * 1024 * 1024;

/// How much of a file's beginning decides whether it is text.
pub(super) const SNIFF_BYTES: usize = 8 * 1024;

/// Where a line of a file is cut when lines are shown: minified code is one line.
pub(super) const LINE_CHARS: usize = 2_000;

/// The largest file that is read in parts, from its beginning: some seconds.
pub(super) const STREAM_BYTES: u64 = 256 * 1024 * 1024;

/// How much of such a file is read at once.
pub(super) const STREAM_STEP_BYTES: usize = 256 * 1024;

/// The window up to which a model counts as small: that of models that run on one's own machine.
pub(super) const SMALL_WINDOW_TOKENS: u64 = 32 * 1024;

/// How many lines a small model reads when it does not say.
pub(super) const SMALL_LINES: u64 = 400;

/// How many lines are shown that are most like a text that was not found.
pub(super) const ALIKE_LINES: usize = 20;

/// How many files one patch may change: an operator who is asked would not review more.
pub(super) const PATCH_FILES: usize = 20;

/// How many changed lines the result of an edit shows.
pub(super) const CHANGED_LINES: usize = 40;

/// How many lines are shown of what changed since a file was read.
pub(super) const NEWER_LINES: usize = 60;

/// How many lines are shown of a file that would have been replaced unread.
pub(super) const UNREAD_LINES: usize = 5;

/// How many names similar to that of a missing file are suggested.
pub(super) const CLOSE_NAMES: usize = 3;

/// How long two texts are compared before the difference is taken as it is by then.
pub(super) const DIFFERENCE_TIME: Duration = Duration::from_millis(500);

/// How many texts of files are kept to say what changed in them, and how long each may be.
pub(super) const SEEN_TEXTS: usize = 64;
/// See [`SEEN_TEXTS`].
pub(super) const SEEN_TEXT_BYTES: usize = 256 * 1024;

/// How many entries of a folder are listed.
pub(super) const LIST_ENTRIES: usize = 1_000;

/// How many entries of a folder are looked at: a folder of a million must not take seconds.
pub(super) const LIST_LOOKED_AT: usize = 20_000;

/// How many matches a search gives.
pub(super) const SEARCH_MATCHES: usize = 200;

/// How many matches a search counts: enough to say how far the pattern is off.
pub(super) const SEARCH_COUNTED: usize = 10_000;

/// How many lines around a match a search gives.
pub(super) const SEARCH_CONTEXT: u64 = 10;

/// How many files a search looks into.
pub(super) const SEARCH_FILES: usize = 20_000;

/// How many entries of folders a search passes: a large repository, and not a whole disk.
pub(super) const SEARCH_ENTRIES: usize = 1_000_000;

/// How much a search reads in all.
pub(super) const SEARCH_BYTES: u64 = 256 * 1024 * 1024;

/// How long a search may take.
pub(super) const SEARCH_TIME: Duration = Duration::from_secs(10);

/// How deep a search goes; each folder on the way stays open.
pub(super) const SEARCH_DEPTH: usize = 64;

/// How much of an ignore file is read.
pub(super) const IGNORE_FILE_BYTES: u64 = 256 * 1024;

/// How large an expression may become when it is compiled, and how large what it remembers.
pub(super) const EXPRESSION_BYTES: usize = 10 * 1024 * 1024;

/// How many paths a pattern gives.
pub(super) const GLOB_FILES: usize = 200;

/// How many are held before all but the newest are forgotten.
pub(super) const GLOB_HELD: usize = 8_192;

/// How many files a toolbox remembers to have shown; the oldest are forgotten.
pub(super) const SEEN_FILES: usize = 4_096;

/// The longest answer that a web page may have; what is longer is cut.
pub(super) const FETCH_BYTES: usize = 1024 * 1024;

/// How long one web request may take, redirects included.
pub(super) const FETCH_TIME: Duration = Duration::from_secs(30);

/// How often a web page may lead to another.
pub(super) const FETCH_REDIRECTS: usize = 5;

/// The longest address.
pub(super) const URL_BYTES: usize = 8 * 1024;

/// The longest query, and how many results it may ask for.
pub(super) const QUERY_BYTES: usize = 2 * 1024;
/// See [`QUERY_BYTES`].
pub(super) const QUERY_RESULTS: u64 = 20;

/// How much of a line a match shows.
pub(super) const MATCH_BYTES: usize = 400;

/// How many sets of definitions are kept as they were written.
pub(super) const TOOL_SETS: usize = 16;
