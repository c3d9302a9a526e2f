//! Running commands.

use a_society_facts::fact::journal::ProcessName;

use super::arguments::RunCommand;
use super::plan::{Plan, Refusal, RefusalKind};
use super::toolbox::Toolbox;

/// A command that waits at its gate.
#[derive(Debug)]
pub(super) struct Held(ProcessName);

impl Held {
    pub(super) fn name(&self) -> ProcessName {
        self.0.clone()
    }
}

impl Toolbox {
    pub(super) fn plan_command(&self, given: RunCommand, _raw: &str) -> Result<Plan, Refusal> {
        Err(Refusal::new(RefusalKind::NotPossible, given.command))
    }
}
