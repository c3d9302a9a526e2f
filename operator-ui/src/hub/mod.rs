//! Hubs: one for each flow that has followers, and one for the list of all flows.
//!
//! A hub reads a journal once, folds it once, and keeps what it serialised by key. Nothing is queued: a
//! follower holds a cursor and takes what came after it when there is room on the wire, so that a slow
//! one gets the newest of each part and costs no memory.

mod change;
pub mod flow;
pub(crate) mod hubs;
pub(crate) mod inbox;
pub(crate) mod keep;
pub(crate) mod limits;
pub(crate) mod pull;

pub use hubs::Hubs;

pub(crate) use pull::Cursor;
pub(crate) use pull::Out;
