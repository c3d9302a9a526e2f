//! The body of a request: pieces in order, which other requests of the session share.

use std::borrow::Cow;

use bytes::Bytes;

/// The bytes of a body. A copy of it copies none of them.
#[derive(Debug, Clone, Default)]
pub struct RequestBody {
    pieces: Vec<Bytes>,
    bytes: usize,
}

impl RequestBody {
    /// The body that these pieces make.
    #[must_use]
    pub(crate) fn of(pieces: Vec<Bytes>) -> Self {
        let bytes = pieces.iter().map(Bytes::len).sum();
        Self { pieces, bytes }
    }

    /// How long it is.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.bytes
    }

    /// Whether it holds nothing.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// All of it in one piece.
    #[must_use]
    pub fn whole(&self) -> Cow<'_, [u8]> {
        match self.pieces.as_slice() {
            [one] => Cow::Borrowed(one),
            pieces => Cow::Owned(pieces.concat()),
        }
    }

    /// Its pieces.
    #[must_use]
    pub(crate) fn into_pieces(self) -> Vec<Bytes> {
        self.pieces
    }
}

impl From<Vec<u8>> for RequestBody {
    fn from(bytes: Vec<u8>) -> Self {
        Self::of(vec![bytes.into()])
    }
}
