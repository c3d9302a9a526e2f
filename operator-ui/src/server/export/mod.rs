//! One flow as one file: the page itself, with all that it would ask a server for.
//!
//! The file holds what the routes would answer, so that the page's own folds show it; nothing in it
//! reaches the network. Every text passes whoever takes secrets out before it is cut or written.

mod document;
mod gather;
mod json;
pub mod limits;
mod moments;
mod page;
mod pieces;
mod requests;
mod scrub;

pub use page::{Failed, Page, Part, Wanted, page};
pub use scrub::Redact;

#[cfg(test)]
mod tests;
