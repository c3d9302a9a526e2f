//! An answer exactly as its provider sent it, kept so that the same provider gets it back unchanged.
//!
//! Signed reasoning, encrypted items and blocks that are not known here have no place in a
//! transcript's four shapes. They are kept beside the message, byte for byte, with the provider
//! and the model that produced them: another model never sees them.

use std::sync::{Arc, OnceLock};

use a_society_facts::fact::turn::RawValueEq;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use a_society_base::redact::Redactor;

/// Members that only their provider can read. Their letters mean nothing, even where they look like
/// a key.
const OPAQUE: [&str; 4] = ["signature", "encrypted_content", "data", "id"];

/// The blocks of one answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Blocks {
    /// The provider, by its name in the configuration.
    pub provider: String,
    /// The model that spoke.
    pub model: String,
    /// Whether the provider stopped in between and wants the same conversation again to go on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
    /// The blocks, in their order.
    pub blocks: Vec<Box<RawValue>>,
}

impl PartialEq for Blocks {
    fn eq(&self, other: &Self) -> bool {
        self.provider == other.provider
            && self.model == other.model
            && self.paused == other.paused
            && self.texts().eq(other.texts())
    }
}

impl Blocks {
    fn texts(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().map(|raw| raw.get())
    }

    /// Whether this provider and model produced them.
    #[must_use]
    pub(crate) fn are_of(&self, provider: &str, model: &str) -> bool {
        self.provider == provider && self.model == model
    }

    /// Whether they hold more than thoughts and words: work that the provider did or still does,
    /// such as a search of its own. Only then is an answer without a text worth saying again.
    #[must_use]
    pub(crate) fn hold_work(&self) -> bool {
        #[derive(Deserialize)]
        struct BlockKind {
            #[serde(default, rename = "type")]
            kind: String,
        }
        let is_work = |raw: &str| {
            let kind =
                serde_json::from_str(raw).map_or_else(|_| String::new(), |it: BlockKind| it.kind);
            // A call of our own tools is already in the message.
            let is_ours = matches!(kind.as_str(), "tool_use" | "function_call");
            !is_ours && (kind.contains("tool_") || kind.ends_with("_call"))
        };
        self.paused || self.texts().any(is_work)
    }

    /// Whether a secret can be read in them.
    #[must_use]
    pub fn hold_secrets(&self, redactor: &Redactor) -> bool {
        let value = |raw: &str| serde_json::from_str(raw).unwrap_or(Value::Null);
        self.texts().any(|raw| holds_secret(&value(raw), redactor))
    }

    /// As a fact keeps them.
    #[must_use]
    pub(crate) fn to_fact(&self) -> Option<Box<RawValueEq>> {
        let raw = serde_json::value::to_raw_value(self).ok()?;
        Some(Box::new(RawValueEq(raw)))
    }

    /// From a fact; nothing if another program wrote them.
    #[must_use]
    pub fn from_fact(kept: &RawValueEq) -> Option<Self> {
        serde_json::from_str(kept.0.get()).ok()
    }
}

/// The blocks of an answer as a conversation holds them: raw, as in their fact, and parsed on first
/// use. A long conversation is read anew for each turn, and nearly all of it was written before.
#[derive(Debug)]
pub struct SaidBlocks {
    kept: Arc<RawValueEq>,
    read: OnceLock<Option<Blocks>>,
}

impl SaidBlocks {
    /// Those that a fact keeps.
    #[must_use]
    pub const fn kept(kept: Arc<RawValueEq>) -> Self {
        Self {
            kept,
            read: OnceLock::new(),
        }
    }

    /// Those of an answer that has just come; nothing if no fact could keep them.
    #[must_use]
    pub fn of(blocks: Blocks) -> Option<Self> {
        let kept = Arc::from(blocks.to_fact()?);
        let read = OnceLock::from(Some(blocks));
        Some(Self { kept, read })
    }

    /// As a fact keeps them.
    #[must_use]
    pub fn to_fact(&self) -> Box<RawValueEq> {
        Box::new(RawValueEq::clone(&self.kept))
    }

    /// The blocks; nothing if another program wrote them.
    #[must_use]
    pub(crate) fn read(&self) -> Option<&Blocks> {
        let read = self.read.get_or_init(|| Blocks::from_fact(&self.kept));
        read.as_ref()
    }

    /// Whether they have been parsed.
    #[cfg(test)]
    pub(super) fn were_read(&self) -> bool {
        self.read.get().is_some()
    }
}

impl Clone for SaidBlocks {
    /// The copy shares the text; what was read of it stays where it was.
    fn clone(&self) -> Self {
        Self::kept(Arc::clone(&self.kept))
    }
}

impl PartialEq for SaidBlocks {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.kept, &other.kept) || self.kept == other.kept
    }
}

fn holds_secret(value: &Value, redactor: &Redactor) -> bool {
    let is_secret = |text: &str| redactor.redact(text) != text;
    match value {
        Value::String(text) => is_secret(text),
        Value::Array(values) => values.iter().any(|value| holds_secret(value, redactor)),
        Value::Object(members) => {
            let mut readable =
                (members.iter()).filter(|(name, _)| !OPAQUE.contains(&name.as_str()));
            readable.any(|(name, value)| is_secret(name) || holds_secret(value, redactor))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back_from_a_fact_byte_for_byte() {
        let odd = r#"{"type":"thinking",  "signature":"a\/b","n":1.50}"#;
        let blocks = Blocks {
            provider: "anthropic".into(),
            model: "m".into(),
            paused: false,
            blocks: vec![RawValue::from_string(odd.into()).unwrap()],
        };
        let kept = blocks.to_fact().unwrap();
        let back = Blocks::from_fact(&kept).unwrap();
        assert_eq!(back, blocks);
        assert_eq!(back.blocks[0].get(), odd);
    }

    #[test]
    fn only_work_of_the_provider_is_more_than_thoughts_and_words() {
        let rows = [
            (r#"{"type":"thinking","thinking":"a tool_use"}"#, false),
            (r#"{"type":"reasoning"}"#, false),
            (r#"{"type":"text","text":"x"}"#, false),
            (r#"{"type":"tool_use"}"#, false),
            (r#"{"type":"function_call"}"#, false),
            ("{}", false),
            ("[1]", false),
            (r#"{"type":"server_tool_use"}"#, true),
            (r#"{"type":"web_search_tool_result"}"#, true),
            (r#"{"type":"web_search_call"}"#, true),
        ];
        for (raw, is_work) in rows {
            let blocks = |paused| Blocks {
                provider: "p".into(),
                model: "m".into(),
                paused,
                blocks: vec![RawValue::from_string(raw.into()).unwrap()],
            };
            assert_eq!(blocks(false).hold_work(), is_work, "{raw}");
            assert!(blocks(true).hold_work(), "{raw}");
        }
    }

    #[test]
    fn a_secret_in_words_is_found_and_what_only_the_provider_reads_is_not_searched() {
        let key = format!("sk-ant-{}", "api03-CANARYCANARYCANARY");
        let rows = [
            (
                format!(r#"{{"type":"thinking","thinking":"It is {key}."}}"#),
                true,
            ),
            (
                format!(r#"{{"type":"tool_use","input":{{"a":["{key}"]}}}}"#),
                true,
            ),
            (
                format!(r#"{{"type":"thinking","thinking":"x","signature":"{key}"}}"#),
                false,
            ),
            (r#"{"type":"text","text":"the key"}"#.to_owned(), false),
        ];
        for (raw, holds) in rows {
            let blocks = Blocks {
                provider: "p".into(),
                model: "m".into(),
                paused: false,
                blocks: vec![RawValue::from_string(raw.clone()).unwrap()],
            };
            assert_eq!(blocks.hold_secrets(&Redactor::new(&[])), holds, "{raw}");
        }
    }

    #[test]
    fn what_another_program_wrote_is_not_taken_for_ours() {
        let foreign = RawValueEq(RawValue::from_string("[1]".into()).unwrap());
        assert_eq!(Blocks::from_fact(&foreign), None);
    }
}
