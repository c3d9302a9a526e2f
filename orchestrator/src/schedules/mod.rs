//! Schedules: flows and chats that a server begins at their due times.
//!
//! A pure heart (`plan`) computes from the timing, from what is decided already and from the clock which run is due and
//! which were missed. The truth that a run began is its flow: the id is made of the schedule and the due time, and the
//! first record names both, so that each due time has one flow at most, whatever ends the process. The truth about what
//! is decided is a file for each schedule ([`a_society_state::schedules`]), which moves on when the flow is durable.

pub mod list;
mod plan;
pub mod run;
pub mod scheduler;
