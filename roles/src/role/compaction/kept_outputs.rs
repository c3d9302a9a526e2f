//! The parts of a long output of a tool that a model needs most: its beginning, its end, and what went wrong.

use super::limits::{DIAGNOSTIC_LINES_MAX, OUTPUT_CHARS_MIN, OUTPUT_EDGE_BYTES_MIN};

/// Words of a line that says what went wrong, behind the place of it.
const WEAK_WORDS: [&str; 11] = [
    "error",
    "undefined",
    "expected",
    "got",
    "cannot find",
    "not found",
    "no such",
    "unresolved",
    "missing",
    "declared but not used",
    "mismatch",
];

/// An output that may have so many characters. One that may have fewer than 200 stays whole.
pub(crate) fn shortened(output: &str, most_chars: usize) -> String {
    let length = output.chars().count();
    if length <= most_chars || most_chars < OUTPUT_CHARS_MIN {
        return output.to_owned();
    }
    let mut lines: Vec<&str> = Vec::new();
    let mut bytes = 0;
    for line in output.lines().filter(|line| is_diagnostic(line)) {
        bytes += line.len() + 1;
        if lines.len() >= DIAGNOSTIC_LINES_MAX
            || bytes > most_chars.saturating_sub(2 * OUTPUT_EDGE_BYTES_MIN)
        {
            break;
        }
        lines.push(line);
    }
    let kept: usize = lines.iter().map(|line| line.len() + 1).sum();
    let each = most_chars.saturating_sub(kept) / 2;
    let head = head(output, each);
    let rest = output.get(head.len()..).unwrap_or_default();
    let tail = tail(rest, each);
    let left_out = rest.len() - tail.len();
    let between = match lines.is_empty() {
        true => format!("[{left_out} bytes are left out]"),
        false => format!(
            "[{left_out} bytes are left out; of them:]\n{}",
            lines.join("\n")
        ),
    };
    format!("{}\n{between}\n{}", head.trim_end(), tail)
}

/// The whole lines at the beginning that have so many bytes at most, or the beginning of the first.
fn head(text: &str, most: usize) -> &str {
    let cut = text
        .get(..text.floor_char_boundary(most))
        .unwrap_or_default();
    let line = cut.rfind('\n').map_or(cut.len(), |at| at + 1);
    cut.get(..line).unwrap_or_default()
}

/// The whole lines at the end that have so many bytes at most, or the end of the last.
fn tail(text: &str, most: usize) -> &str {
    let from = text.ceil_char_boundary(text.len().saturating_sub(most));
    let cut = text.get(from..).unwrap_or_default();
    let inside = cut.trim_end_matches('\n');
    let line = inside.find('\n').map_or(0, |at| at + 1);
    cut.get(line..).unwrap_or_default()
}

/// Whether a line says what went wrong.
fn is_diagnostic(line: &str) -> bool {
    if ["FAIL", "panic", "Panic"]
        .iter()
        .any(|word| line.contains(word))
    {
        return true;
    }
    let begins = ["error:", "warning:", "note:"];
    if line.contains(" error ")
        || begins
            .iter()
            .any(|word| line.trim_start().starts_with(word))
    {
        return true;
    }
    let is_placed = line
        .split_once(':')
        .is_some_and(|(_, rest)| rest.starts_with(|it: char| it.is_ascii_digit()));
    is_placed && WEAK_WORDS.iter().any(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_output_keeps_its_edges_and_the_lines_that_say_what_went_wrong() {
        let lines = |numbers: std::ops::Range<u32>| -> String {
            numbers
                .map(|number| format!("line {number} is fine\n"))
                .collect()
        };
        let wrong = "src/a.rs:12: error, it is undefined\nFAIL of a test\n";
        let output = format!(
            "begins\n{}{wrong}{}the end\n",
            lines(0..200),
            lines(200..400)
        );
        let short = shortened(&output, 1_000);
        assert!(short.len() < 1_100, "{}", short.len());
        for kept in [
            "begins\n",
            "src/a.rs:12: error",
            "FAIL of a test",
            "the end\n",
            "are left out; of them:",
        ] {
            assert!(short.contains(kept), "{kept}: {short}");
        }
        assert_eq!(shortened(&output, 199), output);
        assert_eq!(shortened("short", 200), "short");
    }

    #[test]
    fn no_cut_of_an_output_is_within_a_character() {
        for text in [
            "\u{1f600}".repeat(2_000),
            "\u{4e2d}\u{6587}\n".repeat(900),
            "x".repeat(5_000),
        ] {
            for most in 200..260 {
                let short = shortened(&text, most);
                assert!(
                    short.len() < text.len() && short.contains("bytes are left out"),
                    "{most}"
                );
            }
        }
    }
}
