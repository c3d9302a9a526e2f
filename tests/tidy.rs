//! The style rules of the house, as tests.
//!
//! A rule that only people remember is forgotten, so each is checked here against the tracked
//! files of the repository, and a broken one is named with file and line. The rules are small
//! functions from text to [`Finding`]s; next to each is a test that feeds it something wrong.

mod documents;
mod driver;
mod figures;
mod floors;
mod generated;
mod hearts;
mod homes;
mod language;
mod machine;
mod paths;
mod repository;
mod rooms;
mod rust;
mod scheduling;
mod terminal_verbs;
mod verbs;
mod words;

use std::fmt;

pub(crate) use generated::expect_generated;

/// One place that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    /// Path from the root of the repository.
    path: String,
    /// Line in that file, from 1; 0 if it is about the file as a whole.
    line: usize,
    /// What is wrong there, and where it belongs instead.
    what: String,
}

impl Finding {
    fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            what: what.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(f, "  {}: {}", self.path, self.what)
        } else {
            write!(f, "  {}:{}: {}", self.path, self.line, self.what)
        }
    }
}

/// Fails with the rule and every place that breaks it.
fn assert_kept(rule: &str, findings: &[Finding]) {
    let places: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "{rule}\n{}\n", places.join("\n"));
}

#[test]
fn generated_files_are_up_to_date() {
    expect_generated("docs/homes.md", &homes::as_markdown());
}

#[test]
fn a_finding_names_file_and_line() {
    let finding = Finding::new("src/main.rs", 7, "prints");
    assert_eq!(finding.to_string(), "  src/main.rs:7: prints");
    let whole = Finding::new("src/main.rs", 0, "is too long");
    assert_eq!(whole.to_string(), "  src/main.rs: is too long");
}
