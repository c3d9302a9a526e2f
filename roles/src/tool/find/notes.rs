//! What a search says besides what it found.

use super::super::limits;
use crate::number::grouped;

/// What a search says when it stops before it has seen everything.
pub(super) fn ended(why: &str) -> String {
    format!("[stopped after {why}; narrow path or glob]\n")
}

/// What a search says of folders that it did not look into.
pub(super) fn left_deep() -> String {
    let depth = limits::SEARCH_DEPTH;
    format!("[what is deeper than {depth} folders is left out; give its folder as path]\n")
}

/// What a search says that found nothing.
pub(super) fn nothing(files: usize, ignored: usize) -> String {
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
