//! The server: who may connect, what is served, and the sockets.

pub(crate) mod access;
pub mod actions;
mod app;
mod assets;
mod blocking;
mod bodies;
mod commands;
mod compare;
mod configuring;
mod costs;
pub mod dev;
mod diff;
mod events;
mod everywhere;
pub mod export;
mod feed_at;
mod files;
mod findings;
mod forks;
mod hook;
pub mod limits;
mod listen;
mod metrics;
mod record;
mod removal;
mod reply;
mod requests;
mod revisions;
mod routes;
mod search;
mod sessions;
mod settings;
mod socket;
pub(crate) mod tls;
mod track;
mod transcript;
mod window;

pub use access::{Access, Secrets};
pub use compare::compared;
pub use diff::changed;
pub use files::handed_last;
pub use listen::{Options, Server, start};
pub use tls::Identity;

#[cfg(test)]
mod tests;
