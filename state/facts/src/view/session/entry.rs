//! One message of a session with what we know of it, in the shape of a transcript.

use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::draft::Draft;
use crate::at::At;
use crate::fact::session::Origin;
use crate::fact::turn::RawValueEq;
use crate::hash::Hash;
use crate::id::{MessageId, NodeId, Seq, TurnId};
use crate::message::{Message, Text};

/// A message and what we know of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The message. Turns read it and nobody changes it, so that no turn copies a long session.
    pub message: Arc<Message>,
    /// Its id; only text that a crash left behind has none.
    pub id: Option<MessageId>,
    /// The record that completed it.
    pub seq: Seq,
    /// When.
    pub at: At,
    /// Why it was added, if no model said it.
    pub origin: Option<Origin>,
    /// The node it was added for.
    pub node: Option<NodeId>,
    /// The turn in which it was said.
    pub turn: Option<TurnId>,
    /// Whether it was cut off.
    pub interrupted: bool,
    /// Whether the text that was streamed is not the text that was answered.
    pub mismatch: bool,
    /// The blob that holds the whole content, and its size.
    pub blob: Option<(Hash, u64)>,
    /// Blocks that the provider wants back unchanged.
    pub provider_blocks: Option<Box<RawValueEq>>,
}

impl Entry {
    pub(super) fn new(message: Message, id: Option<MessageId>, seq: Seq, at: At) -> Self {
        Self {
            message: Arc::new(message),
            id,
            seq,
            at,
            origin: None,
            node: None,
            turn: None,
            interrupted: false,
            mismatch: false,
            blob: None,
            provider_blocks: None,
        }
    }

    pub(super) fn with_blob_of(mut self, text: &Text) -> Self {
        self.blob = text.blob().map(|kept| (kept.blob, kept.bytes));
        self
    }

    /// Roughly how many bytes it takes in `transcript.json`.
    #[must_use]
    pub fn approx_bytes(&self) -> u64 {
        const FRAME: usize = 160;
        let text = match &*self.message {
            Message::User { content } | Message::Assistant { content } => content.len(),
            Message::AssistantToolCalls { calls, text } => {
                let each = |call: &crate::message::ToolCall| call.input.get().len() + FRAME;
                text.as_ref().map_or(0, String::len) + calls.iter().map(each).sum::<usize>()
            }
            Message::ToolResult { content, .. } => content.len(),
        };
        let blocks = self.provider_blocks.as_ref().map_or(0, |b| b.0.get().len());
        (text + blocks + FRAME) as u64
    }
}

fn write_message<M: SerializeMap>(map: &mut M, message: &Message) -> Result<(), M::Error> {
    match message {
        Message::User { content } => {
            map.serialize_entry("role", "user")?;
            map.serialize_entry("content", content)
        }
        Message::Assistant { content } => {
            map.serialize_entry("role", "assistant")?;
            map.serialize_entry("content", content)
        }
        Message::AssistantToolCalls { calls, text } => {
            map.serialize_entry("role", "assistant_tool_calls")?;
            map.serialize_entry("calls", calls)?;
            match text {
                Some(text) => map.serialize_entry("text", text),
                None => Ok(()),
            }
        }
        Message::ToolResult {
            call_id,
            tool_name,
            content,
            is_error,
        } => {
            map.serialize_entry("role", "tool_result")?;
            map.serialize_entry("callId", call_id)?;
            map.serialize_entry("toolName", tool_name)?;
            map.serialize_entry("content", content)?;
            map.serialize_entry("isError", is_error)
        }
    }
}

#[derive(Serialize)]
struct ContentBlob {
    blob: Hash,
    bytes: u64,
}

impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        write_message(&mut map, &self.message)?;
        if let Some(id) = &self.id {
            map.serialize_entry("id", id)?;
        }
        map.serialize_entry("seq", &self.seq)?;
        map.serialize_entry("at", &self.at)?;
        if let Some(origin) = &self.origin {
            map.serialize_entry("origin", origin)?;
        }
        if let Some(node) = &self.node {
            map.serialize_entry("node", node)?;
        }
        if let Some(turn) = &self.turn {
            map.serialize_entry("turn", turn)?;
        }
        if self.interrupted {
            map.serialize_entry("interrupted", &true)?;
        }
        if self.mismatch {
            map.serialize_entry("mismatch", &true)?;
        }
        if let Some((blob, bytes)) = self.blob {
            map.serialize_entry("contentBlob", &ContentBlob { blob, bytes })?;
        }
        if let Some(blocks) = &self.provider_blocks {
            map.serialize_entry("providerBlocks", blocks)?;
        }
        map.end()
    }
}

impl Serialize for Draft {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", "assistant")?;
        map.serialize_entry("content", &self.text)?;
        map.serialize_entry("seq", &self.seq)?;
        map.serialize_entry("at", &self.at)?;
        map.serialize_entry("turn", &self.turn)?;
        map.serialize_entry("draft", &true)?;
        map.end()
    }
}
