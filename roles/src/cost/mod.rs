//! What models cost, in whole millionths of a unit of money.
//!
//! Nothing here is a fraction: prices are given for a million tokens, and every rounding is up.

mod bound;
mod price;

pub(crate) use bound::{CountedRequest, input_bound_tokens};
pub use price::Price;
