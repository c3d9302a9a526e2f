//! Reads the files of a project and gathers what is wrong with them.

use std::path::{Path, PathBuf};

use a_society_flow::graph::{Code, Diagnostic};
use a_society_state::disk::Disk;
use a_society_state::files::read_whole;

use crate::limits::PROJECT_FILE_BYTES_MAX;

/// The folder of a project that says how it works; no project itself.
pub(crate) const DOCS_NAME: &str = "a-docs";

/// A disk, and everything that was found wrong so far.
pub(super) struct DocsReader<'d> {
    pub(super) disk: &'d dyn Disk,
    pub(super) found: Vec<Diagnostic>,
}

impl DocsReader<'_> {
    /// The text of a file that must be there; the reason why it cannot be read is reported.
    pub(super) fn text(&mut self, path: &Path, hint: &str) -> Option<String> {
        let text = self.text_if_there(path)?;
        if text.is_none() {
            self.missing(path, hint);
        }
        text
    }

    /// The text of a file that may be missing; `None` if it cannot be read, which is reported.
    #[expect(
        clippy::option_option,
        reason = "not there is no fault, and cannot be read is one that was reported"
    )]
    pub(super) fn text_if_there(&mut self, path: &Path) -> Option<Option<String>> {
        let bytes = match read_whole(self.disk, path, PROJECT_FILE_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(error) if error.is_not_found() => return Some(None),
            Err(error) => {
                self.error(Code::Unreadable, path, 0, error.to_string(), None);
                return None;
            }
        };
        if let Ok(text) = String::from_utf8(bytes) {
            return Some(Some(text));
        }
        let message = "the file is not UTF-8 text".to_owned();
        let hint = Some("save it as UTF-8".to_owned());
        self.error(Code::Unreadable, path, 0, message, hint);
        None
    }

    /// The text of a file that must say something.
    pub(super) fn said(&mut self, path: &Path, hint: &str) -> Option<String> {
        let text = self.text(path, hint)?;
        if text.trim().is_empty() {
            let message = "the file is empty".to_owned();
            self.error(Code::MissingFile, path, 0, message, Some(hint.to_owned()));
            return None;
        }
        Some(text)
    }

    pub(super) fn missing(&mut self, path: &Path, hint: &str) {
        let message = "it is not there".to_owned();
        self.error(Code::MissingFile, path, 0, message, Some(hint.to_owned()));
    }

    pub(super) fn warning(
        &mut self,
        code: Code,
        path: &Path,
        line: u32,
        message: String,
        hint: Option<String>,
    ) {
        let file = path.display().to_string();
        let found = Diagnostic::error(code, &file, line, message, hint);
        self.found.push(found.as_warning());
    }

    pub(super) fn error(
        &mut self,
        code: Code,
        path: &Path,
        line: u32,
        message: String,
        hint: Option<String>,
    ) {
        let file = path.display().to_string();
        self.found
            .push(Diagnostic::error(code, &file, line, message, hint));
    }
}

/// The folders below `a-docs`, by the names that the layout gives them.
#[derive(Debug, Clone)]
pub(super) struct DocsLayout {
    pub(super) docs: PathBuf,
}

impl DocsLayout {
    pub(super) fn of(project: &Path) -> Self {
        Self {
            docs: project.join(DOCS_NAME),
        }
    }

    pub(super) fn rules(&self) -> PathBuf {
        self.docs.join("agents.md")
    }

    pub(super) fn index(&self) -> PathBuf {
        self.docs.join("indexes/main.md")
    }

    pub(super) fn roles(&self) -> PathBuf {
        self.docs.join("roles")
    }

    pub(super) fn workflow(&self) -> PathBuf {
        self.docs.join("workflow/main.yaml")
    }

    pub(super) fn defaults(&self) -> PathBuf {
        self.docs.join("improvement/defaults.yaml")
    }

    pub(super) fn guide(&self) -> PathBuf {
        self.docs.join("improvement/meta-analysis.md")
    }
}
