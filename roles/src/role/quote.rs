//! Texts of others inside a text of ours, so that nothing in them can be taken for ours.

/// The text in a fence that is longer than any run of backticks within, so that a block in it, a
/// handoff for example, stays a quotation.
pub(crate) fn fenced(text: &str) -> String {
    let longest = text
        .split(|letter| letter != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest.saturating_add(1).max(3));
    let body = text.strip_suffix('\n').unwrap_or(text);
    format!("{fence}text\n{body}\n{fence}\n")
}

/// A name or path within a sentence: on one line, in backticks.
pub(super) fn name(text: &str) -> String {
    let flat = |letter: char| {
        if letter.is_control() || letter == '`' {
            ' '
        } else {
            letter
        }
    };
    let text: String = text.chars().map(flat).collect();
    format!("`{text}`")
}

/// Names in a row.
pub(super) fn names<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let names: Vec<String> = texts.into_iter().map(name).collect();
    names.join(", ")
}
