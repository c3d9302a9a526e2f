//! Text that is still being streamed.

use crate::at::At;
use crate::id::{Seq, TurnId};
use crate::message::{ConfirmedDraft, lengthen};

/// The text of one request that arrived so far.
///
/// Adding a piece costs what the piece costs: the text is pushed onto, and its checksum goes on
/// from where it was. The size of the session has no part in it.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerDraft {
    /// The turn.
    pub turn: TurnId,
    /// Which request of the turn.
    pub request: u32,
    /// The text.
    pub text: String,
    /// Its CRC32C.
    pub crc: u32,
    /// The record that began it.
    pub seq: Seq,
    /// When it began.
    pub at: At,
}

impl AnswerDraft {
    pub(super) fn begin(turn: TurnId, request: u32, seq: Seq, at: At) -> Self {
        Self {
            turn,
            request,
            text: String::new(),
            crc: 0,
            seq,
            at,
        }
    }

    pub(super) fn push(&mut self, text: &str) {
        lengthen(&mut self.text, text);
        self.crc = crc32c::crc32c_append(self.crc, text.as_bytes());
    }

    /// Whether the answer refers to this draft.
    #[must_use]
    pub(crate) fn is(&self, drafted: &ConfirmedDraft) -> bool {
        self.text.len() as u64 == drafted.drafted_bytes && self.crc == drafted.drafted_crc
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_in_pieces_is_the_draft_as_a_whole() {
        let mut draft = AnswerDraft::begin(TurnId(1), 1, 1, At::default());
        for piece in ["Grüße, ", "", "Welt"] {
            draft.push(piece);
        }
        assert!(draft.is(&ConfirmedDraft::of("Grüße, Welt")));
        assert!(!draft.is(&ConfirmedDraft::of("Grüße, Wels")));
    }
}
