//! How much of an output a model gets, and how it is told what is left out.

/// What a call produced, before it is bounded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Output {
    /// What the model is told about it; never cut.
    pub head: String,
    /// The text.
    pub body: String,
    /// Whether something was left out of the text already.
    pub is_cut: bool,
    /// What the model is told behind it; never cut.
    pub tail: String,
}

/// An output within its bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bounded {
    pub text: String,
    pub is_cut: bool,
}

impl Output {
    /// A text about a call.
    pub(super) fn of(body: impl Into<String>) -> Self {
        Self {
            body: body.into(),
            ..Self::default()
        }
    }
}

/// How much of what is kept stands at the beginning, of ten parts.
const HEAD_PARTS: usize = 7;

/// The text within these bounds: its beginning and its end, with a mark in between.
pub(super) fn bound(text: &str, max_bytes: usize, max_lines: usize) -> Bounded {
    let lines = text.lines().count();
    if text.len() <= max_bytes && lines <= max_lines {
        let text = text.to_owned();
        return Bounded {
            text,
            is_cut: false,
        };
    }
    let (head, tail) = window(text, max_lines);
    let head_bytes = max_bytes / 10 * HEAD_PARTS;
    let head = &text[..floor(text, head.min(head_bytes))];
    let tail_start = tail.max(text.len().saturating_sub(max_bytes - head_bytes));
    let tail = &text[ceiling(text, tail_start.max(head.len()))..];
    let missing = text.len() - head.len() - tail.len();
    let middle = &text[head.len()..text.len() - tail.len()];
    let mark = format!(
        "\n[… {missing} bytes in {} lines are left out here …]\n",
        middle.lines().count()
    );
    Bounded {
        text: [head, &mark, tail].concat(),
        is_cut: true,
    }
}

/// Where the first lines end and the last ones begin, of as many lines as fit.
fn window(text: &str, max_lines: usize) -> (usize, usize) {
    let first = (max_lines / 10 * HEAD_PARTS).max(1);
    let last = max_lines.saturating_sub(first).max(1);
    let head = text.match_indices('\n').nth(first - 1);
    let without_end = text.strip_suffix('\n').unwrap_or(text);
    let tail = without_end.rmatch_indices('\n').nth(last - 1);
    (
        head.map_or(text.len(), |(at, _)| at + 1),
        tail.map_or(0, |(at, _)| at + 1),
    )
}

/// The last place at or before this one where a character begins.
pub(super) fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The first place at or behind this one where a character begins.
pub(super) fn ceiling(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_within_its_bounds_is_left_alone() {
        let bounded = bound("a\nb\n", 4, 2);
        assert_eq!((bounded.text.as_str(), bounded.is_cut), ("a\nb\n", false));
    }

    #[test]
    fn many_short_lines_are_cut_by_lines_and_one_long_line_by_bytes() {
        let lines: String = (1..=100).map(|n| format!("{n}\n")).collect();
        let bounded = bound(&lines, 10_000, 10);
        assert_eq!(
            bounded.text,
            "1\n2\n3\n4\n5\n6\n7\n\n[… 268 bytes in 90 lines are left out here …]\n98\n99\n100\n"
        );
        let bounded = bound(&"ä".repeat(100), 20, 10);
        assert_eq!(
            bounded.text,
            format!(
                "{}\n[… 180 bytes in 1 lines are left out here …]\n{}",
                "ä".repeat(7),
                "ä".repeat(3)
            )
        );
    }

    proptest! {
        #[test]
        fn beginning_and_end_are_kept_and_nothing_is_said_twice(
            text in "[aä\n]{0,200}", bytes in 10_usize..100, lines in 10_usize..40,
        ) {
            let bounded = bound(&text, bytes, lines);
            prop_assert_eq!(bounded.is_cut, text.len() > bytes || text.lines().count() > lines);
            if bounded.is_cut {
                let (head, rest) = bounded.text.split_once("\n[… ").unwrap();
                let (missing, tail) = rest.split_once("here …]\n").unwrap();
                let missing: usize = missing.split(' ').next().unwrap().parse().unwrap();
                prop_assert!(text.starts_with(head) && text.ends_with(tail));
                prop_assert_eq!(head.len() + missing + tail.len(), text.len());
                prop_assert!(head.len() + tail.len() <= bytes);
                prop_assert!(head.lines().count() + tail.lines().count() <= lines + 1);
            }
        }
    }
}
