//! Reaching models: one neutral interface, and the wires behind it.
//!
//! A [`ModelRequest`] says what a model is asked, in the words of transcripts. A [`Provider`] turns it
//! into the exact bytes of its wire ([`Provider::prepare`]), so that they can be named in the
//! journal before they leave, and then sends them ([`Provider::start`]). What comes back is read
//! from an [`AnswerStream`]: events while the model speaks, and at the end one whole [`ModelAnswer`] or one
//! [`RequestFault`]. The taker of the turn decides whether it is retried.

mod answer;
mod blocks;
pub(crate) mod body;
mod event;
mod fault;
pub mod frame;
pub mod http;
pub(crate) mod limits;
mod port;
mod prepared;
pub(crate) mod repair;
mod request;
pub mod retry;
mod secret;
mod speech;
mod sse;
mod stream;
#[cfg(test)]
pub(crate) mod tests;
mod wire;

pub use answer::{AnswerStop, CallFault, ModelAnswer, ModelCall};
pub use blocks::{Blocks, SaidBlocks};
pub use event::{StreamArrival, StreamEvent};
pub use fault::{FaultClass, Remedy, RequestFault};
pub use port::Provider;
pub use prepared::Prepared;
pub use request::{Effort, HistoryMessage, ModelRequest, Thinking, ToldTool, ToolDefinition};
pub use secret::Secret;
pub use speech::ChatDialect;
pub use stream::AnswerStream;
