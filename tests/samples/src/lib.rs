//! Facts to try things with: one of every kind, a whole flow, and flows of any length.
//!
//! Tests and benches of every floor use them, so that all of them speak of the same flow. The
//! names in here are names by construction; nothing that comes from outside is parsed.

mod every;
mod ids;
mod imported;
mod long;
mod rewrites;
mod scribe;
mod walk;

pub use every::every_kind;
pub use ids::{id, recorded};
pub use long::long;
pub use walk::walk;
