//! The bounds of messages.

/// The longest frame that a client may send: a text of the operator may be as long as the input of a flow.
pub(crate) const FRAME_BYTES_MAX: usize = 16 << 20;

/// How much more of a frame is read, so that a command that is too long is refused under its name.
pub(crate) const FRAME_BYTES_OVER: usize = 1 << 20;

/// How deep the JSON of a client may nest. The messages here nest four deep.
pub(crate) const NESTING_MAX: usize = 32;

/// How many items of a feed a new subscription gets if it does not say how many.
pub(crate) const WINDOW_DEFAULT: u32 = 200;

/// How many items of a feed a new subscription gets at the most; a page shows some dozens.
pub(crate) const WINDOW_MAX: u32 = 1_000;

/// How much of an item's text is in the item. The rest is read on demand, as few items are opened.
pub(crate) const ITEM_TEXT_BYTES_MAX: usize = 4 << 10;

/// The longest name a client may give to a command.
pub(crate) const CLIENT_ID_BYTES_MAX: usize = 128;
