//! One message of a session with what we know of it, in the shape of a transcript.

use std::fmt;
use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::draft::AnswerDraft;
use crate::at::At;
use crate::fact::session::Origin;
use crate::fact::turn::RawValueEq;
use crate::hash::Hash;
use crate::id::{MessageId, NodeId, Seq, TurnId};
use crate::message::{BlobText, Message, Text};

/// Reads texts that are kept as blobs; `None` if a blob is lost, and its beginning replaces it.
#[derive(Clone, Copy)]
pub struct Texts<'a>(pub &'a dyn Fn(Hash) -> Option<String>);

impl Texts<'static> {
    /// Of long texts only what the records repeat.
    pub const BEGINNINGS: Self = Self(&|_| None);
}

impl fmt::Debug for Texts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Texts")
    }
}

/// Something of a session as it is written, with its texts whole.
pub(super) struct WithTexts<'a, T: ?Sized> {
    pub(super) of: &'a T,
    pub(super) texts: Texts<'a>,
}

/// A message and what we know of it.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionEntry {
    /// The message. Turns read it and none changes it, so that no turn copies a long session.
    pub message: Arc<Message>,
    /// Its id; only text that a crash left behind has none.
    pub id: Option<MessageId>,
    /// The record that completed it.
    pub seq: Seq,
    /// When.
    pub at: At,
    /// Why it was added, if no model produced it.
    pub origin: Option<Origin>,
    /// Whether it is a note of the system, which stays when other messages are left out.
    pub is_system: bool,
    /// The node it was added for.
    pub node: Option<NodeId>,
    /// The turn it belongs to.
    pub turn: Option<TurnId>,
    /// Whether it was cut off.
    pub interrupted: bool,
    /// Whether the text that was streamed is not the text that was answered.
    pub mismatch: bool,
    /// The blob that holds the whole content, and its size.
    pub blob: Option<(Hash, u64)>,
    /// Blocks that the provider wants back unchanged. Turns read them, as they do the message.
    pub provider_blocks: Option<Arc<RawValueEq>>,
}

impl SessionEntry {
    pub(super) fn new(message: Message, id: Option<MessageId>, seq: Seq, at: At) -> Self {
        Self {
            message: Arc::new(message),
            id,
            seq,
            at,
            origin: None,
            is_system: false,
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

    /// The message with all of its text, which is read if it is kept as a blob.
    ///
    /// # Errors
    /// What the reader says.
    pub fn whole<E>(
        &self,
        read: impl FnOnce(&Text) -> Result<String, E>,
    ) -> Result<Arc<Message>, E> {
        let Some((blob, bytes)) = self.blob else {
            return Ok(Arc::clone(&self.message));
        };
        let head = String::new();
        let text = read(&Text::Blob(BlobText { blob, bytes, head }))?;
        Ok(Arc::new(self.message.with_text(text)))
    }

    /// Roughly how many bytes it takes in `transcript.json`.
    #[must_use]
    pub fn approx_bytes(&self) -> u64 {
        const FRAME: usize = 160;
        if let Some((_, bytes)) = self.blob {
            return bytes + FRAME as u64;
        }
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

/// A message, with this text in the place of its own if there is one.
fn write_message<M: SerializeMap>(
    map: &mut M,
    message: &Message,
    whole: Option<&str>,
) -> Result<(), M::Error> {
    match message {
        Message::User { content } => {
            map.serialize_entry("role", "user")?;
            map.serialize_entry("content", whole.unwrap_or(content))
        }
        Message::Assistant { content } => {
            map.serialize_entry("role", "assistant")?;
            map.serialize_entry("content", whole.unwrap_or(content))
        }
        Message::AssistantToolCalls { calls, text } => {
            map.serialize_entry("role", "assistant_tool_calls")?;
            map.serialize_entry("calls", calls)?;
            match whole.or(text.as_deref()) {
                Some(text) => map.serialize_entry("text", text),
                None => Ok(()),
            }
        }
        Message::ToolResult {
            call_id,
            tool_name,
            content,
            is_error,
            image,
        } => {
            map.serialize_entry("role", "tool_result")?;
            map.serialize_entry("callId", call_id)?;
            map.serialize_entry("toolName", tool_name)?;
            map.serialize_entry("content", whole.unwrap_or(content))?;
            map.serialize_entry("isError", is_error)?;
            match image {
                Some(image) => map.serialize_entry("image", image),
                None => Ok(()),
            }
        }
    }
}

#[derive(Serialize)]
struct ContentBlob {
    blob: Hash,
    bytes: u64,
}

impl Serialize for WithTexts<'_, SessionEntry> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entry = self.of;
        let mut map = serializer.serialize_map(None)?;
        let whole = entry.blob.and_then(|(blob, _)| (self.texts.0)(blob));
        write_message(&mut map, &entry.message, whole.as_deref())?;
        drop(whole);
        if let Some(id) = &entry.id {
            map.serialize_entry("id", id)?;
        }
        map.serialize_entry("seq", &entry.seq)?;
        map.serialize_entry("at", &entry.at)?;
        if let Some(origin) = &entry.origin {
            map.serialize_entry("origin", origin)?;
        }
        if entry.is_system {
            map.serialize_entry("system", &true)?;
        }
        if let Some(node) = &entry.node {
            map.serialize_entry("node", node)?;
        }
        if let Some(turn) = &entry.turn {
            map.serialize_entry("turn", turn)?;
        }
        if entry.interrupted {
            map.serialize_entry("interrupted", &true)?;
        }
        if entry.mismatch {
            map.serialize_entry("mismatch", &true)?;
        }
        if let Some((blob, bytes)) = entry.blob {
            map.serialize_entry("contentBlob", &ContentBlob { blob, bytes })?;
        }
        if let Some(blocks) = &entry.provider_blocks {
            map.serialize_entry("providerBlocks", &**blocks)?;
        }
        map.end()
    }
}

impl Serialize for WithTexts<'_, [SessionEntry]> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let texts = self.texts;
        serializer.collect_seq(self.of.iter().map(|of| WithTexts { of, texts }))
    }
}

impl Serialize for SessionEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let texts = Texts::BEGINNINGS;
        WithTexts { of: self, texts }.serialize(serializer)
    }
}

impl Serialize for AnswerDraft {
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
