//! What the real providers refuse, and how they speak.

pub mod anthropic;
pub mod chat;
pub mod responses;
#[cfg(test)]
mod tests;

use std::hash::{DefaultHasher, Hash, Hasher};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::Wire;

/// A piece of an answer.
#[derive(Debug, Clone)]
pub enum Piece {
    /// Reasoning.
    Think(String),
    /// Words.
    Text(String),
    /// A call.
    Call {
        /// The provider's name for it.
        id: String,
        /// The tool.
        name: String,
        /// Its arguments, as text.
        arguments: String,
    },
    /// Work of the provider's own that it will go on with.
    Server,
    /// A block of the Messages wire with its deltas, for tests that cut an answer themselves.
    Block(Value, Vec<Value>),
}

impl Piece {
    pub fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    pub fn call(id: &str, arguments: &str) -> Self {
        Self::Call {
            id: id.into(),
            name: "read_file".into(),
            arguments: arguments.into(),
        }
    }
}

/// How an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// As its pieces demand.
    Natural,
    /// At its output limit.
    Limit,
    /// Declined.
    Refusal,
    /// To be gone on with.
    Pause,
    /// Because the window is full.
    Window,
}

/// What was used, as the server counts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Used {
    /// Read anew.
    pub fresh: u64,
    /// Found in the cache.
    pub cache_read: u64,
    /// Put into the cache.
    pub cache_write: u64,
}

/// Why a request is refused, as the real ones would.
pub fn check(wire: impl Into<Wire>, request: &Value) -> Result<(), String> {
    ensure(
        request["stream"] == true,
        "only answers in a stream are given here",
    )?;
    match wire.into() {
        Wire::Anthropic => anthropic::check(request),
        Wire::Chat => chat::check(request),
        Wire::Responses => responses::check(request),
    }
}

/// An answer as the stream of a wire.
pub fn say(
    wire: impl Into<Wire>,
    model: &str,
    pieces: &[Piece],
    ending: Ending,
    used: Used,
) -> String {
    match wire.into() {
        Wire::Anthropic => anthropic::say(model, pieces, ending, used),
        Wire::Chat => chat::say(model, pieces, ending, used),
        Wire::Responses => responses::say(model, pieces, ending, used),
    }
}

/// The signature that only this model can have made of this text.
pub fn sign(model: &str, text: &str) -> String {
    // The same in every process, since sessions outlive the one that received it.
    let mut hasher = DefaultHasher::new();
    (model, text).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// The largest image in base64.
const IMAGE_BYTES: usize = 5 * 1024 * 1024;

/// How many images a request may have.
const IMAGES: usize = 100;

/// An image as it is sent, whose bytes must be what its type says.
fn image(media_type: &str, data: &str) -> Result<(), String> {
    ensure(
        data.len() <= IMAGE_BYTES,
        format!("image exceeds 5 MB maximum: {} bytes", data.len()),
    )?;
    let bytes = STANDARD.decode(data);
    let bytes = bytes.map_err(|why| format!("the image is no base64: {why}"))?;
    let begins = |with: &[u8]| bytes.starts_with(with);
    let is_so = match media_type {
        "image/png" => begins(b"\x89PNG\r\n\x1a\n"),
        "image/jpeg" => begins(b"\xff\xd8\xff"),
        "image/gif" => begins(b"GIF87a") || begins(b"GIF89a"),
        "image/webp" => begins(b"RIFF") && bytes.get(8..12) == Some(b"WEBP"),
        other => return Err(format!("{other} is no type of an image")),
    };
    ensure(is_so, format!("the image does not look like {media_type}"))
}

/// The members of an object and no others.
pub fn only(what: &str, value: &Value, allowed: &[&str]) -> Result<(), String> {
    let object = value
        .as_object()
        .ok_or(format!("{what} must be an object"))?;
    match object.keys().find(|key| !allowed.contains(&key.as_str())) {
        Some(key) => Err(format!("{what}: unknown field {key}")),
        None => Ok(()),
    }
}

pub fn ensure(holds: bool, why: impl Into<String>) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why.into()) }
}

/// A result is of the first call that is open, and closes it.
pub fn close_first(open: &mut Vec<String>, id: &str) -> Result<(), String> {
    ensure(
        open.first().is_some_and(|first| first == id),
        format!("no call {id} is open: {open:?}"),
    )?;
    open.remove(0);
    Ok(())
}

pub fn text<'v>(value: &'v Value, name: &str) -> Result<&'v str, String> {
    value[name]
        .as_str()
        .ok_or(format!("{name} must be text in {value}"))
}

pub fn list<'v>(value: &'v Value, name: &str) -> Result<&'v [Value], String> {
    let list = value[name].as_array().filter(|list| !list.is_empty());
    list.map(Vec::as_slice)
        .ok_or(format!("{name} must be a list with something in it"))
}

pub fn not_blank(text: &str) -> Result<(), String> {
    ensure(
        !text.trim().is_empty(),
        "text content must contain non-whitespace text",
    )
}

pub fn legal_tool_name(name: &str) -> Result<(), String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let is_legal = !name.is_empty() && name.len() <= 64 && name.chars().all(legal);
    ensure(is_legal, format!("{name:?} is no name of a tool"))
}

pub fn object_text(arguments: &str) -> Result<(), String> {
    let read = serde_json::from_str::<Value>(arguments);
    ensure(
        read.is_ok_and(|it| it.is_object()),
        format!("arguments must be a JSON object: {arguments}"),
    )
}

/// Splits a text where a stream would.
pub fn halves(text: &str) -> [&str; 2] {
    let at = text.floor_char_boundary(text.len() / 2);
    [&text[..at], &text[at..]]
}
