//! The program of a role, from what its flow file says to what is run.

use a_society_facts::id::RoleInstance;
use a_society_flow::graph::{self, InlineRole};
use a_society_roles::taker::command::{CommandSpec, ExitOutcome, ProgramExits};

/// What a flow file says, as the taker wants it.
pub(super) fn spec(said: &graph::CommandRole) -> CommandSpec {
    let mut spec = CommandSpec::new(said.run.clone());
    if let Some(seconds) = said.time_limit_seconds {
        spec.time_limit_ms = u64::from(seconds) * 1000;
    }
    if let Some(bytes) = said.output_limit_bytes {
        spec.output_limit_bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    }
    spec.on_exit = said.on_exit.as_ref().map(|mapping| ProgramExits {
        codes: (mapping.codes.iter())
            .map(|(code, means)| (*code, outcome(*means)))
            .collect(),
        otherwise: mapping.otherwise.map(outcome),
    });
    spec
}

/// What is left of a program in place of findings.
pub(super) fn in_place_of_findings(role: &RoleInstance, said: Option<&InlineRole>) -> String {
    let run = said.and_then(|role| role.command.as_ref());
    let run = run.map_or_else(String::new, |command| {
        format!(" It is run with: {}", command.run.join(" "))
    });
    format!(
        "`{role}` is a program, which has nothing to say about its work. What it printed is in its transcript and in what it handed over.{run}\n"
    )
}

const fn outcome(said: graph::ExitOutcome) -> ExitOutcome {
    match said {
        graph::ExitOutcome::Forward => ExitOutcome::Forward,
        graph::ExitOutcome::Backward => ExitOutcome::Backward,
        graph::ExitOutcome::PromptHuman => ExitOutcome::PromptHuman,
        graph::ExitOutcome::Close => ExitOutcome::Close,
    }
}
