//! The stand-in for the providers of models in tests: a server that reads requests as a provider does,
//! refuses what breaks the rules of its wire in the provider's words, and sends what a test wants it
//! to.

#![expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test that cannot have its stand-in has failed"
)]

pub mod measured;
pub mod server;
pub mod strict;
mod wire;

pub use server::{Act, Deed, Reply, Seen, Server, Source, stream_head};
pub use strict::{Ending, Piece, Used};
pub use wire::Wire;
