//! A whole answer of a model.

use a_society_facts::fact::turn::{StopReason, Usage};
use serde_json::value::RawValue;

use super::blocks::Blocks;

/// Everything a model answered to one request.
#[derive(Debug, Clone)]
pub struct ModelAnswer {
    /// Its text, without the reasoning.
    pub text: String,
    /// What it wants done, in order.
    pub calls: Vec<ModelCall>,
    /// Why it stopped.
    pub stop: AnswerStop,
    /// What it used, as its provider counted; without a cost, which is not the provider's to say.
    pub usage: Usage,
    /// Whether the provider counted at all, and believably.
    pub usage_is_known: bool,
    /// The answer as the provider wants it back.
    pub blocks: Option<Blocks>,
    /// The provider's name for the exchange, for its support.
    pub request_id: Option<String>,
}

/// A tool call, as a model asked for it.
#[derive(Debug, Clone)]
pub struct ModelCall {
    /// The provider's name for it, which may be empty or used before. Transcripts use names of
    /// their own.
    pub provider_id: String,
    /// The tool, which may be none that was offered.
    pub name: String,
    /// The arguments, always an object: the very bytes that came, or `{}` if they are at fault.
    pub input: Box<RawValue>,
    /// Why it must not run.
    pub fault: Option<CallFault>,
}

/// Why a call that a model asked for must not run. The model gets it as the call's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallFault {
    /// The arguments are not JSON.
    NotJson {
        /// What is wrong, and where.
        why: String,
        /// How the arguments begin.
        head: String,
    },
    /// The arguments are JSON, but not an object.
    NotAnObject {
        /// How the arguments begin.
        head: String,
    },
    /// The tool needs arguments and got none.
    NoArguments,
    /// The arguments are longer than is accepted.
    TooLong {
        /// How much is accepted.
        limit_bytes: usize,
    },
    /// One answer has more calls than are accepted.
    TooMany {
        /// How many are accepted.
        limit: usize,
    },
    /// The answer ended before, or without, the point at which its calls count.
    CutOff,
    /// It has no name.
    NoName,
}

impl CallFault {
    /// The result that the model gets instead.
    #[must_use]
    pub fn told(&self) -> String {
        match self {
            Self::NotJson { why, head } => {
                format!("The arguments were not valid JSON: {why}. They began: {head}")
            }
            Self::NotAnObject { head } => {
                format!("The arguments must be a JSON object. They were: {head}")
            }
            Self::NoArguments => "The call had no arguments, and this tool needs them.".to_owned(),
            Self::TooLong { limit_bytes } => {
                format!("The arguments were longer than {limit_bytes} bytes; the call was not run.")
            }
            Self::TooMany { limit } => format!(
                "One answer may have {limit} calls; this one was not run. Ask for it again."
            ),
            Self::CutOff => {
                "The answer was cut off, so this call was not run. Ask for it again.".to_owned()
            }
            Self::NoName => "The call did not name a tool.".to_owned(),
        }
    }

    /// Whether the model wrote something that it must write differently. More than two rounds of
    /// these in a row end a turn.
    #[must_use]
    pub fn is_malformed(&self) -> bool {
        match self {
            Self::NotJson { .. }
            | Self::NotAnObject { .. }
            | Self::NoArguments
            | Self::TooLong { .. }
            | Self::NoName => true,
            Self::TooMany { .. } | Self::CutOff => false,
        }
    }
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerStop {
    /// It was done.
    End,
    /// It wants its calls to run. Only then may they.
    Tools,
    /// It reached its output limit.
    OutputLimit,
    /// The window is full: the session must be compacted.
    WindowFull,
    /// It declined, or a filter did for it.
    Refusal,
    /// The provider paused: the same conversation with this answer is to be sent again.
    Paused,
    /// Something else, in the provider's word.
    Other(String),
}

impl AnswerStop {
    /// As a fact records it.
    #[must_use]
    pub fn reason(&self) -> StopReason {
        match self {
            Self::End => StopReason::End,
            Self::Tools => StopReason::Tools,
            Self::OutputLimit | Self::WindowFull => StopReason::OutputLimit,
            Self::Refusal => StopReason::Refusal,
            Self::Paused | Self::Other(_) => StopReason::Other,
        }
    }
}
