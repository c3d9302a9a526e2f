//! Colours, where they are wanted.

/// Colours text, or leaves it as it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    /// Colours if `on`.
    pub(crate) const fn new(on: bool) -> Self {
        Self { on }
    }

    /// Whether it colours.
    pub(crate) const fn is_on(self) -> bool {
        self.on
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.on && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    /// What matters in a line.
    pub(crate) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    /// What is there for completeness.
    pub(crate) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// What is wrong.
    pub(crate) fn red(self, text: &str) -> String {
        self.with("31", text)
    }

    /// What wants to be looked at.
    pub(crate) fn yellow(self, text: &str) -> String {
        self.with("33", text)
    }

    /// What is fine.
    pub(crate) fn green(self, text: &str) -> String {
        self.with("32", text)
    }
}
