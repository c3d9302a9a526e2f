//! One driver a flow: the loop that makes it happen.
//!
//! [`core`] is the loop without threads: an input goes in, facts are appended, and what must now be
//! started comes out. `tell`, `step` and `outcome` are its verbs for turns. [`task`] runs it
//! on a thread of its own, takes turns that never wait itself (`at_once`) and gives each of the
//! others a thread, which does what its steps need by itself while the flow is free (`line`); everyone
//! else holds a [`handle`], and the operator's commands come in through `obey`. What may wait for the
//! outside world is an `errand`, which runs without the flow. Observers get from [`ahead`] what is not
//! recorded yet.

pub mod ahead;
mod at_once;
mod begin;
mod budget;
mod by_hand;
pub mod change;
mod choose;
mod compact;
mod consent;
pub mod core;
mod errand;
pub mod error;
mod frame;
pub mod handle;
mod hurry;
mod in_place;
mod line;
mod obey;
mod outcome;
pub mod role_source;
pub mod room;
mod settle;
mod shorter;
mod snapshot;
mod steer;
mod step;
pub mod task;
mod tell;
#[cfg(test)]
mod tests;
mod turn_thread;
mod withhold;
