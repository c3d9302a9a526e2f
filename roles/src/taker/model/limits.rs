//! Every number that bounds a model's turn, with its reason.

/// How full the window may be before the session is compacted, in hundredths: the rest is room
/// for the next answer and for what its tools return.
pub(super) const FULL_PERCENT: u64 = 80;

/// The same for a small window: one answer and its tool outputs take a larger part of it.
pub(super) const FULL_PERCENT_SMALL: u64 = 70;

/// Up to which size a window is small, in tokens.
pub(super) const SMALL_WINDOW_TOKENS: u64 = 32_768;

/// What a shorter session must free of the window to be worth a summary: one part of so many.
pub(super) const FREED_SHARE: u64 = 20;

/// How often in a row the session is compacted while the window stays full. The second time may
/// help where one long answer came in between; the third would not.
pub(super) const FRUITLESS_MAX: u32 = 2;

/// The fewest tokens that a server counts which has dropped a part of a request: no server has a
/// window of less than twice this. Fewer are not a count.
pub(super) const CUT_TOKENS_MIN: u64 = 256;

/// How often in a row an answer may hold only calls whose arguments cannot be read. A model that
/// cannot write them twice will not do so the third time.
pub(super) const MALFORMED_ROUNDS: u32 = 2;

/// At which repetition of the same call with the same result the model is warned.
pub(super) const SAME_SAID: u32 = 3;

/// How often in a row a provider may pause an answer and want the same conversation again.
pub(super) const PAUSES: u32 = 5;

/// How much streamed text is put into one step. Pieces of a few letters would cost more to hand on
/// than to say.
pub(super) const DRAFT_BYTES: usize = 2 * 1024;

/// How many calls that only read run at once: disks and networks gain little from more.
pub(super) const CALLS_AT_ONCE: usize = 8;

/// How many of the last tool outputs stay whole when older ones are left out of a request that
/// would not fit.
pub(super) const OUTPUTS_KEPT: usize = 4;

/// How long a tool output must be for it to be left out: short ones gain nothing.
pub(super) const OUTPUT_LEFT_OUT_BYTES: usize = 400;

/// How much of each message a summary is made from. The beginning says what it was about.
pub(super) const SUMMARISED_BYTES: usize = 24 * 1024;

/// The most tokens that a model may answer with when it makes a summary, its reasoning included.
pub(super) const SUMMARY_TOKENS: u64 = 4_000;

/// The part of a small window that the answer with a summary may fill.
pub(super) const SUMMARY_ANSWER_SHARE: u64 = 4;

/// How little of each message a summary is made from before messages are left out.
pub(super) const SUMMARISED_BYTES_MIN: usize = 512;

/// How often the material of a summary is halved because the provider refuses it as too long.
pub(super) const HALVINGS_MAX: u32 = 2;

/// How long a role waits for its summary between tries, all waits together: it can do without one.
pub(super) const SUMMARY_WAIT_MS: u64 = 30_000;

/// How often a model may choose what is not there before the operator is asked instead.
pub(super) const CHOICES: u32 = 3;

/// How long the answer of a choice may be, in tokens: room for models that think before they say
/// a few names.
pub(super) const CHOICE_TOKENS: u64 = 2_000;

/// How much of a role's instructions, and of each description, a choice is made from.
pub(super) const CHOICE_TEXT_BYTES: usize = 4 * 1024;

/// How many bytes of text make a token as a rule, where a fair guess is wanted.
pub(super) const BYTES_A_TOKEN_USUALLY: u64 = 4;

/// How many bytes of text make a token at most, runs of blanks aside.
pub(super) const BYTES_A_TOKEN_AT_MOST: u64 = 8;

/// How many such bytes an image counts for, where a fair guess is wanted.
pub(super) const IMAGE_BYTES_USUALLY: usize = 6_400;

/// How many tokens a provider makes of one image at most: twice what the dearest takes.
pub(super) const IMAGE_TOKENS_MAX: u64 = 10_000;

/// How long a request waits that would fit into the budget if those under way were over.
pub(super) const BUDGET_BUSY_MS: u64 = 250;

/// How long the name is under which sessions share a provider's cache; providers take no longer one.
pub(super) const SHARED_KEY_BYTES: usize = 64;
