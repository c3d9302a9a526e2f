//! The web: pages that a model wants to read, and searches.
//!
//! An address that a model wrote may be meant to reach this machine or the network around it. So
//! its host is resolved once, every answer is checked, and the connection goes to exactly those
//! addresses. Nothing is followed to another host: the model gets the address, and asks again.

mod client;
mod fetch;
mod page;
pub(super) mod search;

#[cfg(test)]
mod tests;

pub(super) use client::Web;
