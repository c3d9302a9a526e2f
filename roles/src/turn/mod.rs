//! Taking a turn: the one interface behind which models, people, commands and scripts stand.
//!
//! A turn is a conversation between a [`taker::Taker`] and whoever drives the flow. The taker says
//! what it does next, one [`step::Step`] at a time, and hears what came of it; the driver turns
//! each step into facts and answers only when the facts that the step needs are durable. So a
//! taker never touches a journal, and nothing a taker does can be missing from one.

pub mod conclude;
pub mod job;
pub mod step;
pub(crate) mod tail;
pub mod taker;
pub mod words;
