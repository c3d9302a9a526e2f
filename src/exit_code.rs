//! The exit codes, each with what it means. They are a promise to scripts: none changes its
//! meaning.

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitCode {
    /// It did what it was asked.
    Ok,
    /// Something failed.
    Failed,
    /// It was asked wrongly.
    Usage,
    /// What it was asked about is not there.
    NotFound,
    /// Something is damaged.
    Damaged,
    /// Another process writes the flow.
    Busy,
    /// It could be done and must not be.
    Refused,
    /// The disk is full.
    DiskFull,
    /// The flow waits for an answer of the operator, and for nothing of what follows.
    Waiting,
    /// A call waits for consent.
    WaitsForConsent,
    /// A role has no model that it can ask.
    WaitsForModel,
    /// A budget is used up.
    WaitsForBudget,
    /// A role failed, and waits for the operator.
    WaitsAfterFailure,
    /// It was interrupted.
    Interrupted,
}

/// Every exit code, in the order of their numbers.
pub(crate) const ALL: [ExitCode; 14] = [
    ExitCode::Ok,
    ExitCode::Failed,
    ExitCode::Usage,
    ExitCode::NotFound,
    ExitCode::Damaged,
    ExitCode::Busy,
    ExitCode::Refused,
    ExitCode::DiskFull,
    ExitCode::Waiting,
    ExitCode::WaitsForConsent,
    ExitCode::WaitsForModel,
    ExitCode::WaitsForBudget,
    ExitCode::WaitsAfterFailure,
    ExitCode::Interrupted,
];

impl ExitCode {
    /// The number.
    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Damaged => 4,
            Self::Busy => 5,
            Self::Refused => 6,
            Self::DiskFull => 7,
            Self::Waiting => 8,
            Self::WaitsForConsent => 9,
            Self::WaitsForModel => 10,
            Self::WaitsForBudget => 11,
            Self::WaitsAfterFailure => 12,
            // What shells say of a process that SIGINT ended: 128 and the number of the signal.
            Self::Interrupted => 130,
        }
    }

    /// One sentence.
    pub(crate) const fn says(self) -> &'static str {
        match self {
            Self::Ok => "It did what it was asked.",
            Self::Failed => "Something failed; the error says what.",
            Self::Usage => "The arguments make no sense, or a prefix fits several flows.",
            Self::NotFound => "There is no such flow, file or workspace.",
            Self::Damaged => "A journal, a blob or an archive is damaged.",
            Self::Busy => "Another process writes this flow.",
            Self::Refused => "It was refused, because it would overwrite, remove or contradict.",
            Self::DiskFull => "The disk is full.",
            Self::Waiting => {
                "The flow waits for your answer; what it asks and how to answer was said."
            }
            Self::WaitsForConsent => "A call waits for your consent; what it would do was said.",
            Self::WaitsForModel => {
                "A role cannot ask its model: a key, credit, a model, a larger window or a server is missing."
            }
            Self::WaitsForBudget => "A budget is used up; how to raise it was said.",
            Self::WaitsAfterFailure => {
                "A role failed and waits for you; why, and how to try again, was said."
            }
            Self::Interrupted => "It was interrupted from the keyboard.",
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.number())
    }
}

/// The table as the help shows it.
pub(crate) fn as_help() -> String {
    let rows = ALL.map(|code| format!("  {:>3}  {}", code.number(), code.says()));
    format!("Exit codes:\n{}", rows.join("\n"))
}

/// The table as a document.
pub(crate) fn as_markdown() -> String {
    let rows = ALL.map(|code| format!("| {} | {} |", code.number(), code.says()));
    format!(
        "# Exit codes\n\n\
         They are a promise to scripts: none changes its meaning. If a flow waits for several\n\
         things, `run` and `resume` end with the first of 7, 10, 11, 12, 9 and 8 that applies, and the last\n\
         event of `--json` names the code of each wait. This page is made from\n\
         `src/exit_code.rs`; `A_SOCIETY_UPDATE=1 cargo test --test it generated_files` makes it anew.\n\n\
         | Code | Means |\n|---|---|\n{}\n",
        rows.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_different_and_in_order() {
        let numbers = ALL.map(ExitCode::number);
        assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
    }
}
