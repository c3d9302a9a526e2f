//! The Anthropic Messages wire.

mod read;
mod write;

pub(crate) use read::Messages;
#[cfg(test)]
pub(crate) use write::body;
pub(crate) use write::{part, stands_alone, write};
