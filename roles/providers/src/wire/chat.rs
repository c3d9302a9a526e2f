//! The Chat Completions wire, as `OpenAI` began it and many others speak it.

mod read;
mod spelled;
mod write;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use read::Chunks;
#[cfg(test)]
pub(crate) use write::body;
pub(in crate::wire) use write::outcome;
pub(crate) use write::{part, write};

/// What one answer of this wire is kept as: it has no blocks, but names of calls, and reasoning
/// in either of the two ways in which servers of this wire pass it on.
#[derive(Debug, Default, Serialize, Deserialize)]
struct KeptAnswer {
    /// The provider's names of the calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    call_ids: Vec<String>,
    /// What the provider put beside calls for itself, such as a signature, by the calls' places.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    call_extras: BTreeMap<usize, Value>,
    /// Reasoning as one text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    reasoning_content: String,
    /// Reasoning as signed or encrypted parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    reasoning_details: Vec<Value>,
}
