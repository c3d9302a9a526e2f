//! How much of a model's window each part of a replacement may fill.

use super::limits::{
    BYTES_A_TOKEN, KEPT_SHARE, LIST_SHARE, REQUEST_SHARE, SUMMARY_SHARE, SUMMARY_TOKENS_MAX,
    SUMMARY_TOKENS_MIN, WINDOW_UNKNOWN_TOKENS,
};

/// The parts of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shares {
    window_tokens: u64,
}

impl Shares {
    /// The parts of a window of so many tokens; 0 if unknown.
    #[must_use]
    pub const fn of(window_tokens: u64) -> Self {
        let window_tokens = if window_tokens == 0 {
            WINDOW_UNKNOWN_TOKENS
        } else {
            window_tokens
        };
        Self { window_tokens }
    }

    /// How long a summary may be, in tokens.
    #[must_use]
    pub(crate) fn summary_tokens(self) -> u64 {
        let share = self.window_tokens / SUMMARY_SHARE;
        share.clamp(SUMMARY_TOKENS_MIN, SUMMARY_TOKENS_MAX)
    }

    /// The same in bytes of text.
    #[must_use]
    pub fn summary_bytes(self) -> usize {
        bytes(self.summary_tokens())
    }

    /// How long the last unanswered request may be, in bytes.
    #[must_use]
    pub fn request_bytes(self) -> usize {
        bytes(self.window_tokens / REQUEST_SHARE)
    }

    /// How long the task list, or the facts of the flow, may be, in bytes.
    #[must_use]
    pub fn list_bytes(self) -> usize {
        bytes(self.window_tokens / LIST_SHARE)
    }

    /// How long the messages may be that stay without a summary, in bytes.
    #[must_use]
    pub fn kept_bytes(self) -> usize {
        bytes(self.window_tokens / KEPT_SHARE)
    }

    /// How long the material of a summary may be, in bytes. The rest of the window is for the summary
    /// itself and the text around it; text may be denser than usual.
    #[must_use]
    pub(crate) fn material_bytes(self) -> usize {
        let room = self.window_tokens - self.window_tokens / 4;
        let room = room.saturating_sub(self.summary_tokens());
        usize::try_from(room.saturating_mul(BYTES_A_TOKEN - 1)).unwrap_or(usize::MAX)
    }
}

fn bytes(tokens: u64) -> usize {
    usize::try_from(tokens.saturating_mul(BYTES_A_TOKEN)).unwrap_or(usize::MAX)
}
