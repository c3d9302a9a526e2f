//! `serve`, from outside: a client that knows no more than the protocol's document says, a server that
//! is killed under it, and the door.

mod beginning;
mod chaos;
pub(crate) mod client;
mod door;
pub(crate) mod operated;
mod verbs;
