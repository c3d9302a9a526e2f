//! The wires: how requests are written and answers are read. Nothing here touches the world.

pub(super) mod anthropic;
mod assembly;
pub(super) mod chat;
pub(super) mod ids;
mod raw;
pub(super) mod reader;
pub(super) mod responses;
pub(super) mod words;
pub(super) mod written;

pub(super) use raw::empty_object;
