//! The `OpenAI` Responses wire, without anything kept at the provider.

mod read;
mod write;

pub(in crate::provider) use read::Items;
#[cfg(test)]
pub(in crate::provider) use write::body;
pub(in crate::provider) use write::write;
