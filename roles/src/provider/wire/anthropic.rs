//! The Anthropic Messages wire.

mod read;
mod write;

pub(in crate::provider) use read::Messages;
pub(in crate::provider) use write::body;
