//! Writing requests: what the three wires do, asked of whichever it is.

use std::borrow::Cow;

use crate::repair::PartingPoint;
use crate::request::{HistoryMessage, ModelRequest};
use crate::speech::{ChatDialect, Wire};
use crate::wire::ids::Ids;
use crate::wire::written::{SplitHistory, WrittenRequest};
use crate::wire::{anthropic, chat, responses};

/// Writes the requests to one provider.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pen<'a> {
    pub(super) provider: &'a str,
    pub(super) wire: Wire,
    pub(super) dialect: ChatDialect,
}

impl Pen<'_> {
    /// Where a mended history may be parted so that whatever is before it is written in the same way
    /// in the next request.
    pub(super) fn part(
        self,
        messages: &[Cow<'_, HistoryMessage>],
        parts: &[PartingPoint],
    ) -> Option<PartingPoint> {
        match self.wire {
            Wire::Anthropic => anthropic::part(messages, parts),
            Wire::Chat => chat::part(messages, parts),
            Wire::Responses => parts.last().copied(),
        }
    }

    /// Whether a request can be written from here on, without the messages before.
    pub(super) fn stands_alone(self, messages: &[Cow<'_, HistoryMessage>]) -> bool {
        match self.wire {
            Wire::Anthropic => anthropic::stands_alone(messages),
            Wire::Chat | Wire::Responses => true,
        }
    }

    /// Writes a request whose messages are those that stay as they are written, and the rest.
    pub(super) fn write(
        self,
        request: &ModelRequest<'_>,
        messages: SplitHistory<'_>,
        ids: &mut Ids<'_>,
    ) -> serde_json::Result<WrittenRequest> {
        match self.wire {
            Wire::Anthropic => anthropic::write(request, messages, ids),
            Wire::Chat => chat::write(request, messages, ids, self.dialect),
            Wire::Responses => responses::write(request, messages, ids),
        }
    }
}
