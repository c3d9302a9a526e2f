//! The Anthropic Messages wire.

mod read;
mod write;

pub(in crate::provider) use read::Messages;
#[cfg(test)]
pub(in crate::provider) use write::body;
pub(in crate::provider) use write::{part, stands_alone, write};
