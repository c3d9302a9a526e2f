//! Shows it: protocol, server and the embedded page.

pub mod protocol;
