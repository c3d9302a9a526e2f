//! Every limit of the facts, with its reason.

/// Longest record, newline included. A reader can hold one line without asking how long it is;
/// larger payloads go to blobs.
pub const RECORD_BYTES_MAX: usize = 1024 * 1024;

/// Texts longer than this are kept as a blob and named by hash, so that a line stays readable and
/// stays far below [`RECORD_BYTES_MAX`] even when every character needs escaping.
pub const INLINE_TEXT_BYTES_MAX: usize = 64 * 1024;

/// Artifacts up to this size are kept in the record that hands them over. A blob of its own costs
/// two syncs and a file, and most of what roles hand to one another is a page of text.
pub const INLINE_ARTIFACT_BYTES_MAX: usize = 16 * 1024;

/// Earlier texts of files up to this size, of one call together, are kept in the record of the call that
/// changes the files. A role that edits one larger file again and again keeps the same blob each time.
pub const INLINE_EARLIER_BYTES_MAX: usize = 16 * 1024;

/// The longest earlier text of a file that is kept, so that what a call changed can be shown afterwards. Longer
/// ones are not compared on any screen.
pub const EARLIER_TEXT_BYTES_MAX: usize = 1024 * 1024;

/// How much of earlier texts is kept for one call; a patch may remove many files at once.
pub const EARLIER_TEXTS_BYTES_MAX: usize = 8 * 1024 * 1024;

/// How much all artifacts of one handoff may take in its record, written as JSON; the others are
/// kept as blobs, so that a record to hundreds of receivers stays below [`RECORD_BYTES_MAX`].
pub const INLINE_HANDOFF_BYTES_MAX: usize = 384 * 1024;

/// How much of a blob is repeated in the record that names it, for screens that show a glimpse.
pub const BLOB_HEAD_BYTES_MAX: usize = 1024;

/// Longest name that becomes a folder or a file. Common file systems stop at 255 bytes, and a
/// temporary file adds a suffix.
pub(crate) const NAME_BYTES_MAX: usize = 128;

/// Longest opaque id.
pub(crate) const ID_BYTES_MAX: usize = 256;

/// How many questions, replies or requests a flow keeps open at once. A flow that reaches this is
/// not waiting for a person any more.
pub(crate) const OPEN_ITEMS_MAX: usize = 10_000;

/// How many rules about consent a flow has. They are written by hand, and each call is held against
/// all of them.
pub(crate) const CONSENT_RULES_MAX: usize = 1_000;

/// How many client commands a flow remembers, so that a repeated one counts once. A client repeats
/// a command within minutes of a lost answer, not after ten thousand others.
pub(crate) const CLIENT_IDS_MAX: usize = 10_000;

/// How many recoveries and repairs a flow's state keeps in view. All of them stay in the journal;
/// a flow that was recovered more often than this needs another disk, not a longer list.
pub(crate) const NOTICES_MAX: usize = 100;

/// How many decisions of a flow are held, the last ones: a glance back. The journal has all of them.
pub(crate) const DECISIONS_MAX: usize = 50;

/// How much is noted of what a decision or a request for consent is about: a line of a list.
pub(crate) const ABOUT_BYTES_MAX: usize = 240;

/// How many rules are counted one by one that decided. A few dozen are written by hand; those of a longer list
/// are counted together.
pub(crate) const RULES_COUNTED_MAX: usize = 200;

/// How many feed items of each role a screen holds: more than anybody scrolls back in a terminal.
pub(crate) const SCREEN_ITEMS_MAX: usize = 200;

/// How much of an item's text a screen holds. A terminal shows its first hundred columns, and two
/// hundred items stay below a quarter of a megabyte.
pub(crate) const SCREEN_TEXT_BYTES_MAX: usize = 1024;

/// How much of a tool's output a feed item repeats. The transcript holds all of it.
pub(crate) const FEED_OUTPUT_BYTES_MAX: usize = 4 * 1024;

/// How many files a session knows as they are. A role that saw more reads again what it replaces.
pub(crate) const SEEN_FILES_MAX: usize = 4_096;

/// Turns of a chat in which a model was asked, unless it began with another number. A longer talk about one thing is
/// rare, and its person can raise the budget; a script that talks to itself is stopped.
pub(crate) const CHAT_TURNS_MAX: u32 = 50;

/// Messages that wait until the turn of their session is over. They come from people and scripts, and a script that
/// repeats itself should be refused before a model has to read all of it.
pub(crate) const INJECTED_MAX: u32 = 100;
