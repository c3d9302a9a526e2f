//! How providers are spoken to: by which wire, and how servers of one wire differ.

use std::fmt;
use std::str::FromStr;

/// How requests are written and answers are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// Chat Completions, as many servers speak it.
    Chat,
    /// `OpenAI` Responses.
    Responses,
}

impl Wire {
    /// Every wire.
    pub const ALL: [Self; 3] = [Self::Anthropic, Self::Chat, Self::Responses];

    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Chat => "openai-chat",
            Self::Responses => "openai-responses",
        }
    }

    /// Whether results of calls may hold images. On the Chat Completions wire they are text.
    #[must_use]
    pub const fn takes_images(self) -> bool {
        match self {
            Self::Anthropic | Self::Responses => true,
            Self::Chat => false,
        }
    }

    /// Where its own provider is reached.
    #[must_use]
    pub fn home(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::Chat | Self::Responses => "https://api.openai.com/v1",
        }
    }

    pub(crate) fn path(self, base: &str) -> &'static str {
        match self {
            Self::Anthropic if base.ends_with("/v1") => "/messages",
            Self::Anthropic => "/v1/messages",
            Self::Chat => "/chat/completions",
            Self::Responses => "/responses",
        }
    }
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Wire {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        let known = Self::ALL.into_iter().find(|wire| wire.word() == word);
        known.ok_or(())
    }
}

/// How servers of this wire differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChatDialect {
    /// Whether the output limit is called `max_completion_tokens`, as by `OpenAI` itself, and not
    /// `max_tokens`, as by everyone else.
    pub completion_tokens: bool,
    /// Whether requests may name what they share a cache by.
    pub cache_key: bool,
}

/// How a provider is spoken to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderSpeech {
    /// Its name in the configuration.
    pub provider: String,
    /// The wire.
    pub wire: Wire,
    /// How it differs from others on the Chat Completions wire.
    pub dialect: ChatDialect,
}
