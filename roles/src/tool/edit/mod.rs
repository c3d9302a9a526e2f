//! Editing a text as a model asks: the text as it was shown, the places that it means, and the
//! difference that is reported. Pure.

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

pub(super) use apply::{Knowledge, TextEdit, apply};
pub(super) use difference::{LineCounts, difference};
pub(super) use hunks::patched;
pub(super) use page::TextPage;
pub(super) use patch::{PatchHunk, PatchedFile, Section, sections};
