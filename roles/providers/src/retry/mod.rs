//! When a request that failed is sent again, and when none is sent at all.
//!
//! All of it is data in, data out: the moment and the dice come from outside.

mod circuit;
mod lane;
pub mod limits;
mod patience;

pub use circuit::{Circuit, RequestOutcome};
pub use lane::{Admission, Lane, LaneName, Lanes, Ticket};
pub use patience::{Patience, RetryVerdict, Weary, dice};
