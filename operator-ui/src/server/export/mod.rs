//! One flow as one file: the page itself, with all that it would ask a server for.
//!
//! The file holds what the routes would answer, so that the page's own folds show it; nothing in it
//! reaches the network. Every text passes the redactor before it is cut or written.

mod document;
mod gather;
mod json;
pub(crate) mod limits;
mod moments;
mod page;
mod past;
mod pieces;
mod requests;
mod scrub;
mod wanted;

pub use page::page;
pub(crate) use scrub::Redact;
pub use wanted::{Failed, Page, Part, Wanted};

/// A text of JSON that leaves by itself, without secrets.
pub(super) fn without_secrets(json: &str, redact: Redact<'_>) -> String {
    let mut scrub = scrub::Scrub::new(redact);
    let mut clean = scrub.json(json);
    let mut known = 0;
    // A secret that was found late may occur in part before its place.
    while scrub.known() > known {
        known = scrub.known();
        clean = scrub.json(&clean);
    }
    clean
}

#[cfg(test)]
mod tests;
