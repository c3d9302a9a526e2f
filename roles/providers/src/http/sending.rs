//! A body on its way: piece by piece, with its length in the header.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use crate::body::RequestBody;

/// The pieces that were not sent yet.
#[derive(Debug)]
struct Sending {
    pieces: VecDeque<Bytes>,
    left_bytes: u64,
}

/// A body as the client takes it. One of a single piece can be sent a second time.
pub(super) fn sending(body: RequestBody) -> reqwest::Body {
    let left_bytes = body.len() as u64;
    let mut pieces = VecDeque::from(body.into_pieces());
    match (pieces.pop_front(), pieces.is_empty()) {
        (None, _) => reqwest::Body::default(),
        (Some(only), true) => only.into(),
        (Some(first), false) => {
            pieces.push_front(first);
            reqwest::Body::wrap(Sending { pieces, left_bytes })
        }
    }
}

impl http_body::Body for Sending {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.pieces.pop_front();
        let length = piece.as_ref().map_or(0, Bytes::len) as u64;
        self.left_bytes = self.left_bytes.saturating_sub(length);
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left_bytes)
    }
}
