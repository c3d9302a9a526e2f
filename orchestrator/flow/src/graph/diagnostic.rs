//! What is wrong with a flow file: code, place, excerpt and hint, for people and for programs.
//!
//! Codes are stable: a code keeps its meaning for ever and is never given to something else.

use std::fmt::{self, Write as _};

use a_society_yaml::Span;
use serde::Serialize;

use super::hint::Nearest;
use super::limits::{MAX_DIAGNOSTICS, MAX_EXCERPT_CHARS, MAX_QUOTED_CHARS};

/// How much a diagnostic weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The file cannot be used.
    Error,
    /// The file can be used, and something in it has no effect.
    Warning,
}

/// Gives every kind of fault its code, its place in the list, and one sentence of explanation.
macro_rules! codes {
    ($($name:ident $code:literal $meaning:literal,)*) => {
        /// The kinds of fault a flow file can have.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $meaning] $name,)*
        }

        impl Code {
            /// Every code there is, for documentation and for tests.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The code as it is printed and searched for.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// What the code means, in one sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning,)* }
            }
        }
    };
}

codes! {
    FileTooLarge "G001" "The file is larger than a flow file may be.",
    Syntax "G002" "The file is not YAML, or uses a part of YAML that flow files do without.",
    BeyondLimit "G003" "The file nests deeper or repeats more than a flow file may.",
    DuplicateKey "G004" "A key occurs twice in one mapping.",
    UnknownKey "G005" "A key is not allowed in this place.",
    WrongType "G006" "A value has the wrong type.",
    MissingKey "G007" "A required key is missing.",
    Empty "G008" "A text or list that must hold something is empty.",
    BadNodeId "G009" "A node id is not kebab-case.",
    BadRoleInstance "G010" "A role is not lowercase kebab-case with an optional number.",
    DuplicateNode "G011" "Two nodes have the same id.",
    UnknownNode "G012" "An edge names a node that does not exist.",
    SelfEdge "G013" "An edge leads from a node to itself.",
    DuplicateEdge "G014" "Two edges join the same nodes in the same direction.",
    ReverseEdge "G015" "An edge repeats another one backwards, which is already allowed.",
    Cycle "G016" "Edges form a cycle.",
    SeveralStarts "G017" "More than one node has no inbound edge.",
    NoClosingNode "G018" "No node of the owner's role is without outgoing edges.",
    SeveralClosingNodes "G019" "More than one node of the owner's role is without outgoing edges.",
    UndefinedRole "G020" "A node's role is not among the roles that the file defines.",
    UnusedRole "G021" "A role is defined and no node has it.",
    UnknownChoice "G022" "A value is not among the allowed ones.",
    OutOfRange "G023" "A number is outside its range.",
    WrongExecutor "G024" "A key belongs to another executor, or the executor needs a key.",
    TooMany "G025" "There are more diagnostics than are shown.",
    MissingFile "G026" "A file or folder that a project must have is not there, or is empty.",
    BadIndexRow "G027" "A row of a project's index is not a variable and a path.",
    UnknownVariable "G028" "A variable is not in the project's index.",
    Unreadable "G029" "A file cannot be read, is no text, or is outside the project.",
    RepeatedReading "G030" "A node asks for what its role has read already.",
    SharedOwnership "G031" "Two roles own the same path, or one of them a part of what the other owns.",
    OldForm "G032" "A file of a project has an older form; `check --fix` rewrites it.",
    Unconfigured "G033" "A role names a model, a server or a skill that is not configured here.",
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The source line a diagnostic is about, cut to a readable length.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Excerpt {
    /// The line, or the part of it around the fault, with tabs shown as single spaces.
    pub text: String,
    /// How many characters of `text` precede the fault.
    pub caret_offset: usize,
    /// How many characters the fault is long; at least 1.
    pub caret_length: usize,
}

/// The longest line that is shown whole.
const EXCERPT_CHARS: usize = 160;

/// One thing that is wrong with a flow file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Whether the file can still be used.
    pub severity: Severity,
    /// What kind of fault it is.
    pub code: Code,
    /// What is wrong, in words.
    pub message: String,
    /// The file's name, as it was given to the parser.
    pub file: String,
    /// Counted from 1; 0 when the graph was not read from a text.
    pub line: u32,
    /// Counted from 1, in characters; 0 when the graph was not read from a text.
    pub column: u32,
    /// The line in question.
    pub excerpt: Option<Excerpt>,
    /// What to try.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// An error in a file, for those who find out by other means than reading it as YAML. Line 0
    /// means the file as a whole.
    pub fn error(code: Code, file: &str, line: u32, message: String, hint: Option<String>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message,
            file: file.to_owned(),
            line,
            column: u32::from(line > 0),
            excerpt: None,
            hint,
        }
    }

    /// A warning about a word of a text, for callers that found it without a YAML tree: at the first
    /// place where the word occurs by itself, or about the file as a whole.
    pub fn warning_at(code: Code, file: &str, text: &str, word: &str, message: String) -> Self {
        let place = text.lines().zip(1..).find_map(|(line, number)| {
            let is_part =
                |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
            let code = line.split('#').next().unwrap_or_default();
            let mut places = code.match_indices(word).map(|(at, _)| at);
            let at = places.find(|at| {
                let (before, behind) = (&code[..*at], &code[at + word.len()..]);
                !before.ends_with(is_part) && !behind.starts_with(is_part)
            })?;
            let offset = line[..at].chars().count();
            Some((number, offset, line.replace('\t', " ")))
        });
        let mut said = Self::error(code, file, 0, message, None).as_warning();
        if let Some((line, offset, text)) = place {
            said.line = line;
            said.column = u32::try_from(offset).unwrap_or(u32::MAX).saturating_add(1);
            // A line that is longer than people read is named, and not shown.
            said.excerpt = (text.chars().count() <= EXCERPT_CHARS).then(|| Excerpt {
                text,
                caret_offset: offset,
                caret_length: word.chars().count().max(1),
            });
        }
        said
    }

    /// The same with what to try.
    #[must_use]
    pub fn with_hint(self, hint: String) -> Self {
        Self {
            hint: Some(hint),
            ..self
        }
    }

    /// The same as a warning: the file can be used.
    #[must_use]
    pub fn as_warning(self) -> Self {
        Self {
            severity: Severity::Warning,
            ..self
        }
    }

    /// Whether the file cannot be used because of this.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{severity}[{}]: {}", self.code.as_str(), self.message)?;
        let line = self.line.to_string();
        let margin = " ".repeat(line.len());
        if self.line > 0 {
            write!(
                f,
                "\n{margin}--> {}:{}:{}",
                self.file, self.line, self.column
            )?;
        } else if !self.file.is_empty() {
            write!(f, "\n{margin}--> {}", self.file)?;
        }
        if let Some(excerpt) = &self.excerpt {
            let pad = " ".repeat(excerpt.caret_offset);
            let carets = "^".repeat(excerpt.caret_length);
            write!(
                f,
                "\n{margin} |\n{line} | {}\n{margin} | {pad}{carets}",
                excerpt.text
            )?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n{margin} = hint: {hint}")?;
        }
        Ok(())
    }
}

/// Collects the diagnostics of one file.
#[derive(Debug)]
pub(super) struct DiagnosticSink<'t> {
    text: &'t str,
    file: String,
    found: Vec<Diagnostic>,
    /// How many were found after the list was full.
    left_out: usize,
    errors: usize,
    /// Shared by all hints of the file, because they share one allowance.
    pub nearest: Nearest,
}

impl<'t> DiagnosticSink<'t> {
    pub(super) fn new(text: &'t str, file: &str) -> Self {
        Self {
            text,
            file: file.to_owned(),
            found: Vec::new(),
            left_out: 0,
            errors: 0,
            nearest: Nearest::default(),
        }
    }

    pub(super) fn error(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
        hint: Option<String>,
    ) {
        self.errors += 1;
        self.add(Severity::Error, code, span, message.into(), hint);
    }

    pub(super) fn warning(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
        hint: Option<String>,
    ) {
        self.add(Severity::Warning, code, span, message.into(), hint);
    }

    /// How many errors there are so far, so that a caller can tell whether its own step added any.
    pub(super) fn errors(&self) -> usize {
        self.errors
    }

    /// Everything found, in the order of the file.
    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        self.found
            .sort_by_key(|found| (found.line, found.column, found.code));
        if self.left_out > 0 {
            let message = format!("{} more diagnostics are not shown", self.left_out);
            let hint = "mend the first ones and check again".to_owned();
            let severity = if self.errors > 0 {
                Severity::Error
            } else {
                Severity::Warning
            };
            let more = self.diagnostic(
                severity,
                Code::TooMany,
                Span::default(),
                message,
                Some(hint),
            );
            self.found.push(more);
        }
        self.found
    }

    fn add(
        &mut self,
        severity: Severity,
        code: Code,
        span: Span,
        message: String,
        hint: Option<String>,
    ) {
        if self.found.len() >= MAX_DIAGNOSTICS {
            self.left_out += 1;
            return;
        }
        let diagnostic = self.diagnostic(severity, code, span, message, hint);
        self.found.push(diagnostic);
    }

    fn diagnostic(
        &self,
        severity: Severity,
        code: Code,
        span: Span,
        message: String,
        hint: Option<String>,
    ) -> Diagnostic {
        Diagnostic {
            severity,
            code,
            message,
            file: self.file.clone(),
            line: span.line,
            column: span.column,
            excerpt: excerpt(self.text, span),
            hint,
        }
    }
}

/// Cuts the line of a place out of the text. It looks at no more bytes than it may show, so that
/// a thousand faults on one line of ten megabytes are still quick.
fn excerpt(text: &str, span: Span) -> Option<Excerpt> {
    if span.line == 0 {
        return None;
    }
    let start = floor_boundary(text, span.start_byte as usize);
    let end = floor_boundary(text, (span.end_byte as usize).max(start));
    let (before, after) = text.split_at_checked(start)?;
    let is_break = |letter: &char| matches!(letter, '\n' | '\r');
    // Half of the width goes to the text before the fault.
    let mut head: Vec<char> = before
        .chars()
        .rev()
        .take_while(|letter| !is_break(letter) && *letter != '\u{feff}')
        .take(MAX_EXCERPT_CHARS / 2 + 1)
        .collect();
    head.reverse();
    let head_is_cut = head.len() > MAX_EXCERPT_CHARS / 2;
    if head_is_cut {
        head[0] = '…';
    }
    let room = MAX_EXCERPT_CHARS.saturating_sub(head.len());
    let mut tail: Vec<char> = after
        .chars()
        .take_while(|letter| !is_break(letter))
        .take(room + 1)
        .collect();
    if tail.len() > room {
        tail[room] = '…';
    }
    let length = text.get(start..end).map_or(0, |fault| {
        fault
            .chars()
            .take_while(|letter| !is_break(letter))
            .take(tail.len())
            .count()
    });
    let shown = head.iter().chain(&tail);
    Some(Excerpt {
        text: shown
            .map(|letter| if letter.is_control() { ' ' } else { *letter })
            .collect(),
        caret_offset: head.len(),
        caret_length: length.max(1),
    })
}

fn floor_boundary(text: &str, byte: usize) -> usize {
    text.floor_char_boundary(byte.min(text.len()))
}

/// A value from the file as a message repeats it: on one line, and never long.
pub(super) fn quoted(value: &str) -> String {
    let mut shown = String::from("`");
    for letter in value.chars().take(MAX_QUOTED_CHARS) {
        if letter.is_control() {
            // Writing into a text cannot fail.
            let _written = write!(shown, "{}", letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    if value.chars().nth(MAX_QUOTED_CHARS).is_some() {
        shown.push('…');
    }
    shown.push('`');
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str, fault: &str) -> Span {
        let start = text.find(fault).unwrap();
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Span {
            line: u32::try_from(before.matches('\n').count() + 1).unwrap(),
            column: u32::try_from(text[line_start..start].chars().count() + 1).unwrap(),
            start_byte: u32::try_from(start).unwrap(),
            end_byte: u32::try_from(start + fault.len()).unwrap(),
        }
    }

    fn shown(text: &str, fault: &str) -> String {
        let mut sink = DiagnosticSink::new(text, "flow.yaml");
        sink.error(
            Code::UnknownNode,
            place(text, fault),
            "message",
            Some("hint".into()),
        );
        sink.finish()[0].to_string()
    }

    #[test]
    fn codes_are_unique_dense_and_explained() {
        for (index, code) in Code::ALL.iter().enumerate() {
            assert_eq!(code.as_str(), format!("G{:03}", index + 1));
            assert!(code.meaning().ends_with('.'));
        }
    }

    #[test]
    fn a_diagnostic_shows_its_line_with_carets_under_the_fault() {
        let text = "a:\r\n  - to: reviw, x\r\n";
        let expected = [
            "error[G012]: message",
            " --> flow.yaml:2:9",
            "  |",
            "2 |   - to: reviw, x",
            "  |         ^^^^^",
            "  = hint: hint",
        ];
        assert_eq!(shown(text, "reviw"), expected.join("\n"));
    }

    #[test]
    fn a_very_long_line_is_cut_around_the_fault() {
        let text = format!("{}FAULT{}", "x".repeat(5_000_000), "y".repeat(5_000_000));
        let shown = shown(&text, "FAULT");
        assert!(shown.len() < 600, "{shown}");
        assert!(shown.contains("…") && shown.contains("FAULT"));
    }

    #[test]
    fn places_that_lie_outside_the_text_or_within_a_letter_do_no_harm() {
        for (start, end) in [(0, 0), (1, 2), (2, 1), (500, 900), (0, 900)] {
            let span = Span {
                line: 1,
                column: 1,
                start_byte: start,
                end_byte: end,
            };
            assert!(excerpt("üü", span).is_some());
        }
        assert_eq!(excerpt("", Span::default()), None);
    }

    #[test]
    fn a_file_with_endless_faults_gets_a_bounded_list_that_says_so() {
        let mut sink = DiagnosticSink::new("x", "flow.yaml");
        for _ in 0..MAX_DIAGNOSTICS + 5 {
            sink.error(Code::Empty, Span::default(), "message", None);
        }
        let found = sink.finish();
        assert_eq!(found.len(), MAX_DIAGNOSTICS + 1);
        assert_eq!(
            found.last().unwrap().message,
            "5 more diagnostics are not shown"
        );
    }

    #[test]
    fn quoted_values_stay_on_one_line_and_short() {
        assert_eq!(quoted("a\nb"), "`a\\nb`");
        assert!(quoted(&"x".repeat(1_000)).chars().count() < 70);
    }
}
