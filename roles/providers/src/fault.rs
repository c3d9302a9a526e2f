//! Why a request to a model failed.

use std::fmt;

use a_society_facts::fact::node::Trouble;

/// One failure of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestFault {
    /// What kind of failure.
    pub class: FaultClass,
    /// What happened, in words, without secrets.
    pub message: String,
    /// The HTTP status, if there was one.
    pub status: Option<u16>,
    /// How long the provider asks to be left alone.
    pub retry_after_ms: Option<u64>,
    /// Whether anything of an answer had arrived.
    pub streamed: bool,
    /// The provider's name for the exchange, for its support.
    pub request_id: Option<String>,
}

impl RequestFault {
    /// A fault of which nothing more is known.
    #[must_use]
    pub fn new(class: FaultClass, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            status: None,
            retry_after_ms: None,
            streamed: false,
            request_id: None,
        }
    }

    /// Whether the same request may succeed later.
    #[cfg(test)]
    #[must_use]
    pub(crate) fn is_retryable(&self) -> bool {
        match self.class.remedy() {
            Remedy::Again | Remedy::Once => true,
            Remedy::Compact | Remedy::Operator | Remedy::Nothing => false,
        }
    }
}

impl fmt::Display for RequestFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.class, self.message)
    }
}

impl std::error::Error for RequestFault {}

/// What helps against a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// The same request, after a while.
    Again,
    /// The same request, one more time.
    Once,
    /// A shorter conversation.
    Compact,
    /// The operator: a key, a plan, another model.
    Operator,
    /// Nothing.
    Nothing,
}

/// The kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultClass {
    /// The provider was not reached, or the connection broke before an answer began.
    Network,
    /// The provider's certificate is not to be trusted.
    Tls,
    /// No answer began in time.
    Timeout,
    /// An answer began and then nothing more came.
    Stalled,
    /// An answer ended before it was whole.
    CutOff,
    /// What came is not what the wire allows.
    Garbled,
    /// Something else than a provider answered.
    NotAProvider,
    /// Too many requests for now.
    RateLimit,
    /// The provider is too busy.
    Overloaded,
    /// The provider failed.
    Server,
    /// Two requests got in each other's way.
    Conflict,
    /// The money or the quota is used up.
    SpendLimit,
    /// The key is missing or wrong.
    Key,
    /// The key may not do this.
    Forbidden,
    /// There is no such model or address.
    NotFound,
    /// The request is longer than the provider takes.
    TooLarge,
    /// The conversation is longer than the model's window.
    WindowFull,
    /// The provider's policy forbids it.
    Policy,
    /// The provider does not accept the request.
    BadRequest,
    /// The provider sends us elsewhere, and a key goes nowhere else.
    Redirected,
    /// The request is not one that may be sent at all.
    Invalid,
    /// Enough requests failed in a row that none is sent for a while.
    CircuitOpen,
    /// The operator stopped it.
    Stopped,
}

impl FaultClass {
    /// Every class.
    #[cfg(test)]
    pub(crate) const ALL: [Self; 23] = [
        Self::Network,
        Self::Tls,
        Self::Timeout,
        Self::Stalled,
        Self::CutOff,
        Self::Garbled,
        Self::NotAProvider,
        Self::RateLimit,
        Self::Overloaded,
        Self::Server,
        Self::Conflict,
        Self::SpendLimit,
        Self::Key,
        Self::Forbidden,
        Self::NotFound,
        Self::TooLarge,
        Self::WindowFull,
        Self::Policy,
        Self::BadRequest,
        Self::Redirected,
        Self::Invalid,
        Self::CircuitOpen,
        Self::Stopped,
    ];

    /// What the operator has to mend, when nothing else helps.
    #[must_use]
    pub const fn trouble(self) -> Trouble {
        match self {
            Self::Key | Self::Forbidden => Trouble::Key,
            Self::SpendLimit => Trouble::Credit,
            Self::NotFound => Trouble::Model,
            Self::RateLimit => Trouble::Limit,
            Self::TooLarge | Self::WindowFull => Trouble::Window,
            Self::Policy | Self::BadRequest | Self::Invalid | Self::Stopped => Trouble::Refused,
            Self::Network
            | Self::Tls
            | Self::Timeout
            | Self::Stalled
            | Self::CutOff
            | Self::Garbled
            | Self::NotAProvider
            | Self::Overloaded
            | Self::Server
            | Self::Conflict
            | Self::Redirected
            | Self::CircuitOpen => Trouble::Unreachable,
        }
    }

    /// The word by which facts know it; people read it with spaces.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::Tls => "tls",
            Self::Timeout => "timeout",
            Self::Stalled => "stalled",
            Self::CutOff => "cut_off",
            Self::Garbled => "garbled",
            Self::NotAProvider => "not_a_provider",
            Self::RateLimit => "rate_limit",
            Self::Overloaded => "overloaded",
            Self::Server => "server",
            Self::Conflict => "conflict",
            Self::SpendLimit => "spend_limit",
            Self::Key => "key",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::TooLarge => "too_large",
            Self::WindowFull => "window_full",
            Self::Policy => "policy",
            Self::BadRequest => "bad_request",
            Self::Redirected => "redirected",
            Self::Invalid => "invalid",
            Self::CircuitOpen => "circuit_open",
            Self::Stopped => "stopped",
        }
    }

    /// What helps against it.
    #[must_use]
    pub fn remedy(self) -> Remedy {
        match self {
            Self::Network
            | Self::Timeout
            | Self::Stalled
            | Self::CutOff
            | Self::Garbled
            | Self::RateLimit
            | Self::Overloaded
            | Self::Server
            | Self::CircuitOpen => Remedy::Again,
            Self::Conflict => Remedy::Once,
            Self::WindowFull | Self::TooLarge => Remedy::Compact,
            Self::Tls
            | Self::NotAProvider
            | Self::SpendLimit
            | Self::Key
            | Self::Forbidden
            | Self::NotFound
            | Self::Redirected => Remedy::Operator,
            Self::Policy | Self::BadRequest | Self::Invalid | Self::Stopped => Remedy::Nothing,
        }
    }
}

impl fmt::Display for FaultClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.word().replace('_', " "))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_class_has_a_word_of_its_own() {
        let words: BTreeSet<&str> = FaultClass::ALL.iter().map(|class| class.word()).collect();
        assert_eq!(words.len(), FaultClass::ALL.len());
    }
}
