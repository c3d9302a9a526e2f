//! Text of others: quoting it within ours, and the characters in it that mislead.

/// The text in a fence that is longer than any run of backticks within, so that a block in it, a
/// handoff for example, stays a quotation.
#[must_use]
pub fn fenced(text: &str) -> String {
    let longest = text
        .split(|letter| letter != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest.saturating_add(1).max(3));
    let body = text.strip_suffix('\n').unwrap_or(text);
    format!("{fence}text\n{body}\n{fence}\n")
}

/// Whether a character acts on the text around it, or cannot be seen, or looks like a plain one.
#[must_use]
pub fn misleads(letter: char) -> bool {
    let code = u32::from(letter);
    letter.is_control()
        || (letter.is_whitespace() && letter != ' ' && letter != '\n')
        || matches!(
            code,
            // Soft hyphen, combining grapheme joiner, fillers, vowel separators.
            0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180b..=0x180f
            // Zero widths, directions, invisible operators.
            | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f
            // Fillers, variation selectors, byte order mark, full width forms.
            | 0x3164 | 0xfe00..=0xfe0f | 0xfeff | 0xff01..=0xff5e | 0xffa0 | 0xfff0..=0xfffb
            // Musical and tag characters, more variation selectors.
            | 0x1d173..=0x1d17a | 0xe0000..=0xe0fff
        )
}
