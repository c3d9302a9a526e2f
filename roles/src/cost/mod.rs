//! What models cost, in whole millionths of a unit of money, and whether there is enough left.
//!
//! Nothing here is a fraction: prices are given for a million tokens, and every rounding is up.

mod bound;
mod ledger;
mod price;

pub use bound::{Counted, input_bound_tokens};
pub use ledger::{Hold, Ledger, Ledgers, Short};
pub use price::Price;
