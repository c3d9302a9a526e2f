//! The `OpenAI` Responses wire, without anything kept at the provider.

mod read;
mod write;

pub(crate) use read::ResponsesReader;
#[cfg(test)]
pub(crate) use write::body;
pub(crate) use write::write;
