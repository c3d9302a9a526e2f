//! Regular expressions as models write them.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use super::super::limits;
use super::super::refusal::{CallRefusal, RefusalKind};

/// An expression that is ready.
#[derive(Debug, Clone)]
pub(super) struct Expression {
    pub matcher: RegexMatcher,
    /// Whether a match may span lines.
    pub spans_lines: bool,
}

impl Expression {
    /// Reads an expression; one that does not hold is refused with its place.
    pub(super) fn read(pattern: &str, ignore_case: bool) -> Result<Self, CallRefusal> {
        let refused = |text: String| CallRefusal::new(RefusalKind::Arguments, text);
        if pattern.is_empty() {
            return Err(refused("There is no pattern to search for.".to_owned()));
        }
        if let Err(why) = regex_syntax::Parser::new().parse(pattern) {
            return Err(refused(fault(pattern, &why)));
        }
        let spans_lines = names_line_end(pattern);
        let mut builder = RegexMatcherBuilder::new();
        builder
            .case_insensitive(ignore_case)
            .multi_line(true)
            .size_limit(limits::EXPRESSION_BYTES)
            .dfa_size_limit(limits::EXPRESSION_BYTES);
        if !spans_lines {
            builder.line_terminator(Some(b'\n'));
        }
        let matcher = builder.build(pattern).map_err(|why| {
            let why = why.to_string();
            let why = why.lines().last().unwrap_or_default().trim_end_matches('.');
            refused(format!(
                "The expression cannot be used: {why}. Make it simpler."
            ))
        })?;
        Ok(Self {
            matcher,
            spans_lines,
        })
    }
}

/// What is wrong with an expression, and how to search for it literally.
fn fault(pattern: &str, why: &regex_syntax::Error) -> String {
    let (at, what) = match why {
        regex_syntax::Error::Parse(why) => (why.span().start.offset, why.kind().to_string()),
        regex_syntax::Error::Translate(why) => (why.span().start.offset, why.kind().to_string()),
        other => (0, other.to_string()),
    };
    let place = pattern.get(..at).map_or(0, |before| before.chars().count()) + 1;
    let literal: String = regex_syntax::escape(pattern)
        .chars()
        .take(limits::REPEATED_CHARS)
        .collect();
    format!("Wrong expression at character {place}: {what}; to search it literally: {literal}")
}

/// Whether an expression names the end of a line: as such, or as `\n`.
fn names_line_end(pattern: &str) -> bool {
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\n' => return true,
            '\\' if letters.next() == Some('n') => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_expression_is_refused_with_its_place_and_how_to_search_its_text() {
        for (pattern, told) in [
            (
                "foo(",
                "Wrong expression at character 4: unclosed group; to search it literally: foo\\(",
            ),
            (
                "ä[b",
                "Wrong expression at character 2: unclosed character class; to search it literally: ä\\[b",
            ),
            (
                "a**{",
                "Wrong expression at character 4: unclosed counted repetition; to search it \
                 literally: a\\*\\*\\{",
            ),
            (
                "(?=x)",
                "Wrong expression at character 1: look-around, including look-ahead and \
                 look-behind, is not supported; to search it literally: \\(\\?=x\\)",
            ),
            ("", "There is no pattern to search for."),
        ] {
            let refusal = Expression::read(pattern, false).unwrap_err();
            assert_eq!(refusal.text, told, "{pattern}");
        }
    }

    #[test]
    fn only_an_expression_that_names_a_line_end_spans_lines() {
        for (pattern, expected) in [
            ("a\\nb", true),
            ("a\nb", true),
            ("a\\\\nb", false),
            ("a\\sb", false),
            ("a.b", false),
        ] {
            let read = Expression::read(pattern, false).unwrap();
            assert_eq!(read.spans_lines, expected, "{pattern}");
        }
    }
}
