//! Changing a text as a model says it: the text as it was shown, the places that are meant, and the
//! difference that is told. Pure.

mod alike;
mod apply;
mod difference;
mod hunks;
mod page;
mod patch;

#[cfg(test)]
mod patch_tests;
#[cfg(test)]
mod tests;

pub(super) use apply::{Edit, Knowledge, apply};
pub(super) use difference::difference;
pub(super) use hunks::patched;
pub(super) use page::Page;
pub(super) use patch::{Change, Section, sections};
