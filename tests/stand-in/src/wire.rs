//! The wires that providers speak, distinguished by the path of a request.

use serde_json::json;

/// A wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// Chat Completions.
    Chat,
    /// OpenAI Responses.
    Responses,
}

impl Wire {
    /// The one that is spoken at a path.
    #[must_use]
    pub fn at(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default();
        [
            ("/messages", Self::Anthropic),
            ("/chat/completions", Self::Chat),
            ("/responses", Self::Responses),
        ]
        .into_iter()
        .find_map(|(end, wire)| path.ends_with(end).then_some(wire))
    }

    /// A refusal as its providers word it.
    #[must_use]
    pub fn refusal(self, why: &str) -> String {
        let error = json!({ "type": "invalid_request_error", "message": why });
        match self {
            Self::Anthropic => json!({ "type": "error", "error": error }),
            Self::Chat | Self::Responses => json!({ "error": error }),
        }
        .to_string()
    }
}
