//! Shows it: protocol, server and the embedded page.

pub mod fold;
pub mod hub;
pub mod protocol;
pub mod server;
