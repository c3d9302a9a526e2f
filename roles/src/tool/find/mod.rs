//! Finding files by what they hold and by how they are called.

mod expression;
mod glob;
mod grep;
mod pattern;
mod walk;

use crate::number::grouped;

#[cfg(test)]
mod tests;

pub(super) use glob::Glob;
pub(super) use grep::Grep;

/// What a search says when it stops before it has seen everything.
fn ended(why: &str) -> String {
    format!("[stopped after {why}; narrow path or glob]\n")
}

/// What a search says of folders that it did not look into.
fn left_deep() -> String {
    let depth = super::limits::SEARCH_DEPTH;
    format!("[what is deeper than {depth} folders is left out; give its folder as path]\n")
}

/// What a search says that found nothing.
fn nothing(files: usize, ignored: usize) -> String {
    let plural = if files == 1 { "" } else { "s" };
    let files = grouped(files);
    match ignored {
        0 => format!("No match in {files} file{plural}.\n"),
        some => format!(
            "No match in {files} file{plural} ({} ignored).\n",
            grouped(some)
        ),
    }
}
