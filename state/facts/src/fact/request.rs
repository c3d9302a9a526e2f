//! What a request to a model is made of besides its session, so that it can be written anew from the
//! journal alone.
//!
//! A session says the same at the beginning of each request: who is asked and how, which tools there
//! are, and where the role works. That is recorded with the first request of a session and again when
//! it changes. Everything in it that differs from machine to machine or from day to day without
//! meaning anything is in [`RequestFrame::environment`].

use serde::{Deserialize, Serialize};

use crate::message::Text;

/// What a request says besides the system prompt and the messages of its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestFrame {
    /// The provider, by its name in the configuration.
    pub provider: String,
    /// How it is spoken to, such as `anthropic`.
    pub wire: String,
    /// How it differs from others on this wire, each in a word.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dialect: Vec<String>,
    /// The model, as its provider names it.
    pub model: String,
    /// How hard it is to think; the provider's own default if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// How the model takes its effort.
    pub thinking: String,
    /// The most tokens that it may answer.
    pub max_output_tokens: u64,
    /// Whether images are sent that calls of the session read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub images: bool,
    /// The name by which requests of the session find what a provider has cached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_key: Option<String>,
    /// The name by which requests of all sessions of a role do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_key: Option<String>,
    /// The part of the system prompt that differs from flow to flow and from machine to machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<Text>,
    /// The tools, in order; each text is a JSON list of definitions. Those that many sessions have are
    /// a text of their own, so that it is kept once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Text>,
    /// What replaces the session's own prompt and messages, for a request beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Beside>,
}

/// What a request beside a session says, such as the one for a summary of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beside {
    /// The system prompt.
    pub system: Text,
    /// The messages, as a JSON list.
    pub messages: Text,
}

impl RequestFrame {
    /// Every text of it.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &Text> {
        let beside = self.beside.iter();
        let beside = beside.flat_map(|beside| [&beside.system, &beside.messages]);
        self.environment.iter().chain(&self.tools).chain(beside)
    }
}

/// Where a text of a system prompt came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptSource {
    /// What it is: `role`, `rules`, `document` or `skill`.
    pub part: String,
    /// Its path, from the project folder; empty for a text of the flow's own file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// The hash of the text.
    pub hash: crate::hash::Hash,
}
