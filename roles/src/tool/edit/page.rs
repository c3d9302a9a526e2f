//! A text as models see it: without the mark at its beginning, with one kind of line end.

/// The mark at the beginning of some files.
const BOM: &str = "\u{feff}";

/// A text as it is shown, and what it takes to write it as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct TextPage {
    pub text: String,
    has_mark: bool,
    has_returns: bool,
}

impl TextPage {
    /// The text as it is shown. Line ends are changed only where all are of the same kind, so that
    /// every byte can be put back.
    pub(in super::super) fn of(text: &str) -> Self {
        let rest = text.strip_prefix(BOM);
        let (has_mark, text) = (rest.is_some(), rest.unwrap_or(text));
        let pairs = text.matches("\r\n").count();
        let has_returns =
            pairs > 0 && pairs == text.matches('\n').count() && pairs == text.matches('\r').count();
        let text = if has_returns {
            text.replace("\r\n", "\n")
        } else {
            text.to_owned()
        };
        Self {
            text,
            has_mark,
            has_returns,
        }
    }

    /// A text that a model wrote for this page, as it is shown there.
    pub(in super::super) fn given(&self, text: &str) -> String {
        if self.has_returns {
            text.replace("\r\n", "\n")
        } else {
            text.to_owned()
        }
    }

    /// A text of this page as it is written to the file.
    pub(in super::super) fn written(&self, text: &str) -> String {
        let text = if self.has_returns {
            self.given(text).replace('\n', "\r\n")
        } else {
            text.to_owned()
        };
        if self.has_mark && !text.starts_with(BOM) {
            return format!("{BOM}{text}");
        }
        text
    }
}
