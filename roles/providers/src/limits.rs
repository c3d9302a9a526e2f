//! Every number that bounds an exchange with a provider, with its reason.

use std::time::Duration;

/// How often something may arrive before it is read. A model that is faster than its reader is slowed down.
pub(crate) const ARRIVALS_WAITING: usize = 64;

/// How long words that come fast are gathered before they are passed on. A hundredth of a second is not
/// visible, and each event wakes a reader.
pub(crate) const GATHERED_TIME: Duration = Duration::from_millis(10);

/// How much text is passed on at once, however fast it comes.
pub(crate) const GATHERED_BYTES: usize = 4 * 1024;

/// How long connecting may take: far networks need a second or two, and dead ones never answer.
pub(crate) const CONNECT: Duration = Duration::from_secs(15);

/// How long the beginning of an answer may take. A provider reads a long prompt before it sends
/// anything.
pub(crate) const FIRST_BYTE: Duration = Duration::from_secs(120);

/// How long nothing at all may come while an answer is under way.
pub(crate) const IDLE: Duration = Duration::from_secs(300);

/// How long only signs of life may come. They keep a connection open on which nothing happens.
pub(crate) const ONLY_PINGS: Duration = Duration::from_secs(600);

/// How long one answer may take. The longest outputs of slow models take less than half of it.
pub(crate) const WHOLE_ANSWER: Duration = Duration::from_secs(60 * 60);

/// After how long without data the operator is notified, and how often again.
pub(crate) const STALLED: Duration = Duration::from_secs(30);

/// How long the rest of a response may take whose answer is whole. It is a few bytes, and with them
/// the connection serves the next request.
pub(crate) const REST: Duration = Duration::from_secs(2);

/// How long the same may take when that time passed while nothing drove the connection.
pub(crate) const REST_AGAIN: Duration = Duration::from_millis(50);

/// From what length on the beginning of a conversation is kept as it was written: writing and hashing
/// less takes some ten microseconds.
pub(crate) const SENT_BYTES_MIN: usize = 16 * 1024;

/// From what length on a body leaves in pieces. A shorter one is copied into one buffer, which costs less
/// than handing on several.
pub(crate) const BODY_PIECES_BYTES_MIN: usize = 512 * 1024;

/// How much is kept of beginnings, over all conversations. The oldest go first; their requests are
/// written whole the next time, and nothing else changes.
pub(crate) const SENT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How much of a response that reports an error is read. Its reason is at the beginning.
pub(crate) const ERROR_BODY_BYTES: usize = 64 * 1024;

/// How much of a provider's own words an error repeats.
pub(crate) const ERROR_WORDS_BYTES: usize = 500;

/// How long one line of a stream may be, and one event. Some wires repeat the whole answer in
/// their last event.
pub(crate) const EVENT_BYTES: usize = 16 * 1024 * 1024;

/// How long a whole stream may be: the longest text and the longest arguments, in events that
/// are mostly frame.
pub(crate) const STREAM_BYTES: u64 = 512 * 1024 * 1024;

/// How much text one answer may have; more is cut, as at an output limit.
pub(crate) const TEXT_BYTES: usize = 4 * 1024 * 1024;

/// How much reasoning one answer may have; more is not kept.
pub(crate) const REASONING_BYTES: usize = 4 * 1024 * 1024;

/// How long the arguments of one call may be.
pub(crate) const ARGUMENTS_BYTES: usize = 1024 * 1024;

/// How many calls of one answer are run; the others get an error as their result.
pub(crate) const CALLS: usize = 64;

/// How many blocks one answer may have. Beyond that it is no answer.
pub(crate) const BLOCKS: usize = 4_096;

/// How much of arguments that are at fault the model is shown.
pub(crate) const FAULTY_HEAD_CHARS: usize = 200;

/// The most tokens that a provider's count is believed. It is above every window there is.
pub(crate) const BELIEVABLE_TOKENS: u64 = 1_000_000_000;
