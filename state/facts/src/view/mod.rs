//! Views: what a person or a program looks at, folded from facts.
//!
//! A view is never asked whether it agrees. Legality is judged before a fact is appended and again
//! when a journal is opened; here every fact is taken as true, and a fact that makes no sense to a
//! view leaves it as it was.

mod all;
pub mod feed;
pub mod flow;
pub mod route;
mod screen;
pub mod session;
pub mod standing;
mod summary;

pub use all::{TouchedViews, Views};
pub(crate) use flow::FlowState;
pub use screen::FlowScreen;
pub use summary::{FlowSummary, Wait};

use crate::line::Recorded;

/// Something folded from facts.
pub trait FactView {
    /// Takes the next fact. It is total: it never panics and never refuses.
    fn apply(&mut self, recorded: &Recorded);
}

#[cfg(test)]
mod tests;
