//! Changing a text as a model says it: the text as it was shown, the places that are meant, and the
//! difference that is told. Pure.

mod alike;
mod apply;
mod difference;
mod page;

#[cfg(test)]
mod tests;

pub(super) use apply::{Edit, Knowledge, apply};
pub(super) use difference::difference;
pub(super) use page::Page;
