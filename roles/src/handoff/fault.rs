//! What can be wrong with the end of a turn.

use std::fmt;
use std::ops::Range;

use a_society_facts::fact::node::FaultCode;

/// Where in the role's text a fault is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultSpan {
    /// The bytes in question; within the text, and on its character boundaries.
    pub bytes: Range<usize>,
    /// The line they begin in, counted from 1.
    pub line: usize,
}

/// One fault, described so that the role can correct it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandoffFault {
    /// Its kind.
    pub code: FaultCode,
    /// What is wrong, in a sentence without a full stop.
    pub message: String,
    /// Where it is; `None` only for faults that the machine finds.
    pub span: Option<FaultSpan>,
    /// Whether the turn ended without any outcome, so that there is nothing to correct.
    pub is_silent: bool,
}

impl HandoffFault {
    /// A fault that has no place in the text, because only the flow's state shows it.
    pub(crate) fn without_place(code: FaultCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            span: None,
            is_silent: false,
        }
    }

    /// One short line for the operator.
    pub fn summary(&self) -> String {
        match &self.span {
            Some(span) if !self.is_silent => format!("{} (line {})", self.message, span.line),
            Some(_) | None => self.message.clone(),
        }
    }
}

impl fmt::Display for HandoffFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.word(), self.message)?;
        match &self.span {
            Some(span) => write!(f, " (line {})", span.line),
            None => Ok(()),
        }
    }
}

impl std::error::Error for HandoffFault {}
