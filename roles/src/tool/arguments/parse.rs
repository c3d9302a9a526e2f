//! The arguments of calls, read by the forms of their tools.

use serde::de::DeserializeOwned;

use super::super::form::{self, ToolForm, clipped};
use super::super::refusal::{CallRefusal, RefusalKind};
use super::commands::{CommandOutput, RunCommandArguments, Todo};
use super::files::{ApplyPatch, EditFile, ReadFile, WriteFile};
use super::forms::named;
use super::search::{GlobFiles, GrepFiles, ListDirectory};
use super::sessions::{HistoryAsked, SendAsked, SessionsAsked};
use super::web::{FetchUrl, WebSearch};

/// The arguments of a call, by its tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum ToolArguments {
    ReadFile(ReadFile),
    ListDirectory(ListDirectory),
    Grep(GrepFiles),
    Glob(GlobFiles),
    Change(ChangeArguments),
    RunCommand(RunCommandArguments),
    CommandOutput(CommandOutput),
    Todo(Todo),
    SessionsList(SessionsAsked),
    SessionsHistory(HistoryAsked),
    SessionsSend(SendAsked),
    FetchUrl(FetchUrl),
    WebSearch(WebSearch),
}

/// The arguments of a call that changes files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum ChangeArguments {
    Edit(EditFile),
    Write(WriteFile),
    Patch(ApplyPatch),
}

/// The arguments of a call, by the tool's own names: as JSON, for readers. Arguments that do not fit
/// stay as they are.
pub(in super::super) fn understood(tool: &str, text: &str) -> String {
    let read = named(tool).and_then(|form| form::read(form, tool, text).ok());
    read.and_then(|given| serde_json::to_string(&given).ok())
        .unwrap_or_else(|| text.to_owned())
}

/// Reads the arguments of a tool, under whichever name it was called.
pub(in super::super) fn parse(tool: &str, text: &str) -> Result<ToolArguments, CallRefusal> {
    let Some(form) = named(tool) else {
        let text = format!("There is no tool {}.", clipped(tool));
        return Err(CallRefusal::new(RefusalKind::UnknownTool, text));
    };
    Ok(match form.name {
        "read_file" => ToolArguments::ReadFile(typed(form, tool, text)?),
        "list_directory" => ToolArguments::ListDirectory(typed(form, tool, text)?),
        "grep" => ToolArguments::Grep(typed(form, tool, text)?),
        "glob" => ToolArguments::Glob(typed(form, tool, text)?),
        "edit_file" => ToolArguments::Change(ChangeArguments::Edit(typed(form, tool, text)?)),
        "write_file" => ToolArguments::Change(ChangeArguments::Write(typed(form, tool, text)?)),
        "apply_patch" => ToolArguments::Change(ChangeArguments::Patch(typed(form, tool, text)?)),
        "run_command" => ToolArguments::RunCommand(typed(form, tool, text)?),
        "command_output" => ToolArguments::CommandOutput(typed(form, tool, text)?),
        "todo" => ToolArguments::Todo(typed(form, tool, text)?),
        "sessions_list" => ToolArguments::SessionsList(typed(form, tool, text)?),
        "sessions_history" => ToolArguments::SessionsHistory(typed(form, tool, text)?),
        "sessions_send" => ToolArguments::SessionsSend(typed(form, tool, text)?),
        "fetch_url" => ToolArguments::FetchUrl(typed(form, tool, text)?),
        "web_search" => ToolArguments::WebSearch(typed(form, tool, text)?),
        other => {
            let text = format!("{other} cannot be called.");
            return Err(CallRefusal::new(RefusalKind::UnknownTool, text));
        }
    })
}

fn typed<T: DeserializeOwned>(form: &ToolForm, tool: &str, text: &str) -> Result<T, CallRefusal> {
    form::typed(form, tool, text)
}
