//! Taking a turn: the one interface that models, people, commands and scripts implement.
//!
//! A turn is a conversation between a [`taker::Taker`] and the driver of the flow. The taker returns
//! what it does next, one [`step::TurnStep`] at a time, and gets its result; the driver turns each step
//! into facts and answers only when the facts that the step needs are durable. So a taker never touches
//! a journal, and nothing a taker does can be missing from one.

pub mod conclude;
pub mod job;
pub mod step;
pub(crate) mod tail;
pub mod taker;
pub mod words;
