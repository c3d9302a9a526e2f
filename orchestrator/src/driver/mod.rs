//! One driver a flow: the loop that makes it happen.
//!
//! [`core`] is the loop without threads: an input goes in, facts are appended, and what must now be
//! started comes out. `begin`, `step` and `outcome` are its verbs for turns; what they record is written with the `pen`, by parts that
//! do not know the loop. [`task`] runs it
//! on a thread of its own, takes turns that never wait itself (`inline_turns`) and gives each of the
//! others a thread, which does what its steps need by itself while the flow is free (`line`) and looks at the files
//! that they name (`step_look`); everyone
//! else holds a [`handle`]; `commands` carries the operator's verbs out. What may wait for the
//! outside world is an `errand`, which runs without the flow. Observers get from [`unrecorded_text`] what is not
//! recorded yet.

pub(crate) mod attempt;
mod begin;
mod briefing;
mod budget;
mod calls;
pub(crate) mod change;
mod choose;
mod commands;
mod compact;
mod compacted_history;
mod consent;
pub mod core;
mod cut_calls;
mod drive_state;
mod early_retry;
mod errand;
mod errand_reports;
pub mod error;
pub(crate) mod file_limits;
mod frame;
pub mod handle;
mod inbox;
mod inline_turns;
mod judged_end;
mod line;
mod live_speech;
mod live_turn;
mod manual_compaction;
mod outcome;
mod pen;
mod provider_wait;
mod repair;
mod request;
pub(crate) mod role_source;
pub(crate) mod room;
mod session_changes;
mod snapshot;
mod speech;
mod steer;
mod step;
mod step_findings;
mod step_look;
mod syncs;
pub mod task;
#[cfg(test)]
mod tests;
mod turn_thread;
pub mod unrecorded_text;
mod verdict;
mod withhold;
