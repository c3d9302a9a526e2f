//! The request of a role without a model: all words that it got in the turn. Nothing of it leaves the
//! program, and its hash identifies its input as well as that of a model's request does.

use std::sync::Arc;

use a_society_facts::Hash;
use a_society_facts::message::Message;
use serde::Serialize;

use super::step::{Asking, Worst};

/// How requests of a script are recorded.
pub const SCRIPT: &str = "scripted";

/// How requests of a program are recorded: there is no model.
pub const PROGRAM: &str = "command";

/// The words that a role got in its turn, the oldest first.
#[derive(Debug, Clone, Default)]
pub struct TurnWords(Vec<String>);

#[derive(Debug, Serialize)]
struct WordsRequest<'a> {
    told: &'a [String],
    answered: u64,
}

impl TurnWords {
    /// Those in this part of a session.
    #[must_use]
    pub(crate) fn of(part: &[Arc<Message>]) -> Self {
        let said = part.iter().filter_map(|message| match &**message {
            Message::User { content } => Some(content.clone()),
            Message::Assistant { .. }
            | Message::AssistantToolCalls { .. }
            | Message::ToolResult { .. } => None,
        });
        Self(said.collect())
    }

    /// Appends words.
    pub fn hear(&mut self, words: &str) {
        self.0.push(words.to_owned());
    }

    /// The request that follows so many answers, as one line of JSON.
    #[must_use]
    pub fn request(&self, answered: u64) -> Vec<u8> {
        let told = &self.0;
        serde_json::to_vec(&WordsRequest { told, answered }).unwrap_or_default()
    }

    /// The same, before it counts.
    #[must_use]
    pub(crate) fn asking(&self, model: &str, answered: u64) -> Asking {
        Asking {
            model: model.to_owned(),
            hash: Hash::of(&self.request(answered)),
            frame: None,
            worst: Worst::default(),
        }
    }
}
