//! What the terminal adds to a flow that begins: diagnostics and warnings in its own lines, and refusals in the
//! words that the page shows, too.

use std::path::Path;

use a_society_facts::fact::operator::ConsentRules;
use a_society_orchestrator::config::user::ConfigError;
use a_society_orchestrator::project::flow_file::FileError;
use a_society_orchestrator::run::RunError;
use a_society_orchestrator::workspace::begin::{
    self, BeginNote, BegunFlow, FlowChoices, FlowOrigin, NotBegun,
};
use a_society_orchestrator::workspace::material::Unfit;
use a_society_state::Store;
use serde_json::json;

use super::context::Context;
use super::flow_files::{not_a_script, note_all, note_script_faults, unfit};
use super::say::from_run;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Stop};
use crate::output::Output;
use crate::text::{plain, plain_json};

/// Begins a flow, and prints what is remarkable about it.
///
/// # Errors
/// When it cannot be begun.
pub(super) fn begin(
    context: &mut Context<'_>,
    store: &Store,
    origin: FlowOrigin,
    choices: FlowChoices,
) -> Result<BegunFlow, Stop> {
    let out = &mut context.out;
    let begun = begin::begin(store, origin, choices, &mut |note| match note {
        BeginNote::Diagnostics(diagnostics) => note_all(out, diagnostics),
        BeginNote::IdleRule(rule) => note_idle(out, rule),
    });
    let begun = begun.map_err(|error| {
        if let NotBegun::Unfit(Unfit::File(FileError::NotAScript { path, faults }))
        | NotBegun::Run(RunError::File(FileError::NotAScript { path, faults })) = &error
        {
            note_script_faults(&mut context.out, path, faults);
        }
        not_begun(error)
    })?;
    context.named = Some(begun.flow.clone());
    Ok(begun)
}

/// Prints which of these rules are about servers that are not configured: they would never answer anything.
pub(super) fn note_idle_rules(
    context: &mut Context<'_>,
    store: &Store,
    rules: &ConsentRules,
    project: &Path,
) {
    let out = &mut context.out;
    begin::note_idle_rules(store, rules, project, &mut |rule| note_idle(out, rule));
}

fn note_idle(out: &mut Output, rule: &str) {
    let said = format!("the rule {rule}");
    let note = if out.is_json() {
        plain_json(&json!({ "warning": said }).to_string()).into_owned()
    } else {
        plain(&format!("warning: {said}")).into_owned()
    };
    out.note(&note);
}

/// Why a flow was not begun, as the operator sees it on the terminal and on the page.
pub(super) fn not_begun(error: NotBegun) -> Stop {
    match error {
        NotBegun::Configuration(error) => super::models::unusable(error),
        NotBegun::Workspace(error) => workspace_unusable(error),
        NotBegun::Unfit(Unfit::File(FileError::NotAScript { path, faults }))
        | NotBegun::Run(RunError::File(FileError::NotAScript { path, faults })) => {
            not_a_script(&path, &faults)
        }
        NotBegun::Unfit(why) => unfit(why),
        NotBegun::Run(error) => from_run(error),
    }
}

/// The configuration of a workspace that cannot be used.
fn workspace_unusable(error: ConfigError) -> Stop {
    let what = "the configuration of the workspace cannot be used";
    let hint = "mend the file; a workspace only takes away, with deny: and mode: under consent:";
    let kind = ("configuration-unfit", ExitCode::Failed);
    OperatorError::new(kind, what, error.to_string(), hint).into()
}
