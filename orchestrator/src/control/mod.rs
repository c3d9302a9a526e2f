//! How a process talks to the one that drives a flow: messages over a socket in the flow's folder.
//!
//! [`message`] has the messages, `socket` their path, `server` listens beside the flow's task, and
//! [`client`] asks. Nothing is drivable here that the operator could not do by opening the flow.

pub mod client;
pub mod fault;
pub(crate) mod limits;
pub mod message;
pub(crate) mod server;
pub(crate) mod socket;
