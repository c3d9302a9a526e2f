//! Providers that are reached over HTTP.

mod connect;
mod endpoint;
mod exchange;
mod runtime;

pub use connect::{Timeouts, Transport};
pub use endpoint::{Endpoint, HttpProvider, Wire};
pub use runtime::shared as shared_runtime;
