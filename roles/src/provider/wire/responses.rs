//! The `OpenAI` Responses wire, without anything kept at the provider.

mod read;
mod write;

pub(in crate::provider) use read::Items;
pub(in crate::provider) use write::body;
