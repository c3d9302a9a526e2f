//! Providers that are reached over HTTP.

mod connect;
mod conversation_cache;
mod endpoint;
mod exchange;
mod gathered;
mod pen;
mod runtime;
mod sending;

pub use crate::speech::Wire;
pub use connect::{Timeouts, Transport};
pub(crate) use endpoint::written;
pub use endpoint::{Endpoint, HttpProvider};
/// An address.
pub use reqwest::Url;
#[cfg(test)]
pub(crate) use runtime::shared as shared_runtime;
