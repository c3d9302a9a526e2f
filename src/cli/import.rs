//! `import`: a flow from its archive.

use std::path::PathBuf;

use a_society_facts::fact::operator::ConsentMode;
use a_society_facts::id::ProjectName;
use a_society_state::Error;
use a_society_state::archive::import;
use serde_json::json;

use super::context::Context;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, from_name};
use crate::output_file;
use crate::text::{count, one_line, plain};

/// What a reader of archives says may quote what it read, at length.
const WHY_COLUMNS_MAX: usize = 200;

/// The arguments of `import`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Every file is checked against the archive's list, and the journal record by record, before the \
flow becomes visible. An existing flow is never overwritten.

Examples:
  a-society import flow.tar
  a-society import flow.tar --project copies")]
pub(crate) struct Arguments {
    /// The archive; `-` is stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The project to import it into, instead of its own
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
}

/// Imports.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let project: Option<ProjectName> = match &arguments.project {
        Some(name) => Some(name.parse().map_err(|bad| from_name(&bad))?),
        None => None,
    };
    let store = context.store()?;
    let mut archive = output_file::open(&arguments.file)?;
    let shown = arguments.file.display().to_string();
    let imported =
        import(&store, archive.as_mut(), project).map_err(|error| explain(error, &shown))?;
    if let Some(damage) = &imported.damage {
        let note = format!("the flow was damaged when it was exported: {damage}");
        context.out.note(&plain(&note));
    }
    // Before resuming it, the operator should know what will run without a question.
    let state = store.look(&imported.flow)?.screen.flow;
    let (mode, rules) = (state.consent_mode, state.rules);
    if mode != ConsentMode::NoAccess || !rules.allow.is_empty() {
        let mode = ConsentMode::WORDS.iter().find(|(known, _)| *known == mode);
        let mode = mode.map_or("", |(_, word)| word);
        let allow = match rules.allow.as_slice() {
            [] => "no rule".to_owned(),
            rules => rules.join(", "),
        };
        let note = format!("resumed, it runs in the mode {mode}, and without asking: {allow}");
        let note = one_line(&note, WHY_COLUMNS_MAX);
        context.out.note(&note);
    }
    if context.out.is_json() {
        context.out.value(&json!({
            "project": imported.flow.project,
            "flow": imported.flow.flow,
            "files": imported.files,
            "damage": imported.damage,
        }))?;
    } else {
        let files = count(imported.files, "file");
        let line = format!("{}: {files} from {}", imported.flow, plain(&shown));
        context.out.line(&line)?;
    }
    Ok(ExitCode::Ok)
}

/// Faults of the archive name the archive, not about the folder it was unpacked into.
fn explain(error: Error, archive: &str) -> OperatorError {
    let unfit = |why: String| {
        OperatorError::new(
            ("archive-unfit", ExitCode::Damaged),
            format!("{archive} was not imported; nothing was changed"),
            one_line(&why, WHY_COLUMNS_MAX),
            "export the flow once more where it came from",
        )
    };
    if let Error::Unfit { what, .. } = &error {
        return unfit(format!("the flow {what}"));
    }
    if let Error::Io { doing, source, .. } = &error
        && doing.contains("archive")
    {
        return unfit(format!("it cannot be read as an archive: {source}"));
    }
    error.into()
}
