//! What a model is asked, in no provider's words.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::str::FromStr;
use std::sync::Arc;

use a_society_facts::message::{ImageKind, Message};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::blocks::{Blocks, SaidBlocks};

/// One request to a model. It borrows, so that a long session is not copied for each.
#[derive(Debug, Clone, Copy)]
pub struct ModelRequest<'a> {
    /// The model, as its provider names it.
    pub model: &'a str,
    /// The system prompt; empty for none. It is the same for all requests of a session.
    pub system: &'a str,
    /// What follows it and differs from flow to flow; empty for none.
    pub environment: &'a str,
    /// The conversation so far. It is repaired while it is prepared.
    pub messages: &'a [HistoryMessage],
    /// The tools that it may call, in an order that stays the same, so that caches hold.
    pub tools: &'a [ToolDefinition],
    /// How hard it is to think; the provider's own default if absent.
    pub effort: Option<Effort>,
    /// How the model takes its effort.
    pub thinking: Thinking,
    /// The most tokens that it may answer, its reasoning included.
    pub max_output_tokens: u64,
    /// Whether images in results of calls are sent.
    pub images: bool,
    /// The name of the session, whose requests begin alike; absent for no caching.
    pub cache_key: Option<&'a str>,
    /// A name that sessions share whose prompts begin alike, as those of a role; it tells the
    /// provider where to look. The session's own name if absent.
    pub shared_key: Option<&'a str>,
}

/// An image that is sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct SentImage<'m> {
    pub kind: ImageKind,
    pub bytes: &'m [u8],
}

impl<'a> ModelRequest<'a> {
    /// The name under which a provider is to look for what it has cached.
    pub(super) fn provider_key(self) -> Option<&'a str> {
        self.cache_key?;
        self.shared_key.or(self.cache_key)
    }

    /// The image that goes with a result, if this model gets it: one whose bytes are at hand.
    pub(super) fn image<'m>(&self, message: &'m Message) -> Option<SentImage<'m>> {
        let image = message.image().filter(|_| self.images)?;
        Some(SentImage {
            kind: image.kind,
            bytes: image.data.as_deref()?,
        })
    }

    /// The system prompt with everything that follows it, for wires that take one text.
    pub(super) fn whole_system(self) -> Cow<'a, str> {
        if self.environment.is_empty() {
            return Cow::Borrowed(self.system);
        }
        if self.system.trim().is_empty() {
            return Cow::Borrowed(self.environment);
        }
        Cow::Owned(format!("{}\n{}", self.system, self.environment))
    }
}

/// A message of the conversation, with what its provider wants back unchanged.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryMessage {
    /// The message, which the session holds too.
    pub message: Arc<Message>,
    /// The blocks in which it came, if a model said it.
    pub blocks: Option<SaidBlocks>,
}

impl HistoryMessage {
    /// The blocks in which it came, if they can be read.
    pub(super) fn blocks(&self) -> Option<&Blocks> {
        self.blocks.as_ref()?.read()
    }
}

impl From<Message> for HistoryMessage {
    fn from(message: Message) -> Self {
        Self {
            message: Arc::new(message),
            blocks: None,
        }
    }
}

/// A tool that a model may call. Cheap to clone: the requests of all sessions have the same ones.
#[derive(Debug, Clone)]
pub struct ToolDefinition(Arc<Offered>);

#[derive(Debug)]
struct Offered {
    told: ToldTool,
    needs_arguments: bool,
}

/// A tool as a model sees it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToldTool {
    /// Its name: letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// The JSON schema of its arguments, an object.
    pub schema: Box<RawValue>,
}

impl From<ToldTool> for ToolDefinition {
    fn from(told: ToldTool) -> Self {
        #[derive(Deserialize)]
        struct Shape {
            #[serde(default)]
            required: Vec<String>,
        }
        let shape = serde_json::from_str::<Shape>(told.schema.get());
        let needs_arguments = shape.is_ok_and(|it| !it.required.is_empty());
        Self(Arc::new(Offered {
            told,
            needs_arguments,
        }))
    }
}

impl ToolDefinition {
    /// Whether a call without arguments cannot be meant.
    #[must_use]
    pub(crate) fn needs_arguments(&self) -> bool {
        self.0.needs_arguments
    }
}

impl Deref for ToolDefinition {
    type Target = ToldTool;

    fn deref(&self) -> &ToldTool {
        &self.0.told
    }
}

impl Serialize for ToolDefinition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.told.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ToolDefinition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ToldTool::deserialize(deserializer).map(Self::from)
    }
}

/// How hard a model is to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// Not at all.
    None,
    /// As little as it can.
    Minimal,
    /// A little.
    Low,
    /// As usual.
    Medium,
    /// A lot.
    High,
    /// More than a lot.
    XHigh,
    /// Without a limit.
    Max,
}

impl Effort {
    /// Every level, least first.
    pub const ALL: [Self; 7] = [
        Self::None,
        Self::Minimal,
        Self::Low,
        Self::Medium,
        Self::High,
        Self::XHigh,
        Self::Max,
    ];

    /// Its word, which is the same for every provider that knows it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
            Self::Max => "max",
        }
    }
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Effort {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        let known = Self::ALL.into_iter().find(|level| level.word() == word);
        known.ok_or(())
    }
}

/// How a model takes its effort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Thinking {
    /// It has no levels, or none that can be chosen: effort is not sent.
    #[default]
    Fixed,
    /// It takes the word itself.
    Levels,
    /// It takes a budget of tokens, as older Anthropic models do.
    Budget,
}

impl Thinking {
    /// Every way, the default first.
    pub const ALL: [Self; 3] = [Self::Fixed, Self::Levels, Self::Budget];

    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Levels => "levels",
            Self::Budget => "budget",
        }
    }
}

impl FromStr for Thinking {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        let known = Self::ALL.into_iter().find(|way| way.word() == word);
        known.ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_effort_reads_back_from_its_word() {
        for effort in Effort::ALL {
            assert_eq!(effort.word().parse(), Ok(effort));
        }
        assert_eq!("huge".parse::<Effort>(), Err(()));
    }

    #[test]
    fn a_tool_needs_arguments_if_its_schema_requires_one() {
        for (schema, needed) in [
            (r#"{"type":"object","required":["path"]}"#, true),
            (r#"{"type":"object","required":[]}"#, false),
            (r#"{"type":"object"}"#, false),
        ] {
            let tool = ToolDefinition::from(ToldTool {
                name: "t".into(),
                description: String::new(),
                schema: RawValue::from_string(schema.into()).unwrap(),
            });
            assert_eq!(tool.needs_arguments(), needed, "{schema}");
        }
    }
}
