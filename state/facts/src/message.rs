//! The messages of a session, and how long texts are kept.
//!
//! The four shapes of a message are those of `transcript.json`, so that a transcript read years
//! later needs nothing of ours to be understood.

use std::fmt;
use std::sync::Arc;

use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::hash::Hash;

/// A tool call as a model asked for it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id by which its result answers it, unique in the whole transcript.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments, kept byte for byte as they were accepted.
    pub input: Box<RawValue>,
}

impl PartialEq for ToolCall {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.name == other.name && self.input.get() == other.input.get()
    }
}

/// One message of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case", try_from = "FlatMessage")]
pub enum Message {
    /// Said to the role: an entry packet, a reply, a repair, a note of the runtime.
    User {
        /// The text.
        content: String,
    },
    /// Said by the role.
    Assistant {
        /// The text.
        content: String,
    },
    /// Said by the role, with tool calls.
    AssistantToolCalls {
        /// The calls, in the order in which they were made.
        calls: Vec<ToolCall>,
        /// The text before them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// The result of a tool call.
    ToolResult {
        /// The call it answers.
        #[serde(rename = "callId")]
        call_id: String,
        /// The tool.
        #[serde(rename = "toolName")]
        tool_name: String,
        /// The output, or what went wrong.
        content: String,
        /// Whether it went wrong.
        #[serde(rename = "isError")]
        is_error: bool,
        /// The image that was read, for models that get images.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        image: Option<Box<Image>>,
    },
}

/// An image in the result of a call. Facts and transcripts name its blob, which is the file as it was.
#[derive(Clone, Serialize, Deserialize)]
pub struct Image {
    /// The blob's hash.
    pub blob: Hash,
    /// Its size.
    pub bytes: u64,
    /// Its format.
    #[serde(rename = "type")]
    pub kind: ImageKind,
    /// The blob, once it was read for a request.
    #[serde(skip)]
    pub data: Option<Arc<[u8]>>,
}

/// The formats of images that models read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ImageKind {
    /// PNG.
    #[serde(rename = "image/png")]
    Png,
    /// JPEG.
    #[serde(rename = "image/jpeg")]
    Jpeg,
    /// GIF.
    #[serde(rename = "image/gif")]
    Gif,
    /// WebP.
    #[serde(rename = "image/webp")]
    Webp,
}

impl ImageKind {
    /// Its media type.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
        }
    }
}

impl Image {
    /// An image whose bytes are at hand.
    #[must_use]
    pub fn of(kind: ImageKind, data: Arc<[u8]>) -> Self {
        Self {
            blob: Hash::of(&data),
            bytes: data.len() as u64,
            kind,
            data: Some(data),
        }
    }
}

/// The hash says what an image is, whether its bytes are at hand or not.
impl PartialEq for Image {
    fn eq(&self, other: &Self) -> bool {
        (self.blob, self.bytes, self.kind) == (other.blob, other.bytes, other.kind)
    }
}

impl Eq for Image {}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image")
            .field("blob", &self.blob)
            .field("bytes", &self.bytes)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

impl Message {
    /// The image of it, if it is the result of a call that read one.
    #[must_use]
    pub fn image(&self) -> Option<&Image> {
        match self {
            Self::ToolResult { image, .. } => image.as_deref(),
            Self::User { .. } | Self::Assistant { .. } | Self::AssistantToolCalls { .. } => None,
        }
    }

    /// The same message with another text.
    #[must_use]
    pub fn with_text(&self, text: String) -> Self {
        let mut message = self.clone();
        match &mut message {
            Self::User { content }
            | Self::Assistant { content }
            | Self::ToolResult { content, .. } => *content = text,
            Self::AssistantToolCalls { text: said, .. } => *said = Some(text),
        }
        message
    }
}

/// Every member a message may have. Reading goes through it, because a reader that chooses the
/// shape by a member would buffer the others and lose the bytes of a call's arguments.
#[derive(Deserialize)]
struct FlatMessage {
    role: String,
    content: Option<String>,
    calls: Option<Vec<ToolCall>>,
    text: Option<String>,
    #[serde(rename = "callId")]
    call_id: Option<String>,
    #[serde(rename = "toolName")]
    tool_name: Option<String>,
    #[serde(rename = "isError", default)]
    is_error: bool,
    image: Option<Box<Image>>,
}

impl TryFrom<FlatMessage> for Message {
    type Error = String;

    fn try_from(flat: FlatMessage) -> Result<Self, String> {
        let missing = |member: &str| format!("a message of role {:?} needs {member:?}", flat.role);
        match flat.role.as_str() {
            "user" => Ok(Self::User {
                content: flat.content.ok_or_else(|| missing("content"))?,
            }),
            "assistant" => Ok(Self::Assistant {
                content: flat.content.ok_or_else(|| missing("content"))?,
            }),
            "assistant_tool_calls" => Ok(Self::AssistantToolCalls {
                calls: flat.calls.ok_or_else(|| missing("calls"))?,
                text: flat.text,
            }),
            "tool_result" => Ok(Self::ToolResult {
                call_id: flat.call_id.ok_or_else(|| missing("callId"))?,
                tool_name: flat.tool_name.ok_or_else(|| missing("toolName"))?,
                content: flat.content.ok_or_else(|| missing("content"))?,
                is_error: flat.is_error,
                image: flat.image,
            }),
            other => Err(format!("no message has the role {other:?}")),
        }
    }
}

/// A text in a fact: inline while it is short, else a blob.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Text {
    /// The text itself.
    Inline(String),
    /// The name of the blob that holds it.
    Blob(BlobText),
}

/// A text kept as a blob.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlobText {
    /// The blob's hash.
    pub blob: Hash,
    /// Its size.
    pub bytes: u64,
    /// How it begins.
    pub head: String,
}

impl Text {
    /// What a screen or a view shows: the text, or its beginning and where the rest is.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Inline(text) => text.clone(),
            Self::Blob(kept) => kept.shown(),
        }
    }

    /// As much of the text as is at hand without its blob.
    #[must_use]
    pub fn beginning(&self) -> &str {
        match self {
            Self::Inline(text) => text,
            Self::Blob(kept) => &kept.head,
        }
    }

    /// The blob that holds the text, if one does.
    #[must_use]
    pub fn blob(&self) -> Option<&BlobText> {
        match self {
            Self::Inline(_) => None,
            Self::Blob(kept) => Some(kept),
        }
    }
}

impl BlobText {
    fn shown(&self) -> String {
        format!(
            "{}\n[… {} bytes in all, kept as blobs/{}]",
            self.head, self.bytes, self.blob
        )
    }
}

impl Default for Text {
    fn default() -> Self {
        Self::Inline(String::new())
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::Inline(text.to_owned())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::Inline(text)
    }
}

/// The text of an answer: inline, or the one that was already streamed into the journal as drafts.
///
/// A streamed answer is written once. The final fact gives the number of draft bytes that it confirms
/// and their CRC32C, and the fold takes the draft it already holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum AnswerText {
    /// The text itself, as it comes when nothing was streamed.
    Inline(String),
    /// The drafts of this request, all together.
    Drafted(ConfirmedDraft),
}

/// Adds to a text that streams. It takes an eighth more room than it needs, and not twice as much as
/// texts do that grow by themselves: many of them are open at once, each for as long as its answer.
pub fn lengthen(text: &mut String, piece: &str) {
    if text.capacity() - text.len() < piece.len() {
        text.reserve_exact(piece.len().max(text.len() / 8));
    }
    text.push_str(piece);
}

/// Which draft an answer confirms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfirmedDraft {
    /// How many bytes of draft text.
    pub drafted_bytes: u64,
    /// Their CRC32C.
    pub drafted_crc: u32,
}

impl ConfirmedDraft {
    /// The reference to this draft.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self {
            drafted_bytes: text.len() as u64,
            drafted_crc: crc32c::crc32c(text.as_bytes()),
        }
    }

    /// Goes on with more of the draft, at the cost of the piece.
    pub fn extend(&mut self, piece: &str) {
        self.drafted_bytes += piece.len() as u64;
        self.drafted_crc = crc32c::crc32c_append(self.drafted_crc, piece.as_bytes());
    }
}

/// Reads a string as one thing and an object as another, without buffering either.
macro_rules! string_or_object {
    ($type:ident, $string:ident, $object:ident($shape:ty), $what:literal) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Either;
                impl<'de> Visitor<'de> for Either {
                    type Value = $type;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($what)
                    }

                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$type, E> {
                        Ok($type::$string(text.to_owned()))
                    }

                    fn visit_string<E: de::Error>(self, text: String) -> Result<$type, E> {
                        Ok($type::$string(text))
                    }

                    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<$type, A::Error> {
                        let shape = de::value::MapAccessDeserializer::new(map);
                        <$shape>::deserialize(shape).map($type::$object)
                    }
                }
                deserializer.deserialize_any(Either)
            }
        }
    };
}

string_or_object!(
    Text,
    Inline,
    Blob(BlobText),
    "a text, or the blob that holds it"
);
string_or_object!(
    AnswerText,
    Inline,
    Drafted(ConfirmedDraft),
    "a text, or the draft in its place"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_the_shapes_of_a_transcript() {
        let result = Message::ToolResult {
            call_id: "1.1".into(),
            tool_name: "read_file".into(),
            content: "x".into(),
            is_error: false,
            image: None,
        };
        insta::assert_json_snapshot!(result, @r#"
        {
          "role": "tool_result",
          "callId": "1.1",
          "toolName": "read_file",
          "content": "x",
          "isError": false
        }
        "#);
    }

    #[test]
    fn an_image_is_named_by_its_blob_and_never_written_out() {
        let image = Image::of(ImageKind::Png, Arc::from(*b"the bytes"));
        let result = Message::ToolResult {
            call_id: "1.1".into(),
            tool_name: "read_file".into(),
            content: "x".into(),
            is_error: false,
            image: Some(Box::new(image)),
        };
        let json = serde_json::to_string(&result).unwrap();
        let blob = Hash::of(b"the bytes");
        let named = format!(r#""image":{{"blob":"{blob}","bytes":9,"type":"image/png"}}"#);
        assert!(json.contains(&named), "{json}");
        let back: Message = serde_json::from_str(&json).unwrap();
        assert_eq!(back, result);
        assert_eq!(back.image().map(|it| it.data.is_some()), Some(false));
    }

    #[test]
    fn a_text_that_streams_takes_little_more_room_than_it_needs() {
        let (mut text, mut moved) = (String::new(), 0);
        for _ in 0..10_000 {
            let before = text.capacity();
            lengthen(&mut text, "a word");
            moved += usize::from(text.capacity() != before);
            assert!(text.capacity() <= text.len() + text.len() / 8 + 6);
        }
        assert!(
            text.len() == 60_000 && moved < 200,
            "it moved {moved} times"
        );
    }

    #[test]
    fn a_text_reads_back_as_what_it_was() {
        for text in [
            Text::from("short"),
            Text::Blob(BlobText {
                blob: Hash::of(b"long"),
                bytes: 4,
                head: "lo".into(),
            }),
        ] {
            let json = serde_json::to_string(&text).unwrap();
            assert_eq!(serde_json::from_str::<Text>(&json).unwrap(), text);
        }
        let drafted = AnswerText::Drafted(ConfirmedDraft::of("hello"));
        let json = serde_json::to_string(&drafted).unwrap();
        assert_eq!(serde_json::from_str::<AnswerText>(&json).unwrap(), drafted);
    }
}
