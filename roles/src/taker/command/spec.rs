//! What is to be run, and what its end means.

use std::collections::BTreeMap;

use super::limits::{OUTPUT_LIMIT_BYTES, TIME_LIMIT_MS};

/// The program of a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSpec {
    /// The program and its arguments. No shell reads them.
    pub run: Vec<String>,
    /// How long it may take.
    pub time_limit_ms: u64,
    /// How much of each of its outputs is kept.
    pub output_limit_bytes: usize,
    /// What its exit codes mean. Without it, 0 hands forward and everything else asks the
    /// operator.
    pub on_exit: Option<ProgramExits>,
}

impl CommandSpec {
    /// A program with the usual limits.
    #[must_use]
    pub fn new(run: Vec<String>) -> Self {
        Self {
            run,
            time_limit_ms: TIME_LIMIT_MS,
            output_limit_bytes: OUTPUT_LIMIT_BYTES,
            on_exit: None,
        }
    }
}

/// What exit codes mean when a program printed no handoff block.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProgramExits {
    /// Codes with a meaning of their own.
    pub codes: BTreeMap<u8, ExitOutcome>,
    /// All other codes; without it they ask the operator.
    pub otherwise: Option<ExitOutcome>,
}

impl ProgramExits {
    /// What a code means, if it means anything.
    #[must_use]
    pub(crate) fn outcome(&self, code: u8) -> Option<ExitOutcome> {
        self.codes.get(&code).copied().or(self.otherwise)
    }
}

/// What an exit code means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitOutcome {
    /// The output goes to every successor.
    Forward,
    /// The output goes back to every predecessor whose work was received.
    Backward,
    /// The operator is asked.
    PromptHuman,
    /// The forward work is done.
    Close,
}

/// The variables that a program inherits, chosen by the code that may read the environment. It gets
/// these, the `A_SOCIETY_…` ones that name its turn, and no others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InheritedVariables(pub Vec<(String, String)>);
