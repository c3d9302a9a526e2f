//! An answer as its provider said it, kept so that the same provider gets it back unchanged.
//!
//! Signed reasoning, encrypted items and blocks that are not known here have no place in a
//! transcript's four shapes. They are kept beside the message, byte for byte, with the provider
//! and the model that said them: another model never sees them.

use a_society_facts::fact::turn::RawValueEq;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

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

    /// Whether this provider and model said them.
    #[must_use]
    pub fn are_of(&self, provider: &str, model: &str) -> bool {
        self.provider == provider && self.model == model
    }

    /// Whether they hold more than thoughts and words: work that the provider did or still does,
    /// such as a search of its own. Only then is an answer without a text worth saying again.
    #[must_use]
    pub fn hold_work(&self) -> bool {
        #[derive(Deserialize)]
        struct Kind {
            #[serde(default, rename = "type")]
            kind: String,
        }
        let is_work = |raw: &str| {
            let kind = serde_json::from_str(raw).map_or_else(|_| String::new(), |it: Kind| it.kind);
            // A call of our own tools stands in the message.
            let is_ours = matches!(kind.as_str(), "tool_use" | "function_call");
            !is_ours && (kind.contains("tool_") || kind.ends_with("_call"))
        };
        self.paused || self.texts().any(is_work)
    }

    /// As a fact keeps them.
    #[must_use]
    pub fn to_fact(&self) -> Option<Box<RawValueEq>> {
        let raw = serde_json::value::to_raw_value(self).ok()?;
        Some(Box::new(RawValueEq(raw)))
    }

    /// From a fact; nothing if another program wrote them.
    #[must_use]
    pub fn from_fact(kept: &RawValueEq) -> Option<Self> {
        serde_json::from_str(kept.0.get()).ok()
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
    fn what_another_program_wrote_is_not_taken_for_ours() {
        let foreign = RawValueEq(RawValue::from_string("[1]".into()).unwrap());
        assert_eq!(Blocks::from_fact(&foreign), None);
    }
}
